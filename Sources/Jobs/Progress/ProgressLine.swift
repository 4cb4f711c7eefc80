import Description
import Text

/// A line for a terminal: part done, count, rate, time left.
package struct ProgressLine: Sendable, Hashable {
    package enum Unit: Sendable, Hashable {
        case bytes
        /// A noun in the singular.
        case things(String)
    }

    /// For example `exporting`.
    package var title: String
    package var unit: Unit
    package var done: Int64 = 0
    /// From 0 to 1, if known.
    package var part: Double?
    /// In seconds.
    package var elapsed = 0.0

    package init(_ title: String, _ unit: Unit) { (self.title, self.unit) = (title, unit) }

    private static let bars = 10...30

    /// In at most `width` columns; the least important parts are dropped first.
    package func text(width: Int) -> String {
        let title = VisibleText.of(title)
        let share = knownPart.map { String(Int($0 * 100)).aligned(to: 3) + " %" }
        let facts = [share, count, rate, left].compactMap(\.self)
        for kept in stride(from: facts.count, through: 0, by: -1) {
            let pieces = [title] + facts.prefix(kept)
            let used = pieces.reduce(0) { $0 + TextWidth.columns($1) + 2 } - 2
            guard used <= width else { continue }
            let room = width - used - 4
            guard let part = knownPart, kept == facts.count, room >= Self.bars.lowerBound else {
                return pieces.joined(separator: "  ")
            }
            let bar = Self.bar(part, min(room, Self.bars.upperBound))
            return ([title, bar] + facts).joined(separator: "  ")
        }
        return TextWidth.cut(title, to: max(0, width), ellipsis: "")
    }

    private var knownPart: Double? { part.flatMap { $0.isFinite ? min(max($0, 0), 1) : nil } }

    private static func bar(_ part: Double, _ length: Int) -> String {
        let full = Int((part * Double(length)).rounded(.down))
        return "[" + String(repeating: "#", count: full) + String(repeating: ".", count: length - full) + "]"
    }

    private var count: String? {
        guard done > 0 else { return nil }
        return switch unit {
        case .bytes: Measures.size(done)
        case .things(let name): Int(clamping: done).of(name)
        }
    }

    private var rate: String? {
        guard elapsed > 0, done > 0 else { return nil }
        let rate = min(Double(done) / elapsed, 1e15)
        switch unit {
        case .bytes: return "\(Measures.size(Int64(rate)))/s"
        case .things: return rate < 10 ? "\(Int(rate)).\(Int(rate * 10) % 10)/s" : "\(Int(rate).grouped)/s"
        }
    }

    private var left: String? {
        guard let part = knownPart, part > 0.005, part < 1, elapsed > 0.2 else { return nil }
        let seconds = Int(min(elapsed * (1 - part) / part, 1e9).rounded(.up))
        return "\(ProgressLine.duration(seconds)) left"
    }

    private static func duration(_ seconds: Int) -> String {
        if seconds < 60 { return "\(seconds) s" }
        if seconds < 3_600 { return "\(seconds / 60) min \(seconds % 60) s" }
        return "\(seconds / 3_600) h \(seconds % 3_600 / 60) min"
    }
}
