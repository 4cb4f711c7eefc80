import Testing

@testable import Jobs

@Suite struct ErrorLineTests {
    @Test(
        "An error begins with the program's name and a lower-case word, unless that is a name",
        arguments: [
            (
                "There is no session.\nsluice run records one.",
                "sluice: there is no session.\nsluice run records one.\n"
            ),
            ("Sluice was asked to stop.", "sluice: Sluice was asked to stop.\n"),
            ("HTTP/2 is off.", "sluice: HTTP/2 is off.\n"), ("A bundle is a zip.", "sluice: a bundle is a zip.\n"),
            ("/x: no such file.\n", "sluice: /x: no such file.\n"), ("'Ab' is wrong", "sluice: 'Ab' is wrong\n"),
            ("Charles writes it", "sluice: Charles writes it\n"),
        ]
    )
    func form(error: String, line: String) {
        #expect(ErrorLine.text(error) == line)
    }

    @Test("A file's name says the format of an export")
    func formats() {
        let names: [(String, ExportFormat?)] = [
            ("bug.har", .har), ("Bug.HTML", .html), ("bug.zip", .bundle), ("again.sh", .curl), ("a.jsonl", .jsonl),
            ("a.json", .json), ("a.mjs", .fetch), ("har", nil), ("a.txt", nil), ("-", nil),
            ("a.har.gz", .har), ("A.JSONL.ZST", .jsonl), ("a.zip.gz", nil), ("a.gz", nil), (".zst", nil),
        ]
        for (name, format) in names { #expect(ExportFormat(fileName: name) == format, "\(name)") }
    }
}
