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
            let lines = String(decoding: bytes[head], as: UTF8.self).split(whereSeparator: \.isNewline)
            let name = StructureScanner.disposition(String(lines.first ?? ""))
            if let kind = names.kind(of: name.utf8) {
                take(content, kind, name: name.utf8)
                continue
            }
            let line = lines.first { $0.lowercased().hasPrefix("content-type:") }
            let type = line.flatMap { MediaType($0.dropFirst(13).drop { $0 == " " }) }
            if type?.type == "multipart" { continue }
            if let syntax = BodySyntax.of(type, bytes[content]).0 { scan(content, syntax) }
        }
    }

    private func part(at start: Int) -> (head: Range<Int>, content: Range<Int>)? {
        let limit = min(bytes.count, start + StructureScanner.longestHead)
        var line = start
        while let end = find(0x0A, from: line, to: limit) {
            let next = has("\r", at: end + 1) ? end + 2 : end + 1
            if has("\n", at: next) {
                let close = find("\r\n--", from: next + 1) ?? find("\n--", from: next + 1) ?? bytes.count
                return (start..<end, next + 1..<close)
            }
            line = end + 1
        }
        return nil
    }

    private static func disposition(_ line: String) -> String {
        var parameters = ParameterScanner(line)
        while let (label, value) = parameters.nextParameter() { if label == "name" { return value } }
        return ""
    }
}
