import Foundation
import Support

/// The table of `Sources/Console/Console.docc/Tasks.md`.
struct TaskTable {
    struct Row {
        let task: String
        let keys: [TaskKey]
        /// The number that the table says.
        let count: Int?
        /// In mitmproxy; `nil` where it has no such command.
        let others: [TaskKey]?
        let otherCount: Int?
        let words: [String]
    }

    let rows: [Row]

    init() throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../../Sources/Console/Console.docc/Tasks.md").standardized
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").filter { $0.hasPrefix("| ") }
        rows = lines.dropFirst(2).compactMap { line in
            let cells = line.replacing("\\|", with: "\u{0}").split(separator: "|", omittingEmptySubsequences: false)
                .map { $0.replacing("\u{0}", with: "|").trimmingCharacters(in: .whitespaces) }
            guard cells.count == 9 else { return nil }
            return Row(
                task: cells[1],
                keys: TaskKey.read(TaskTable.code(cells[2]).joined(separator: " ")),
                count: Int(cells[3]),
                others: cells[4] == "–" ? nil : TaskKey.read(TaskTable.code(cells[4]).joined(separator: " ")),
                otherCount: Int(cells[5]),
                words: TaskTable.code(cells[7])
            )
        }
    }

    /// What stands between backticks.
    private static func code(_ cell: String) -> [String] {
        cell.split(separator: "`", omittingEmptySubsequences: false).enumerated().filter { $0.offset % 2 == 1 }
            .map { String($0.element) }
    }
}

/// A key, or a text that is typed.
enum TaskKey: Equatable {
    case key(String)
    case text(String)

    /// How many times one presses something.
    var count: Int {
        switch self {
        case .key: 1
        case .text(let text): text.count
        }
    }

    /// What a terminal sends.
    var bytes: String {
        switch self {
        case .text(let text): text
        case .key(let name):
            TaskKey.named[name]
                ?? (name.hasPrefix("ctrl-") ? name.last.map { Keys.control($0) } ?? "" : name)
        }
    }

    private static let named = [
        "enter": Keys.enter, "esc": "\u{1B}", "tab": Keys.tab, "space": " ", "backspace": "\u{7F}", "up": Keys.up,
        "down": Keys.down, "left": "\u{1B}[D", "right": "\u{1B}[C", "home": Keys.home, "end": Keys.end,
        "pgup": "\u{1B}[5~", "pgdn": "\u{1B}[6~",
    ]

    /// Reads keys with blanks between, and texts in quotes.
    static func read(_ cell: String) -> [TaskKey] {
        cell.split(separator: "\"", omittingEmptySubsequences: false).enumerated().flatMap { index, part in
            index % 2 == 1 ? [.text(String(part))] : part.split(separator: " ").map { .key(String($0)) }
        }
    }
}
