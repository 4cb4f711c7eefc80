/// The largest bodies that tools collect, in bytes.
package enum BodyLimits {
    /// For edits; larger bodies pass unchanged.
    package static let edited = 16 << 20
    /// For holds; of larger messages only the head is held.
    package static let held = 8 << 20
}
