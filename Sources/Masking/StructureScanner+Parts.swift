import Content

/// Parts of multipart bodies (RFC 7578).
extension StructureScanner {
    private static let longestHead = 4_096

    mutating func scanParts() {
        var place = 0
        while let disposition = find("isposition:", from: place) {
            place = disposition + 11
            guard let (head, content) = part(at: place) else { return }
            place = content.upperBound
            let lines = String(decoding: bytes[head], as: UTF8.self)
            let name = StructureScanner.disposition(String(lines.prefix { !$0.isNewline }))
            if let kind = names.kind(of: name.utf8) {
                take(content, kind, name: name.utf8) { Array($0) }
                continue
            }
            let type = lines.split(whereSeparator: \.isNewline).compactMap { line -> MediaType? in
                line.lowercased().hasPrefix("content-type:") ? MediaType(line.dropFirst(13).drop { $0 == " " }) : nil
            }
            .first
            if type?.type == "multipart" { continue }
            if let syntax = BodySyntax.of(type, bytes[content]).0 { scan(content, syntax) }
        }
    }

    private func part(at start: Int) -> (head: Range<Int>, content: Range<Int>)? {
        let limit = min(bytes.count, start + StructureScanner.longestHead)
        var lineEnd = find(0x0A, from: start, to: limit)
        while let end = lineEnd {
            let next = end + 1 < bytes.count && bytes[end + 1] == 0x0D ? end + 2 : end + 1
            if next < bytes.count, bytes[next] == 0x0A {
                let content = next + 1
                let close = find("\r\n--", from: content) ?? find("\n--", from: content) ?? bytes.count
                return (start..<end, content..<close)
            }
            lineEnd = find(0x0A, from: end + 1, to: limit)
        }
        return nil
    }

    private static func disposition(_ line: String) -> String {
        var parameters = ParameterScanner(line)
        while let (label, value) = parameters.nextParameter() { if label == "name" { return value } }
        return ""
    }
}
