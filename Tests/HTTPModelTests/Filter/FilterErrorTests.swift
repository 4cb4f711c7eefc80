import Testing

@testable import HTTPModel

@Suite("Wrong filter expressions")
struct FilterErrorTests {
    @Test(
        "point at the column and say what is wrong",
        arguments: [
            ("metod:GET", 1, "unknown key 'metod'", "did you mean 'method'?"),
            ("host:a  stauts:5", 9, "unknown key 'stauts'", "did you mean 'status'?"),
            ("duration:>1s", 1, "unknown key 'duration'", "did you mean 'time'?"),
            ("content-type:json", 1, "unknown key 'content-type'", "did you mean 'type'?"),
            ("localhost:3000", 1, "unknown key 'localhost'", "quote the text to search the URL for it"),
            (
                "status:abc", 8, "'abc' is no number",
                "write a number, a comparison such as >=400, or a range such as 200..299"
            ),
            (
                "status:200,x", 12, "'x' is no number",
                "write a number, a comparison such as >=400, or a range such as 200..299"
            ),
            (
                "status:200..x", 13, "'x' is no number",
                "write a number, a comparison such as >=400, or a range such as 200..299"
            ),
            (
                "id:>", 5, "a number is missing",
                "write a number, a comparison such as >=400, or a range such as 200..299"
            ),
            ("id:9..1", 4, "the range's start is after its end", nil), ("id:..", 4, "the range has no ends", nil),
            ("id:<0", 4, "no id is below 0", nil),
            ("size:5q", 6, "'5q' is no size", "write a number with b, kb, mb, gb, kib, mib or gib"),
            (
                "size:99999999999999gb", 6, "'99999999999999gb' is no size",
                "write a number with b, kb, mb, gb, kib, mib or gib"
            ),
            ("time:500ms", 6, "an exact duration matches nothing", "write time:>500ms or a range"),
            ("time:>1w", 7, "'1w' is no length of time", "write a number with us, ms, s, m, h or d"),
            ("is:chaned", 4, "unknown property 'chaned'", "did you mean 'changed'?"),
            ("is:gprc", 4, "unknown property 'gprc'", "did you mean 'grpc'?"),
            ("grpc:unavailble", 6, "'unavailble' is no gRPC status", "did you mean 'unavailable'?"),
            ("trace-id:4bz", 10, "'4bz' is no trace id", "write up to 32 hexadecimal digits, or * for any"),
            (
                "trace-id:a,4bf92f3577b34da6a3ce929d0e0e47360", 12,
                "'4bf92f3577b34da6a3ce929d0e0e47360' is no trace id",
                "write up to 32 hexadecimal digits, or * for any"
            ),
            (
                "session:0f-x", 9, "'0f-x' is no identifier of a recording",
                "'sluice store sessions URL' lists them; write all of one or its beginning"
            ),
            ("label:=y", 7, "'=y' is no label", "write its name and value, for example label:branch=main"),
            ("traceparent:4b", 1, "unknown key 'traceparent'", "did you mean 'trace-id'?"),
            ("grpc:canceled", 6, "'canceled' is no gRPC status", "did you mean 'cancelled'?"),
            ("grpc:0,wat", 8, "'wat' is no gRPC status", "write its number, or a name such as unavailable"),
            (
                "grpc:>ok", 7, "'ok' is no number",
                "write a number, a comparison such as >=400, or a range such as 200..299"
            ),
            ("grpc:<0", 6, "no grpc is below 0", nil), ("messages:<0", 10, "no messages is below 0", nil),
            (
                "host:a status=404", 14, "a colon is missing after 'status'",
                "write status:404, or quote it to search the URL for it"
            ),
            (
                "(Size=1kb)", 6, "a colon is missing after 'size'",
                "write size:1kb, or quote it to search the URL for it"
            ),
            (
                "!method==GET", 8, "a colon is missing after 'method'",
                "write method:GET, or quote it to search the URL for it"
            ),
            (
                "time>=1s", 5, "a colon is missing after 'time'",
                "write time:>=1s, or quote it to search the URL for it"
            ),
            ("host=", 5, "a colon is missing after 'host'", "for example host:*.example.com"),
            ("version:h4", 9, "unknown version 'h4'", "write h1, h2, h3, 1.0 or 1.1"),
            (
                "since:noon", 7, "'noon' is no time",
                "write 14:30, 2026-11-21, 2026-11-21T14:30:00Z, or 10m for ten minutes ago"
            ),
            ("host:", 6, "a value is missing for 'host'", "for example host:*.example.com"),
            ("host:a, b", 8, "a value is missing for 'host'", "for example host:*.example.com"),
            ("host:\"\"", 6, "a value is missing for 'host'", "for example host:*.example.com"),
            ("\"\"", 1, "the search text is missing", nil),
            ("header:\": x\"", 9, "the field's name is missing", nil),
            ("(host:a", 1, "the parenthesis is not closed", nil),
            ("host:a)", 7, "this parenthesis closes none", nil),
            ("()", 2, "a term is missing before the parenthesis", nil),
            ("a or", 5, "a term is missing at the end", nil), ("not", 4, "a term is missing at the end", nil),
            ("and a", 1, "a term is missing before the operator", "quote the word to search for it"),
            ("a or or b", 6, "a term is missing before the operator", "quote the word to search for it"),
            ("é \"ab", 3, "the quotation mark is not closed", nil),
            ("path:/a(b/", 10, "the regular expression is wrong: missing closing parenthesis", nil),
            ("x body:/é[z-a]/", 13, "the regular expression is wrong: range out of order in character class", nil),
            ("ab\\", 3, "'\\' ends the expression", "write \\\\ for a backslash"),
        ]
    )
    func errors(expression: String, column: Int, message: String, suggestion: String?) {
        let error = #expect(throws: FilterError.self) { try Filter(expression, clock: FilterFixture.clock) }
        #expect(error?.column == column)
        #expect(error?.message == message)
        #expect(error?.suggestion == suggestion)
        #expect(error?.expression == expression)
    }

