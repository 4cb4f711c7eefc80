import Text

/// The results of assertions or tests as JUnit XML, which build systems read.
package struct JUnitReport {
    private var cases = ""
    private var failures = 0
    private var time = Duration.zero
    package private(set) var count = 0

    package init() {}

    /// A case passes without a failure, which has a summary and the whole text.
    package mutating func add(
        _ name: String,
        at place: ProfilePlace? = nil,
        time: Duration = .zero,
        failure: (summary: String, text: String)? = nil
    ) {
        count += 1
        self.time += time
        let file = place.map { " file=\"\(JUnitReport.escaped($0.file))\" line=\"\($0.line)\"" } ?? ""
        let group = place.map { JUnitReport.group($0.file) } ?? "sluice"
        let line = name.split(whereSeparator: \.isNewline).joined(separator: " ")
        cases += "<testcase name=\"\(JUnitReport.escaped(line))\" classname=\"\(JUnitReport.escaped(group))\"\(file)"
        cases += " time=\"\(JUnitReport.seconds(time))\""
        guard let failure else {
            cases += "/>\n"
            return
        }
        failures += 1
        cases += ">\n<failure type=\"failed\" message=\"\(JUnitReport.escaped(failure.summary))\">"
        cases += "\(JUnitReport.escaped(failure.text))</failure>\n</testcase>\n"
    }

    package mutating func add(_ result: ExpectationResult) {
        let (name, place) = (result.expectation.name, result.expectation.place)
        guard !result.passes else { return add(name, at: place) }
        let summary = result.differences.map { "\($0.what): expected \($0.expected), found \($0.came)" }
        let text = TAPReport.details(result).joined(separator: "\n") + "\n"
        add(name, at: place, failure: (summary.joined(separator: "; "), text))
    }

    package mutating func add(broken file: String, _ issues: [ProfileIssue]) {
        let text = issues.map { "\($0)\n" }.joined()
        let place = ProfilePlace(file: file, line: issues.first?.line ?? 1, column: 1)
        add(file, at: place, failure: ("The profile has errors.", text))
    }

    package func text(suite: String) -> String {
        let facts = "tests=\"\(count)\" failures=\"\(failures)\" errors=\"0\" time=\"\(JUnitReport.seconds(time))\""
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <testsuites \(facts)>
            <testsuite name="\(JUnitReport.escaped(suite))" \(facts)>
            \(cases)</testsuite>
            </testsuites>

            """
    }

    /// The name of a profile's file, without the ending: build systems would take that for a class.
    private static func group(_ file: String) -> String {
        let name = file.split(separator: "/").last.map(String.init) ?? file
        return [".yaml", ".yml"].first(where: name.hasSuffix).map { String(name.dropLast($0.count)) } ?? name
    }

    private static func seconds(_ time: Duration) -> String {
        let milliseconds = Int(time / .milliseconds(1))
        return "\(milliseconds / 1_000).\((milliseconds % 1_000).padded(to: 3))"
    }

    /// Control characters become visible, because XML 1.0 cannot have them; U+FFFE and U+FFFF are left out.
    private static func escaped(_ text: String) -> String {
        VisibleText.lines(text).markupEscaped.replacing(["\"": "&quot;", "\u{FFFE}": "", "\u{FFFF}": ""])
    }
}
