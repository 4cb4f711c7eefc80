package enum SluiceVersion {
    /// The version, in the form that session files and exports carry.
    package static let current = "0.1.0"
}
