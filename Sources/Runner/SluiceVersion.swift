/// The version of this Sluice.
public enum SluiceVersion {
    /// The version, in the form that session files and exports carry.
    public static let current = "0.1.0"
}
