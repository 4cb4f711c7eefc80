package enum StoredSection: Sendable, Hashable {
    case request, response, trailers
}

extension StoredHead {
    /// Whether a stored section has a matching field, without parsing it; `nil` if it has folded lines or no proper
    /// start line and must be parsed.
    package static func hasField(
        _ section: StoredSection,
        in bytes: UnsafeBufferPointer<UInt8>,
        name: Glob,
        value: Glob?
    ) -> Bool? {
        var start = 0
        if section != .trailers {
            guard !bytes.isEmpty else { return false }
            let end = lineFeed(in: UnsafeRawBufferPointer(bytes), from: 0)
            guard isUsual(section, UnsafeBufferPointer(rebasing: bytes[..<end])) else { return nil }
            start = end + 1
        }
        // After a literal name the colon follows directly.
        let length = name.shape == .literal ? name.literalBytes.count : nil
        while start < bytes.count {
            let feed = lineFeed(in: UnsafeRawBufferPointer(bytes), from: start)
            if feed + 1 < bytes.count, isSpace(bytes[feed + 1]) { return nil }
            if let length, feed - start <= length || bytes[start + length] != colon {
                start = feed + 1
                continue
            }
            let end = feed > start && bytes[feed - 1] == 0x0D ? feed - 1 : feed
            if passes(UnsafeBufferPointer(rebasing: bytes[start..<end]), name, value) { return true }
            start = feed + 1
        }
        return false
    }

    private static let colon = UInt8(ascii: ":")

    /// Whether ``request(_:)`` or ``response(_:)`` can read the start line.
    private static func isUsual(_ section: StoredSection, _ line: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let space = line.firstIndex(of: 0x20) else { return false }
        guard section == .response else { return true }
        let code = line[(space + 1)...]
        guard code.count >= 3, code.prefix(3).allSatisfy({ $0 &- 0x30 < 10 }) else { return false }
        return code.count == 3 || code[code.startIndex + 3] == 0x20 || code[code.startIndex + 3] == 0x0D
    }

    private static func passes(_ line: UnsafeBufferPointer<UInt8>, _ name: Glob, _ value: Glob?) -> Bool {
        // A pseudo-header of HTTP/2 begins with a colon.
        let from = line.first == colon ? 1 : 0
        guard from < line.count, let end = line[from...].firstIndex(of: colon),
            name.matches(UnsafeBufferPointer(rebasing: line[..<end]))
        else { return false }
        guard let value else { return true }
        var content = line[(end + 1)...]
        while let byte = content.first, isSpace(byte) { content = content.dropFirst() }
        while let byte = content.last, isSpace(byte) { content = content.dropLast() }
        return value.matches(UnsafeBufferPointer(rebasing: content))
    }
}
