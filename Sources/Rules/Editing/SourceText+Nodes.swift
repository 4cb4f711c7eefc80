/// Where nodes begin and end in the text; the parser only says where they begin.
extension SourceText {
    /// Where a node's own text begins, after its tag.
    func start(of node: Node) -> Int {
        var position = offset(line: node.line, column: node.column)
        while self[position] == UInt8(ascii: "!") {
            while position < bytes.count, !" \t\r\n".utf8.contains(bytes[position]) { position += 1 }
            position = skipBlank(position)
        }
        return position
    }

    /// The position after a node's last character; `nil` if it is unclear. `indent` is the column of its key or hyphen.
    func end(of node: Node, indent: Int) -> Int? {
        let start = start(of: node)
        switch node.content {
        case .scalar(let scalar): return end(of: scalar, start, indent)
        case .list(let members): return end(of: members, start, indent)
        case .mapping(let members): return end(of: members.flatMap { [$0.key, $0.value] }, start, indent)
        }
    }

    /// The end of a list or a mapping, in brackets or at a column of its own.
    private func end(of nodes: [Node], _ start: Int, _ indent: Int) -> Int? {
        let isFlow = "[{".utf8.contains(self[start])
        let depth = isFlow ? indent : column(of: start)
        var end = isFlow ? start + 1 : start
        for node in nodes {
            guard let next = self.end(of: node, indent: depth) else { return nil }
            end = max(end, next)
        }
        // In ASCII a closing bracket is two characters after its opening bracket.
        return isFlow ? close(end, self[start] + 2) : end
    }

    /// The position after the closing bracket of a flow collection.
    private func close(_ end: Int, _ bracket: UInt8) -> Int? {
        var position = skipBlank(end)
        while self[position] == UInt8(ascii: ",") || self[position] == UInt8(ascii: ":") {
            position = skipBlank(position + 1)
        }
        return self[position] == bracket ? position + 1 : nil
    }

    private func end(of scalar: Node.Scalar, _ start: Int, _ indent: Int) -> Int? {
        switch self[start] {
        case _ where scalar.style == .plain: return plain(scalar.string, start)
        case UInt8(ascii: "'"), UInt8(ascii: "\""): return quoted(start, self[start])
        case UInt8(ascii: "|"), UInt8(ascii: ">"): return block(start, indent)
        default: return nil
        }
    }

    private func quoted(_ start: Int, _ quote: UInt8) -> Int? {
        var position = start + 1
        while position < bytes.count {
            if bytes[position] == quote {
                guard quote == UInt8(ascii: "'"), self[position + 1] == quote else { return position + 1 }
                position += 1
            } else if bytes[position] == UInt8(ascii: "\\"), quote == UInt8(ascii: "\"") {
                position += 1
            }
            position += 1
        }
        return nil
    }

    /// The end of a plain text, which is in the source character by character; only its blanks may differ.
    private func plain(_ text: String, _ start: Int) -> Int? {
        var position = start
        var end = start
        for byte in text.utf8 where !SourceText.isBlank(byte) {
            while SourceText.isBlank(self[position]), position < bytes.count { position += 1 }
            guard self[position] == byte else { return nil }
            position += 1
            end = position
        }
        return end
    }

    /// Space, tab, LF or CR; the parser may change line breaks.
    private static func isBlank(_ byte: UInt8) -> Bool { [0x20, 0x09, 0x0A, 0x0D].contains(byte) }

    /// The end of a block scalar: its lines are indented at least like its first line that is not blank.
    private func block(_ start: Int, _ indent: Int) -> Int? {
        let header = bytes[start..<lineEnd(start)].prefix { $0 != 0x20 && $0 != 0x09 && $0 != UInt8(ascii: "#") }
        var needed = header.first { $0 &- 0x31 < 9 }.map { indent + Int($0 - 0x30) }
        let keepsBlanks = header.contains(UInt8(ascii: "+"))
        var end = lineEnd(start)
        var line = nextLine(start)
        while line < bytes.count {
            var position = line
            while self[position] == 0x20 { position += 1 }
            let isBlank = position == lineEnd(line)
            if !isBlank {
                let depth = position - line
                let least = needed ?? depth
                guard depth >= least, depth > indent else { break }
                needed = least
            }
            if !isBlank || keepsBlanks { end = lineEnd(line) }
            line = nextLine(line)
        }
        return end
    }
}
