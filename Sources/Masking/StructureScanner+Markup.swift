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
            guard place < bytes.count, ValueShape.isLetter(bytes[place]) || bytes[place] == UInt8(ascii: "_") else {
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
        var place = start
        while place < bytes.count, bytes[place] > 0x20, !"/><".utf8.contains(bytes[place]) { place += 1 }
        var tag = Tag(name: start..<place, end: place)
        while place < bytes.count {
            switch bytes[place] {
            case UInt8(ascii: ">"):
                tag.end = place + 1
                return tag
            case UInt8(ascii: "<"):
                tag.end = place
                return tag
            case UInt8(ascii: "/"):
                tag.isEmpty = place + 1 < bytes.count && bytes[place + 1] == UInt8(ascii: ">")
                place += 1
            case ...0x20: place += 1
            default: place = attribute(at: place, &tag)
            }
        }
        tag.end = place
        return tag
    }

    private func attribute(at start: Int, _ tag: inout Tag) -> Int {
        var place = start
        while place < bytes.count, bytes[place] > 0x20, !"=/><".utf8.contains(bytes[place]) { place += 1 }
        let name = start..<place
        let equals = afterSpaces(place)
        guard equals < bytes.count, bytes[equals] == UInt8(ascii: "=") else { return max(place, start + 1) }
        var value = afterSpaces(equals + 1)
        guard value < bytes.count else { return value }
        let sign = bytes[value]
        if sign == UInt8(ascii: "\"") || sign == UInt8(ascii: "'") {
            value += 1
            let end = find(sign, from: value) ?? bytes.count
            tag.attributes.append((name, value..<end))
            return min(end + 1, bytes.count)
        }
        var end = value
        while end < bytes.count, bytes[end] > 0x20, bytes[end] != UInt8(ascii: ">") { end += 1 }
        tag.attributes.append((name, value..<end))
        return end
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
            take(content, kind, name: bytes[name]) { Array($0) }
            return content.upperBound
        }
        var (first, end) = (afterSpaces(start), find(UInt8(ascii: "<"), from: start) ?? bytes.count)
        let next = end
        first = min(first, end)
        while end > first, StructureScanner.isSpace(bytes[end - 1]) { end -= 1 }
        take(first..<end, kind, name: bytes[name]) { PlainValue.ofMarkup($0) }
        return next
    }
}
