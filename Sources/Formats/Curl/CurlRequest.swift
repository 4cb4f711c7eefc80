package import HTTPModel
import Text

package struct CurlRequest: Sendable, Equatable {
    package struct Line: Sendable, Equatable {
        package var name: String
        package var value: String
        /// The bytes of the value if they are not UTF-8.
        var valueBytes: [UInt8]?

        package init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    package enum Piece: Sendable, Equatable {
        case bytes([UInt8])
        case file(String, FileUse)
    }

    package enum FileUse: Sendable, Equatable {
        case asItIs
        /// `--data @FILE`: without CR, LF and NUL.
        case withoutLineBreaks
        /// `--data-urlencode @FILE`.
        case percentEncoded

        func applied(to bytes: [UInt8]) -> [UInt8] {
            switch self {
            case .asItIs: bytes
            case .withoutLineBreaks: bytes.filter { $0 != 0x0A && $0 != 0x0D && $0 != 0 }
            case .percentEncoded: bytes.percentEncoded()
            }
        }
    }

    package var method: String
    /// An `http`, `https`, `ws` or `wss` URL; its path and query as written.
    package var url: String
    /// The target of `--request-target`, which is sent unchanged; `nil` if the URL's path and query are sent.
    var target: [UInt8]?
    /// The HTTP version that the command requires; `nil` for any version.
    package var version: HTTPVersion?
    /// The header lines in order. `Host` and `Content-Length` only if the command sets them.
    package var fields: [Line]
    /// Names of fields that curl would add but the command removes, in lower case.
    var removed: Set<String> = []
    package var pieces: [Piece]
    /// What was not imported, for example shell expansions, or options that are not about the request.
    package var remarks: [String]

    package var files: [String] {
        pieces.compactMap { piece in
            if case .file(let path, _) = piece { path } else { nil }
        }
    }

    package func body(_ read: (_ path: String) throws -> [UInt8]) rethrows -> [UInt8] {
        try pieces.reduce(into: []) { body, piece in
            switch piece {
            case .bytes(let bytes): body += bytes
            case .file(let path, let use): body += use.applied(to: try read(path))
            }
        }
    }
}

extension Sequence<UInt8> {
    /// Percent-encodes all bytes that are not plain.
    func percentEncoded(unless isPlain: (UInt8) -> Bool = \.isUnreserved) -> [UInt8] {
        flatMap { isPlain($0) ? [$0] : Array($0.percentEscape.utf8) }
    }
}

extension UInt8 {
    /// Whether it is an unreserved character of URLs (RFC 3986 §2.3).
    var isUnreserved: Bool { isLetterOrDigit || "-._~".utf8.contains(self) }

    /// Of ASCII.
    var isLetterOrDigit: Bool { self &- 0x30 < 10 || (self | 0x20) &- 0x61 < 26 }

    var percentEscape: String { "%" + padded(to: 2, radix: 16, uppercase: true) }
}
