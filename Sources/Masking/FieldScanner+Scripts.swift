/// Scripts within HTML.
extension FieldScanner {
    /// Whether a script begins with the tag at a place (`true`) or ends with it (`false`); `nil` where neither does.
    func beginsScript(at place: Int) -> Bool? {
        let isEnd = place + 1 < bytes.count && bytes[place + 1] == UInt8(ascii: "/")
        let name = place + (isEnd ? 2 : 1)
        let end = name + 6
        guard end < bytes.count, isName(name..<end, among: ["script"]), !ValueShape.isLetterOrDigit(bytes[end]) else {
            return nil
        }
        return !isEnd
    }

    /// Whether the bytes begin within a script, as those of a long page may: then the first tag of one ends it.
    func endsInScript() -> Bool {
        var place = 0
        while let open = bytes[place...].firstIndex(of: UInt8(ascii: "<")) {
            if let begins = beginsScript(at: open) { return !begins }
            place = open + 1
        }
        return false
    }
}