    @Test("are shown with a caret under the column")
    func pointing() throws {
        let error = try #require(throws: FilterError.self) { try Filter("host:a metod:GET") }
        #expect(error.pointing == "host:a metod:GET\n       ^")
        #expect(error.description == "column 8: unknown key 'metod', did you mean 'method'?")
        let unclosed = try #require(throws: FilterError.self) { try Filter("a\tmetod:\u{1B}") }
        #expect(!unclosed.pointing.contains("\u{1B}"))
    }

    @Test("that are long are shown around the column")
    func pointingLong() throws {
        let error = try #require(throws: FilterError.self) {
            try Filter(String(repeating: "abcd ", count: 100) + "metod:x " + String(repeating: "abcd ", count: 100))
        }
        let lines = error.pointing.split(separator: "\n").map(Array.init)
        let caret = try #require(lines[1].firstIndex(of: "^"))
        #expect(String(lines[0][caret...]).hasPrefix("metod:x"))
        #expect(lines[0].count <= 102)
        #expect(lines[0].first == "…" && lines[0].last == "…")
    }

    @Test("that are hostile are refused at once")
    func hostile() throws {
        func column(_ expression: String) -> Int? {
            do {
                _ = try Filter(expression, clock: FilterFixture.clock)
                return nil
            } catch {
                return error.column
            }
        }
        #expect(column(String(repeating: "(", count: 5_000)) == Filter.maximumDepth + 1)
        #expect(column(String(repeating: "(", count: 10_000_000)) == 1)
        #expect(column(String(repeating: "\u{301}", count: 1_000_000)) == 1)
        #expect(column(String(repeating: "!", count: 9_999) + "a") == nil)
        #expect(column(String(repeating: "not ", count: 2_400) + "a") == nil)
        #expect(
            column(
                String(repeating: "!(", count: Filter.maximumDepth) + "a"
                    + String(repeating: ")", count: Filter.maximumDepth)
            ) == nil
        )
        #expect(
            column(
                String(repeating: "!(", count: Filter.maximumDepth + 1) + "a"
                    + String(repeating: ")", count: Filter.maximumDepth + 1)
            ) == 2 * Filter.maximumDepth + 2
        )
        #expect(column("host:" + String(repeating: "*a", count: 4_000)) == 6)
        #expect(column("id:" + String(repeating: "9", count: 9_000)) == 4)
        #expect(column(String(repeating: "a or ", count: 1_999) + "a") == nil)
    }
}

@Suite("Spelling")
struct SpellingTests {
    @Test("finds the word that was meant, and none where none is near")
    func nearest() {
        let words = ["host", "method", "status"]
        #expect(Spelling.nearest(to: "metod", among: words) == "method")
        #expect(Spelling.nearest(to: "hsot", among: words) == "host")
        #expect(Spelling.nearest(to: "STATUS", among: words) == "status")
        #expect(Spelling.nearest(to: "banana", among: words) == nil)
        #expect(Spelling.nearest(to: "", among: words) == nil)
        #expect(Spelling.nearest(to: String(repeating: "h", count: 100_000), among: words) == nil)
    }
}
