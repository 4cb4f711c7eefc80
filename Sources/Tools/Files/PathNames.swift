import Content

/// The names in the path of a URL, checked so that they can be looked up in a directory. Each name is decoded once, as
/// a server would do (RFC 3986 §2.4); anything but a plain name is rejected, never repaired.
struct PathNames {
    /// Why a path is refused.
    struct NameError: Error, CustomStringConvertible {
        /// Phrased to follow a colon.
        let description: String
    }

    /// Empty for the root.
    let names: [String]
    /// Whether the path ends with a slash.
    let isDirectory: Bool

    /// Splits a path as sent, without the slash at its front. Throws ``NameError`` if the path must not be looked up.
    init(_ path: some StringProtocol) throws(NameError) {
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

    private static func name(_ segment: ArraySlice<UInt8>) throws(NameError) -> String {
        guard !segment.isEmpty else { throw NameError(description: "the path has an empty part") }
        guard let bytes = decoded(segment) else {
            throw NameError(description: "a '%' in the path is not followed by two hexadecimal digits")
        }
        for byte in bytes {
            switch byte {
            case UInt8(ascii: "/"), UInt8(ascii: "\\"):
                throw NameError(description: "the path has an encoded slash or a backslash in it")
            case 0x00..<0x20, 0x7F: throw NameError(description: "the path has a control character in it")
            default: break
            }
        }
        guard let name = String(validating: bytes, as: UTF8.self) else {
            throw NameError(description: "the path is not valid UTF-8")
        }
        guard name != ".", name != ".." else { throw NameError(description: "the path has '\(name)' in it") }
        guard !name.hasSuffix(Sidecar.suffix) else {
            throw NameError(description: "'\(name)' contains the headers of a file and is not served itself")
        }
        return name
    }

    /// The percent-decoded bytes; `nil` if a `%` is not followed by two hexadecimal digits.
    static func decoded(_ text: ArraySlice<UInt8>) -> [UInt8]? {
        let isValid = text.indices.allSatisfy { index in
            let digits = text[index...].dropFirst().prefix(2)
            return text[index] != UInt8(ascii: "%")
                || digits.count == 2 && digits.allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
        }
        return isValid ? FormFields.percentDecoded(text) : nil
    }
}
