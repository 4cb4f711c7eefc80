extension String {
    /// The text for a message: cut where it is long, control characters as spaces.
    package func clipped(to limit: Int = 120) -> String {
        let isPlain = utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7F }
        let text = isPlain ? self : String(map { $0.isNewline || ($0.asciiValue ?? 0x20) < 0x20 ? " " : $0 })
        return text.utf8.count <= limit ? text : text.prefix(limit) + "…"
    }
}
