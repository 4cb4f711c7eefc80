import Foundation

/// What a look at the machine found.
package struct Finding: Sendable, Hashable, Encodable {
    package enum Level: String, Sendable, Encodable {
        /// All is well.
        case ok
        /// Something works otherwise than one may expect.
        case note
        /// It stops Sluice.
        case problem
    }

    package let level: Level
    /// What was looked at, in a word or two.
    package let about: String
    package let text: String
    /// A command that mends it, to be copied; `nil` for none.
    package let mend: String?

    static func ok(_ about: String, _ text: String) -> Finding {
        Finding(level: .ok, about: about, text: text, mend: nil)
    }

    static func note(_ about: String, _ text: String, mend: String? = nil) -> Finding {
        Finding(level: .note, about: about, text: text, mend: mend)
    }

    static func problem(_ about: String, _ text: String, mend: String?) -> Finding {
        Finding(level: .problem, about: about, text: text, mend: mend)
    }
}

extension [Finding] {
    /// Whether something stops Sluice.
    package var hasProblems: Bool { contains { $0.level == .problem } }

    /// A line for each finding, with the command that mends it below, and a summary.
    package var lines: String {
        let width = map(\.about.count).max() ?? 0
        let indent = String(repeating: " ", count: 9)
        var text = ""
        for finding in self {
            let level = finding.level.rawValue.padding(toLength: 9, withPad: " ", startingAt: 0)
            let about = finding.about + String(repeating: " ", count: width - finding.about.count + 2)
            text += "\(level)\(about)\(finding.text)\n"
            if let mend = finding.mend {
                text += "\(indent)\(String(repeating: " ", count: width + 2))mend: \(mend)\n"
            }
        }
        let problems = count { $0.level == .problem }
        let notes = count { $0.level == .note }
        let end = notes == 0 ? "" : "; \(notes) note\(notes == 1 ? "" : "s")"
        let start = problems == 0 ? "Nothing stops Sluice" : "\(problems) problem\(problems == 1 ? "" : "s")"
        return text + "\n\(start)\(end).\n"
    }

    /// A JSON object for each finding, a line each: `level`, `about`, `text`, and `mend` where there is something to do.
    package func json() throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return try map { String(decoding: try encoder.encode($0), as: UTF8.self) + "\n" }.joined()
    }
}
