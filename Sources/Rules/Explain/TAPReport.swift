package import HTTPModel

/// The results of profiles' own tests in the Test Anything Protocol, version 14.
package struct TAPReport {
    private var lines: [String] = []
    private var count = 0
    package private(set) var failures = 0

    package init() {}

    package mutating func add(_ result: ExpectationResult) {
        count += 1
        let name = TAPReport.escaped(result.expectation.name)
        guard !result.passes else {
            lines.append("ok \(count) - \(name)")
            return
        }
        failures += 1
        lines += ["not ok \(count) - \(name)", "  ---"] + TAPReport.details(result).map { "  \($0)" } + ["  ..."]
    }

    /// A failed test as lines of YAML.
    static func details(_ result: ExpectationResult) -> [String] {
        let (expectation, trace) = (result.expectation, result.exchange.trace)
        var lines = [
            "at: \(quoted(expectation.place.description))",
            "request: \(quoted("\(expectation.request.method) \(expectation.request.url)"))", "differences:",
        ]
        for difference in result.differences {
            lines += [
                "  - what: \(quoted(difference.what))", "    expected: \(quoted(difference.expected))",
                "    came: \(quoted(difference.came))",
            ]
        }
        return lines + ["trace:\(trace.isEmpty ? " []" : "")"] + trace.map { "  - \(quoted($0.line))" }
    }

    package mutating func add(broken name: String, _ issues: [ProfileIssue]) {
        count += 1
        failures += 1
        lines += ["not ok \(count) - \(TAPReport.escaped(name))", "  ---", "  issues:"]
        lines += issues.map { "    - \(TAPReport.quoted($0.description))" } + ["  ..."]
    }

    package var text: String {
        let plan = count == 0 ? "1..0 # SKIP the profiles have no 'expect'" : "1..\(count)"
        return (["TAP version 14", plan] + lines).joined(separator: "\n") + "\n"
    }

    /// One line without TAP directives.
    private static func escaped(_ text: String) -> String {
        text.map { $0.isNewline ? " " : $0 == "#" || $0 == "\\" ? "\\\($0)" : String($0) }.joined()
    }

    private static func quoted(_ text: String) -> String { YAMLText.doubleQuoted(text) }
}

extension TraceEntry {
    /// For example `rewrite (small pages): …`.
    package var line: String { "\(stage)\(rule.map { " (\($0))" } ?? ""): \(text)" }
}
