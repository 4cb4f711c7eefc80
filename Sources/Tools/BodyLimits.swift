/// How large the bodies may be that tools gather, in bytes.
package enum BodyLimits {
    /// Those that rules edit; larger ones pass as they are.
    package static let edited = 16 << 20
    /// Those that are held; of larger ones the head is.
    package static let held = 8 << 20
}
