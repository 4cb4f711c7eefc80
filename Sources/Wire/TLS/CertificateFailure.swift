/// Why a certificate or key could not be read, made or stored.
public struct CertificateFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file or directory it is about.
    public var path: String?
    /// What is wrong.
    public var reason: String
    /// What to try.
    public var advice: String?

    /// Creates a failure.
    public init(path: String? = nil, reason: String, advice: String? = nil) {
        self.path = path
        self.reason = reason
        self.advice = advice
    }

    /// Path, reason and advice in one line.
    public var description: String {
        let start = path.map { "\($0): \(reason)" } ?? reason
        return advice.map { "\(start). \($0)" } ?? start
    }
}
