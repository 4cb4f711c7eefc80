import Content

/// A JSON body that an editor shows laid out, one member or element a line.
struct LaidOutBody: Sendable {
    /// What stood behind the head before, and what stands there since.
    private let original: String
    private let shown: String

    /// Lays the body of a message out; `nil` where it is no JSON.
    ///
    /// - Parameter text: start line, fields, an empty line, the body.
    static func layOut(_ text: String) -> (text: String, body: LaidOutBody)? {
        let place = bodyStart(text)
        let original = String(text[place...])
        guard let json = layOut(json: original), json + "\n" != original else { return nil }
        let shown = json + "\n"
        return (String(text[..<place]) + shown, LaidOutBody(original: original, shown: shown))
    }

    private init(original: String, shown: String) { (self.original, self.shown) = (original, shown) }

    /// The text with the body as it came; as it stands where the body was edited.
    func restored(_ text: String) -> String {
        let place = LaidOutBody.bodyStart(text)
        return text[place...].utf8.elementsEqual(shown.utf8) ? String(text[..<place]) + original : text
    }

    func isUnedited(in text: String) -> Bool { text[LaidOutBody.bodyStart(text)...].utf8.elementsEqual(shown.utf8) }

    /// The place behind the empty line that ends the head.
    private static func bodyStart(_ text: String) -> String.Index {
        let bytes = text.utf8
        var start = bytes.startIndex
        while start < bytes.endIndex, let end = bytes[start...].firstIndex(of: 0x0A) {
            let line = bytes[start..<end]
            start = bytes.index(after: end)
            if line.isEmpty || line.elementsEqual([0x0D]) { return start }
        }
        return bytes.endIndex
    }

    /// JSON with a member or an element a line; numbers, escapes, order and duplicates stay. `nil` where it is none.
    static func layOut(json text: String) -> String? {
        let bytes = Array(text.utf8)
        var reader = JSONTokenReader(bytes)
        var laidOut: [UInt8] = []
        // How many members or elements each open bracket has so far.
        var counts: [Int] = []
        var isNamed = false
        func line() -> [UInt8] { [0x0A] + repeatElement(0x20, count: counts.count * 2) }
        do {
            while let token = try reader.next() {
                if token.kind == .objectEnd || token.kind == .arrayEnd {
                    let count = counts.popLast() ?? 0
                    laidOut += (count > 0 ? line() : []) + bytes[token.range]
                    continue
                }
                if let count = counts.last, !isNamed {
                    laidOut += (count > 0 ? [UInt8(ascii: ",")] : []) + line()
                    counts[counts.count - 1] = count + 1
                }
                isNamed = token.kind == .name
                laidOut += bytes[token.range]
                if isNamed { laidOut += ": ".utf8 }
                if token.kind == .objectBegin || token.kind == .arrayBegin { counts.append(0) }
            }
        } catch {
            return nil
        }
        return laidOut.isEmpty ? nil : String(decoding: laidOut, as: UTF8.self)
    }
}
