import Content

extension ArchiveEntry.Message {
    private static let mostFields = 1_000

    /// Adds a field for each line of a value (``ArchiveEntry/lines(of:)``). `bytes` is the value if it is not UTF-8.
    mutating func addField(_ name: String, _ value: String, bytes: [UInt8]? = nil, _ losses: ArchiveLosses) {
        for line in ArchiveEntry.lines(of: value) {
            guard fields.count < Self.mostFields else {
                losses.add(.field)
                continue
            }
            if let bytes { valueBytes[fields.count] = bytes }
            fields.append((name, line))
        }
    }

    func field(_ name: String) -> String? { fields.first { $0.name.lowercased() == name }?.value }
}

extension ArchiveEntry {
    /// The lines of a value; one that begins with a blank continues the line before (RFC 9112 §5.2).
    static func lines(of value: String) -> [String] {
        guard value.utf8.contains(0x0A) else { return [value] }
        // By bytes, as CR and LF together are one character.
        var lines: [String] = []
        for part in value.utf8.split(separator: 0x0A) {
            let text = String(Substring(part).trimmingASCIIWhitespace)
            if let last = lines.indices.last, part.first == 0x20 || part.first == 0x09 {
                lines[last] += " " + text
            } else if !text.isEmpty {
                lines.append(text)
            }
        }
        return lines.isEmpty ? [""] : lines
    }
}
