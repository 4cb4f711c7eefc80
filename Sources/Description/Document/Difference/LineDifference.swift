import HTTPModel
import Text

struct LineDifference {
    private static let context = 3
    private static let mostLines = 4000
    /// How many lines of each text are shown if they differ too much to be compared.
    private static let mostOfEach = 200

    let old: String
    let new: String

    func write(into writer: inout DetailWriter) {
        let before = LineDifference.lines(old)
        let after = LineDifference.lines(new)
        guard let hunks = LineDifference.hunks(before, after) else { return whole(before, after, &writer) }
        if hunks.isEmpty { return writer.add("The text is the same.", .faint) }
        var shown = 0
        var done = 0
        for (index, hunk) in hunks.enumerated() {
            guard shown < LineDifference.mostLines, writer.takesMore() else {
                return writer.leaveOut("\((hunks.count - index).of("further difference")) not shown.")
            }
            let start = max(done, hunk.old.lowerBound - LineDifference.context)
            if start > done || index == 0 {
                let newLine = hunk.new.lowerBound - (hunk.old.lowerBound - start) + 1
                writer.add("line \((start + 1).grouped) \(writer.arrow) line \(newLine.grouped)", .faint)
            }
            for line in start..<hunk.old.lowerBound { add(" ", before[line], .faint, &writer) }
            for line in hunk.old.prefix(LineDifference.mostLines) { add(writer.minus, before[line], .removed, &writer) }
            for line in hunk.new.prefix(LineDifference.mostLines) { add("+", after[line], .added, &writer) }
            if max(hunk.old.count, hunk.new.count) > LineDifference.mostLines {
                writer.leaveOut("Only the first \(LineDifference.mostLines.grouped) lines of a difference are shown.")
            }
            shown += hunk.old.count + hunk.new.count
            let next = index + 1 < hunks.count ? hunks[index + 1].old.lowerBound : before.count
            done = max(min(next, hunk.old.upperBound + LineDifference.context, before.count), hunk.old.upperBound)
            for line in hunk.old.upperBound..<done { add(" ", before[line], .faint, &writer) }
        }
    }

    private func whole(_ before: [Substring], _ after: [Substring], _ writer: inout DetailWriter) {
        writer.add("They differ in too many lines to be compared; the beginnings of both follow.", .warning)
        for line in before.prefix(LineDifference.mostOfEach) { add(writer.minus, line, .removed, &writer) }
        for line in after.prefix(LineDifference.mostOfEach) { add("+", line, .added, &writer) }
        if max(before.count, after.count) > LineDifference.mostOfEach {
            writer.leaveOut("Only the first \(LineDifference.mostOfEach) lines of each text are shown.")
        }
    }

    private func add(_ sign: String, _ line: Substring, _ role: Role, _ writer: inout DetailWriter) {
        writer.add([Span(sign + " ", role), Span(VisibleText.expandingTabs(line), role)])
    }

    static func lines(_ text: String) -> [Substring] {
        var lines = text.utf8.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
            Substring(line.last == 0x0D ? line.dropLast() : line)
        }
        if lines.last?.isEmpty == true { lines.removeLast() }
        return lines
    }

    /// The places where two lists of lines differ; `nil` if there are too many. Compares a number for each line.
    static func hunks(_ before: [Substring], _ after: [Substring]) -> [EditScript.Hunk]? {
        var numbers: [Substring: Int32] = [:]
        func numbered(_ lines: [Substring]) -> [Int32] {
            lines.map { line in
                let next = Int32(truncatingIfNeeded: numbers.count)
                if let number = numbers[line] { return number }
                numbers[line] = next
                return next
            }
        }
        let old = numbered(before)
        return EditScript.hunks(old, numbered(after))
    }
}
