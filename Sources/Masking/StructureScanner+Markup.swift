extension StructureScanner {
    private struct Tag {
        var name: Range<Int>
        var attributes: [(name: Range<Int>, value: Range<Int>)] = []
        /// After `>`, or at the next tag.
        var end: Int
        var isEmpty = false
    }

    mutating func scanTags() {
        var place = 0
        while let open = find(UInt8(ascii: "<"), from: place) {
            place = open + 1
            guard place < bytes.count, bytes[place].isLetter || bytes[place] == UInt8(ascii: "_") else {
                continue
            }
            let tag = tag(at: place)
            place = tag.end
            takeAttributes(tag)
            let colon = bytes[tag.name].lastIndex(of: UInt8(ascii: ":"))
            let name = colon.map { $0 + 1..<tag.name.upperBound } ?? tag.name
            if !tag.isEmpty, let kind = names.kind(of: bytes[name]) { place = takeText(from: tag.end, kind, name) }
        }
    }

    private func tag(at start: Int) -> Tag {
        let name = start..<bytes.runEnd(from: start) { $0 > 0x20 && !"/><".utf8.contains($0) }
        var tag = Tag(name: name, end: name.upperBound)
        while tag.end < bytes.count, bytes[tag.end] != UInt8(ascii: "<") {
            switch bytes[tag.end] {
            case UInt8(ascii: ">"):
                tag.end += 1
                return tag
            case UInt8(ascii: "/"):
                tag.end += 1
                tag.isEmpty = has(">", at: tag.end)
            case ...0x20: tag.end += 1
            default: readAttribute(of: &tag)
            }
        }
        return tag
    }

    private func readAttribute(of tag: inout Tag) {
        let name = tag.end..<bytes.runEnd(from: tag.end) { $0 > 0x20 && !"=/><".utf8.contains($0) }
        let equals = afterSpaces(name.upperBound)
        let start = afterSpaces(equals + 1)
        guard has("=", at: equals), start < bytes.count else {
            tag.end = max(name.upperBound, tag.end + 1)
            return
        }
        let sign = bytes[start]
        if sign == UInt8(ascii: "\"") || sign == UInt8(ascii: "'") {
            let close = find(sign, from: start + 1) ?? bytes.count
            tag.attributes.append((name, start + 1..<close))
            tag.end = min(close + 1, bytes.count)
        } else {
            tag.end = bytes.runEnd(from: start) { $0 > 0x20 && $0 != UInt8(ascii: ">") }
            tag.attributes.append((name, start..<tag.end))
        }
    }

    private mutating func takeAttributes(_ tag: Tag) {
        var (kind, label): (SecretKind?, Range<Int>?) = (nil, nil)
        for (name, value) in tag.attributes {
            if let own = names.kind(of: bytes[name]) {
                take(value, own, name: bytes[name]) { PlainValue.ofMarkup($0) }
            } else if isSame(name, "name") || isSame(name, "id") || isSame(name, "property") || isSame(name, "key") {
                guard kind == nil, let named = names.kind(of: bytes[value]) else { continue }
                (kind, label) = (named, value)
            } else if isSame(name, "type"), isSame(value, "password") {
                (kind, label) = (kind ?? .password, label ?? value)
            }
        }
        guard let kind, let label else { return }
        for (name, value) in tag.attributes where isSame(name, "value") || isSame(name, "content") {
            take(value, kind, name: bytes[label]) { PlainValue.ofMarkup($0) }
        }
    }

    private mutating func takeText(from start: Int, _ kind: SecretKind, _ name: Range<Int>) -> Int {
        if has("<![CDATA[", at: start) {
            let content = start + 9..<(find("]]>", from: start + 9) ?? bytes.count)
            take(content, kind, name: bytes[name])
            return content.upperBound
        }
        let next = find(UInt8(ascii: "<"), from: start) ?? bytes.count
        take(bytes.trimmed(start..<next), kind, name: bytes[name]) { PlainValue.ofMarkup($0) }
        return next
    }
}
