import Rules

/// The names that the path of a URL is made of, safe to be looked up in a directory.
///
/// Each is decoded once, as a server would (RFC 3986 §2.4); what is then no plain name is refused, never repaired.
struct PathNames {
    /// Why a path is not looked up.
    struct Refusal: Error, CustomStringConvertible {
        /// In words, as they follow a colon.
        let description: String
    }

    /// The names in order; none for the root.
    let names: [String]
    /// Whether the path ends with a slash, and so means a directory.
    let isDirectory: Bool

    /// Takes a path apart.
    ///
    /// - Parameter path: the path as sent, without the slash at its front.
    /// - Throws: ``Refusal`` for a path that is not looked up.
    init(_ path: some StringProtocol) throws(Refusal) {
        guard !path.isEmpty else {
            names = []
            isDirectory = true
            return
        }
        var segments = Array(path.utf8).split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        isDirectory = segments.last?.isEmpty == true
        if isDirectory { segments.removeLast() }
        var names: [String] = []
        for segment in segments { names.append(try PathNames.name(segment)) }
        self.names = names
    }

    private static func name(_ segment: ArraySlice<UInt8>) throws(Refusal) -> String {
        guard !segment.isEmpty else { throw Refusal(description: "the path has an empty part") }
        guard let bytes = decoded(segment) else {
            throw Refusal(description: "a '%' in the path is not followed by two hexadecimal digits")
        }
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "/"), UInt8(ascii: "\\"):
                throw Refusal(description: "the path has an encoded slash or a backslash in it")
            case 0x00..<0x20, 0x7F: throw Refusal(description: "the path has a control character in it")
            default: break
            }
        }
        guard let name = String(validating: bytes, as: UTF8.self) else {
            throw Refusal(description: "the path is no valid UTF-8")
        }
        guard name != ".", name != ".." else { throw Refusal(description: "the path has '\(name)' in it") }
        guard !name.hasSuffix(Sidecar.suffix) else {
            throw Refusal(description: "'\(name)' has the headers of a file and is not served itself")
        }
        return name
    }

    /// The bytes that percent-encoding stands for; `nil` where it is none.
    static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        var rest = text
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(hexadecimal), let low = rest.popFirst().flatMap(hexadecimal) else {
                return nil
            }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x30...0x39: byte - 0x30
        case 0x41...0x46: byte - 0x41 + 10
        case 0x61...0x66: byte - 0x61 + 10
        default: nil
        }
    }
}
