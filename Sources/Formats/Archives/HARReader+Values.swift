import Content
import NIOCore
import Text

extension HARReader {
    /// A number in its range, perhaps in quotes; else `nil`. Counts other values, but not -1 (unknown in HAR 1.2).
    func number(_ name: String, _ token: JSONToken, _ range: ClosedRange<Double>) -> Double? {
        let text = token.kind == .string ? json.string(token) : json.text(token)
        let isDecimal = token.kind == .number || text.utf8.allSatisfy { $0 &- 0x30 < 10 || "-.".utf8.contains($0) }
        guard isDecimal, let number = Double(text) else {
            losses.add(.unreadable(name))
            return nil
        }
        if number == -1, range.lowerBound == 0 { return nil }
        guard range.contains(number) else {
            losses.add(.outOfRange(name))
            return nil
        }
        return number
    }

    /// An IP address, perhaps in brackets; empty for other texts, which are counted.
    func address(_ name: String, _ token: JSONToken) -> String {
        let text = json.string(token)
        let bare = text.hasPrefix("[") && text.hasSuffix("]") ? String(text.dropFirst().dropLast()) : text
        let isAddress = HAREntry.isAddress(bare)
        if !isAddress, !text.isEmpty { losses.add(.unreadable(name)) }
        return isAddress ? bare : ""
    }

    /// A status; 0 if it is not a status. Browsers write 0 for an exchange without a response.
    func status(_ name: String, _ token: JSONToken) -> Int {
        guard let number = number(name, token, 0...999) else { return 0 }
        if let status = Int(exactly: number) { return status }
        losses.add(.outOfRange(name))
        return 0
    }

    /// Skips a member, and counts it if Sluice reads members of this name and its value is not `null`.
    mutating func pass(_ name: String, _ first: JSONToken) throws {
        if HARReader.names.contains(name), first.kind != .literal || json.text(first) != "null" {
            losses.add(name == "startedDateTime" ? .unreadableTime(name) : .unreadable(name))
        }
        try json.skip(first)
    }

    /// Decodes base64. Texts that are not base64, and those in other encodings, are unchanged.
    func decode(_ message: inout ArchiveEntry.Message, from coding: String) {
        guard !message.text.isEmpty, !["", "utf-8", "utf8"].contains(coding.lowercased()) else { return }
        message.isEncoded = true
        guard coding.lowercased() == "base64" else { return losses.add(.bodyEncoding(coding)) }
        let text = message.text.utf8
        // Cut base64 may end within a group of four characters.
        guard let bytes = Base64Text.decode(text) ?? (message.isCut ? Base64Text.decode(text.dropLast()) : nil) else {
            return losses.add(.base64)
        }
        (message.bytes, message.isCoded, message.text) = (ByteBuffer(bytes: bytes), false, "")
    }

    /// The bytes of a binary body that Firefox wrote as Latin-1; `nil` unless the body's Content-Length shows that.
    static func bytes(of message: ArchiveEntry.Message) -> ByteBuffer? {
        guard !message.isEncoded, !message.isCut,
            let field = message.fields.first(where: { $0.name.lowercased() == "content-length" }),
            let length = Int(field.value), length < message.text.utf8.count,
            length == message.text.unicodeScalars.count
        else { return nil }
        var bytes = ByteBuffer()
        bytes.reserveCapacity(length)
        for scalar in message.text.unicodeScalars {
            guard let byte = UInt8(exactly: scalar.value) else { return nil }
            bytes.writeInteger(byte)
        }
        return bytes
    }

    /// The original encoding of a body's text, from the comment in a HAR of Sluice.
    static func charset(_ comment: String) -> Charset? {
        let words = comment.split(separator: " ")
        guard let place = words.firstIndex(of: "Converted"), words[place...].count > 2, words[place + 1] == "from",
            words[place + 2].hasSuffix(".")
        else { return nil }
        return Charset(words[place + 2].dropLast())
    }
}
