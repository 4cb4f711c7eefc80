package import HTTPModel
import Text

package struct CurlRequest: Sendable, Equatable {
    package struct Line: Sendable, Equatable {
        package var name: String
        package var value: String
        /// The value as the command has it, where that is not UTF-8.
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
    /// The target of `--request-target`, which is sent as it is; `nil` where path and query are the URL's.
    var target: [UInt8]?
    /// The version that it insists on; `nil` where it leaves that open.
    package var version: HTTPVersion?
    /// The header lines in order. `Host` and `Content-Length` only where the command has them.
    package var fields: [Line]
    /// Names of fields that curl would add and the command takes away, in lower case.
    var removed: Set<String> = []
    package var pieces: [Piece]
    /// What was not taken over, each named: options that are not about the request, expansions of the shell.
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
    /// Bytes with percent-encoding of all that are not plain.
    func percentEncoded(unless isPlain: (UInt8) -> Bool = \.isUnreserved) -> [UInt8] {
        flatMap { isPlain($0) ? [$0] : Array($0.percentEscape.utf8) }
    }
}

extension UInt8 {
    /// Whether no URL needs an escape of it (RFC 3986 §2.3).
    var isUnreserved: Bool { isLetterOrDigit || "-._~".utf8.contains(self) }

    /// Of ASCII.
    var isLetterOrDigit: Bool { self &- 0x30 < 10 || (self | 0x20) &- 0x61 < 26 }

    var percentEscape: String { "%" + padded(to: 2, radix: 16, uppercase: true) }
}
