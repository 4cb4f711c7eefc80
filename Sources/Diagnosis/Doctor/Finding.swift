import Foundation
import Runner
import Text

package struct Finding: Sendable, Hashable, Encodable {
    package enum Level: String, Sendable, Encodable {
        case ok
        /// It may surprise the user.
        case note
        /// It stops Sluice.
        case problem
    }

    package let level: Level
    /// What was checked, in a word or two.
    package let about: String
    package let text: String
    /// A command that solves the problem, to be copied.
    package let fix: String?

    static func ok(_ about: String, _ text: String) -> Finding {
        Finding(level: .ok, about: about, text: text, fix: nil)
    }

    static func note(_ about: String, _ text: String, fix: String? = nil) -> Finding {
        Finding(level: .note, about: about, text: text, fix: fix)
    }

    static func problem(_ about: String, _ text: String, fix: String?) -> Finding {
        Finding(level: .problem, about: about, text: text, fix: fix)
    }
}

extension [Finding] {
    package var hasProblems: Bool { contains { $0.level == .problem } }

    /// A line for each finding, with the command that solves it below, and a summary.
    package var lines: String {
        let rows = flatMap { finding in
            [[finding.level.rawValue.filled(to: 7), finding.about, finding.text]]
                + (finding.fix.map { [["", "", "fix: \($0)"]] } ?? [])
        }
        let problems = count { $0.level == .problem }
        let notes = count { $0.level == .note }
        let start = problems == 0 ? "Nothing stops Sluice" : problems.of("problem")
        return TextTable.text(rows) + "\n\(start)\(notes == 0 ? "" : "; \(notes.of("note"))").\n"
    }

    /// A JSON object for each finding, a line each: `level`, `about`, `text`, and `fix` if there is one.
    package func json() throws -> String { try ControlListing.jsonLines(self) }
}
