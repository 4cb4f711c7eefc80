/// A content coding (RFC 9110 §8.4.1), as written in `Content-Encoding` and `Accept-Encoding`.
package enum ContentCoding: Sendable, Hashable, CustomStringConvertible {
    case identity
    /// `gzip`, also written `x-gzip` (RFC 1952).
    case gzip
    /// `deflate`: the zlib format (RFC 1950), or, from servers that misread the name, bare deflate (RFC 1951).
    case deflate
    /// `br` (RFC 7932).
    case brotli
    /// `zstd` (RFC 8878).
    case zstd
    case other(String)

    package init(_ token: some StringProtocol) {
        switch token.lowercased() {
        case "identity", "": self = .identity
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "br": self = .brotli
        case "zstd": self = .zstd
        case let unknown: self = .other(unknown)
        }
    }

    package var description: String {
        switch self {
        case .identity: "identity"
        case .gzip: "gzip"
        case .deflate: "deflate"
        case .brotli: "br"
        case .zstd: "zstd"
        case .other(let token): token
        }
    }

    package var isKnown: Bool { if case .other = self { false } else { true } }

    /// The codings of a `Content-Encoding` value in the order in which they were applied, without `identity`.
    package static func list(_ contentEncoding: String?) -> [ContentCoding] {
        (contentEncoding ?? "").split(separator: ",").compactMap { member in
            let coding = ContentCoding(member.trimmingASCIIWhitespace)
            return coding == .identity ? nil : coding
        }
    }
}

extension Substring {
    package var trimmingASCIIWhitespace: Substring { Substring(utf8.trimmingASCIIWhitespace) }
}

extension BidirectionalCollection<UInt8> {
    /// The bytes without spaces, tabs, carriage returns and line feeds at their ends.
    var trimmingASCIIWhitespace: SubSequence {
        func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
        guard let first = firstIndex(where: { !isSpace($0) }), let last = lastIndex(where: { !isSpace($0) }) else {
            return self[endIndex...]
        }
        return self[first...last]
    }
}
