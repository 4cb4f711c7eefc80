import HTTPModel

/// The names under which a mirror saves the response to a URL.
///
/// `https://a.example/v1/items?page=2` is saved as `a.example/v1/items?page=2`, `https://a.example:8443/` as
/// `a.example_8443/index.html`. Names are percent-decoded once, so that map-local finds them. Characters with a meaning
/// to a file system stay encoded, or become encoded. No URL leads to a file outside the mirror, and URLs with different
/// meanings make different names.
struct MirrorNames {
    /// The suffix of a file beside a directory of its name; names from the path of a URL never end with `%`.
    static let besideDirectory = "%"

    /// Begins with the directory of the host.
    let directories: [String]
    /// The file's name in the last directory.
    let file: String

    /// Deeper directories become one name, so that no URL creates thousands of directories.
    private static let mostLevels = 32
    /// The longest name in bytes: file systems allow 255, and the name of a sidecar must fit.
    private static let longest = 200

    init(_ url: RequestURL) {
        let port = url.port == RequestURL.defaultPort(of: url.scheme) ? "" : "_\(url.port)"
        let host = MirrorNames.name(Array(url.host.utf8)[...], isHost: true, suffix: port)
        let path = url.path.utf8.first == UInt8(ascii: "/") ? Array(url.path.utf8.dropFirst()) : Array(url.path.utf8)
        var segments = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        let last = segments.popLast() ?? []
        if segments.count > MirrorNames.mostLevels {
            let deep = segments[MirrorNames.mostLevels...].joined(separator: [UInt8(ascii: "/")])
            segments = Array(segments[..<MirrorNames.mostLevels]) + [Array(deep)[...]]
        }
        let query = url.query.map { "?" + MirrorNames.encoded(query: $0) } ?? ""
        directories = [host] + segments.map { MirrorNames.name($0) }
        file = MirrorNames.name(last.isEmpty ? Array("index.html".utf8)[...] : last, suffix: query)
    }

    private static func name(_ segment: ArraySlice<UInt8>, isHost: Bool = false, suffix: String = "") -> String {
        let bytes = isHost ? Array(segment) : PathNames.decoded(segment) ?? Array(segment)
        let isText = String(validating: bytes, as: UTF8.self) != nil
        var name: [UInt8] = []
        for (position, byte) in bytes.enumerated() {
            let isUnsafe: Bool =
                switch byte {
                case 0..<0x20, 0x7F, UInt8(ascii: "/"), UInt8(ascii: "\\"), UInt8(ascii: "%"), UInt8(ascii: "?"): true
                case UInt8(ascii: ":"): isHost
                // No name is '.' or '..', and the directory of a host is never hidden.
                case UInt8(ascii: "."): position == 0 && (isHost || bytes.allSatisfy { $0 == byte })
                case 0x80...: !isText
                default: false
                }
            name += isUnsafe ? PercentEncoding.encoded(byte) : [byte]
        }
        if name.isEmpty { name = Array("%empty".utf8) }
        var text = String(decoding: name, as: UTF8.self) + suffix
        if text.hasSuffix(Sidecar.suffix) {
            text = text.dropLast(Sidecar.suffix.count) + "%2E" + Sidecar.suffix.dropFirst()
        }
        return shortened(text)
    }

    /// A query as sent, except that bytes with a meaning to a file system are encoded.
    private static func encoded(query: String) -> String {
        let name = query.utf8.flatMap { byte in
            byte < 0x20 || byte == 0x7F || "/\\".utf8.contains(byte) ? PercentEncoding.encoded(byte) : [byte]
        }
        return String(decoding: name, as: UTF8.self)
    }

    /// Shortens a name that is too long: a hash of the whole name replaces its end.
    private static func shortened(_ name: String) -> String {
        guard name.utf8.count > longest else { return name }
        let hash = name.utf8.reduce(UInt64(0xCBF2_9CE4_8422_2325)) { ($0 ^ UInt64($1)) &* 0x100_0000_01B3 }
        let digits = String(hash, radix: 16)
        let ending = "~" + String(repeating: "0", count: 16 - digits.count) + digits
        var front = Array(name.utf8.prefix(longest - ending.utf8.count))
        // No character is cut in two.
        while let last = front.last, last & 0xC0 == 0x80 { front.removeLast() }
        if let last = front.last, last >= 0xC0 { front.removeLast() }
        return String(decoding: front, as: UTF8.self) + ending
    }
}
