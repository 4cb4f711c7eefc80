import Testing
import Tools

@testable import Rules

@Suite("A JUnit report")
struct JUnitReportTests {
    private static let place = ProfilePlace(file: "Profiles/a.b.yaml", line: 3, column: 5)

    @Test("has a case for each result, with its file, line and time, and the sums")
    func cases() {
        var report = JUnitReport()
        #expect(report.count == 0)
        report.add("one login", at: JUnitReportTests.place, time: .milliseconds(1_250))
        report.add(
            "none",
            at: JUnitReportTests.place,
            time: .microseconds(2_900),
            failure: ("count: 0", "all\nof it\n")
        )
        report.add("assertions", failure: ("unread", "unread"))
        #expect(report.count == 3)
        #expect(
            report.text(suite: "a \"run\"") == """
                <?xml version="1.0" encoding="UTF-8"?>
                <testsuites tests="3" failures="2" errors="0" time="1.252">
                <testsuite name="a &quot;run&quot;" tests="3" failures="2" errors="0" time="1.252">
                <testcase name="one login" classname="a.b" file="Profiles/a.b.yaml" line="3" time="1.250"/>
                <testcase name="none" classname="a.b" file="Profiles/a.b.yaml" line="3" time="0.002">
                <failure type="failed" message="count: 0">all
                of it
                </failure>
                </testcase>
                <testcase name="assertions" classname="sluice" time="0.000">
                <failure type="failed" message="unread">unread</failure>
                </testcase>
                </testsuite>
                </testsuites>

                """
        )
    }

    @Test(
        "is XML whatever a name has",
        arguments: [
            ("a<b>&\"c\"'", "a&lt;b&gt;&amp;&quot;c&quot;'"), ("]]>", "]]&gt;"), ("a\u{0}\u{1B}[31m", "a^@^[[31m"),
            ("two\r\nlines\nhere", "two lines here"), ("\u{FFFE}a\u{FFFF}", "a"),
            ("\u{7F}\u{202E}", "^?&lt;U+202E&gt;"),
            ("<\u{301}/>", "&lt;\u{301}/&gt;"), ("🦆 é", "🦆 é"),
        ]
    )
    func escaped(name: String, written: String) {
        var report = JUnitReport()
        report.add(name)
        #expect(report.text(suite: "").contains("<testcase name=\"\(written)\" "), "\(report.text(suite: ""))")
    }

    @Test("tells a profile's own tests like TAP, and a broken profile with its errors")
    func expectations() throws {
        let profile = try RuleProfile(
            """
            version: 1
            expect:
              - { name: fine, request: GET http://a.example/, fires: [] }
              - { request: GET http://b.example/, sends: http://c.example/, answers: 201 }
            """,
            file: "p.yml"
        )
        var report = JUnitReport()
        for result in profile.dryRun() { report.add(result) }
        let error = #expect(throws: ProfileError.self) { try RuleProfile("version: 1\nblok: 1", file: "-") }
        report.add(broken: "-", error?.issues ?? [])
        let text = report.text(suite: "tests")
        #expect(text.contains("tests=\"3\" failures=\"2\""))
        #expect(text.contains("<testcase name=\"fine\" classname=\"p\" file=\"p.yml\" line=\"3\" time=\"0.000\"/>\n"))
        #expect(
            text.contains(
                """
                <testcase name="GET http://b.example/" classname="p" file="p.yml" line="4" time="0.000">
                <failure type="failed" message="sends.url: expected http://c.example/, found http://b.example/; \
                answers.status: expected 201, found 200">at: &quot;p.yml:4:5&quot;
                request: &quot;GET http://b.example/&quot;
                differences:
                  - what: &quot;sends.url&quot;
                """
            ),
            "\(text)"
        )
        #expect(text.contains("<testcase name=\"-\" classname=\"-\" file=\"-\" line=\"2\""))
        #expect(text.contains("message=\"The profile has errors.\">-:2:1: a profile has no key 'blok'"), "\(text)")
    }
}
