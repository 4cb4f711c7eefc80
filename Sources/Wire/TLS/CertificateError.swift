package struct CertificateError: Error, Sendable, Hashable, CustomStringConvertible {
    package var path: String?
    package let reason: String
    package var advice: String?

    /// With the errors in OpenSSL's queue.
    static func openSSL(_ what: String) -> CertificateError {
        CertificateError(reason: "\(what) (\(OpenSSLErrors.take().text))")
    }

    package var description: String {
        let start = path.map { "\($0): \(reason)" } ?? reason
        return advice.map { "\(start). \($0)" } ?? start
    }
}
