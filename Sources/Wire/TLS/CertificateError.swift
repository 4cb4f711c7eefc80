/// Why a certificate or key could not be read, made or stored.
package struct CertificateError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The file or directory it is about.
    package let path: String?
    package let reason: String
    /// What to try.
    package let advice: String?

    package init(path: String? = nil, reason: String, advice: String? = nil) {
        self.path = path
        self.reason = reason
        self.advice = advice
    }

    /// Path, reason and advice in one line.
    package var description: String {
        let start = path.map { "\($0): \(reason)" } ?? reason
        return advice.map { "\(start). \($0)" } ?? start
    }
}
