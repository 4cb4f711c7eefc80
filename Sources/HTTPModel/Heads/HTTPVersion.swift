package enum HTTPVersion: UInt8, Sendable, Hashable, Comparable, CaseIterable, CustomStringConvertible {
    case http10 = 10  // RFC 1945
    case http11 = 11  // RFC 9112
    case http2 = 20  // RFC 9113
    /// Only in imported exchanges.
    case http3 = 30  // RFC 9114

    package var description: String {
        switch self {
        case .http10: "HTTP/1.0"
        case .http11: "HTTP/1.1"
        case .http2: "HTTP/2"
        case .http3: "HTTP/3"
        }
    }

    package static func < (left: HTTPVersion, right: HTTPVersion) -> Bool { left.rawValue < right.rawValue }
}
