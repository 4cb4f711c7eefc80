import Support
import Testing

@testable import HTTPModel

@Suite("Printed filters")
struct FilterPrinterTests {
    @Test(
        "have a canonical form",
        arguments: [
            ("", ""), ("host:A  and path:/x", "host:a path:/x"), ("a or b c", "a or b c"), ("(a or b) c", "(a or b) c"),
            ("not (a b)", "!(a b)"), ("!!a", "a"), ("-a", "!a"), ("status:5xx", "status:500..599"),
            ("status:<400", "status:<=399"),
            ("size:>1mb", "size:>=1000001"), ("time:>0.5s", "time:>=500001us"),
            ("time:300..500ms", "time:300ms..500ms"),
            ("body:x host:y", "host:y body:x"), ("error", "is:error"), ("\"error\"", "\"error\""),
            ("\"and\"", "\"and\""),
            ("\"a b\"", "\"a b\""), ("type:js", "type:javascript"), ("header:\"X-A: b c\"", "header:x-a:\"b c\""),
            ("method:GET,POST", "method:get,post"), ("since:2026-11-21T12:00:00+02:00", "since:2026-11-21T10:00:00Z"),
            ("before:1m", "before:2026-11-21T11:59:00Z"), ("url:\"*a\"", "url:\"*a\""), ("url:*a", "url:*a"),
            ("url:*a*", "url:a"),
            ("a*b", "a*b"), ("*", "*"), ("http://x", "\"http://x\""), ("path:\"/a b*\"", "path:\"/a b*\""),
            ("path:/a\\ b*", "path:/a\\ b*"), ("grpc:Unavailable,>0", "grpc:14,>=1"), ("grpc:*", "grpc:*"),
            ("grpc:<=0", "grpc:0"), ("messages:>10", "messages:>=11"), ("\"status=404\"", "\"status=404\""),
            ("\"size>1\"", "\"size>1\""), ("url:status=404", "url:status=404"), ("id=5", "id=5"),
            ("*status=4*", "\"status=4\""), ("*status=?", "*status=?"), ("is:websocket,grpc", "is:websocket,grpc"),
            ("path:/a\\/b|c/", "path:/a\\/b|c/"), ("path:/users/", "path:/users/"), ("path:/v1/a+/", "path:/v1/a+/"),
            ("host:/A,b/,c", "host:/A,b/,c"), ("header:\"X-A\":/a b/ c", "c header:x-a:/a b/"),
            ("header:/a (b)/ c", "c header:*:/a (b)/"), ("header:/a/b", "header:/a/b"),
            ("body:/a (b)/ or x", "x or body:/a (b)/"), ("body:\"/a/\"", "body:\\/a/"),
            ("process:7,cURL", "process:7,curl"), ("path:/a", "path:/a"),
            ("host:bücher.test,xn--bcher-kva.test,a", "host:bücher.test,a"), ("host:é,é", "host:é"),
            ("trace-id:4BF92f35,*", "trace-id:4bf92f35*,*"), ("trace-id:?a*", "trace-id:?a*"),
            ("session:0F3b-", "session:0f3b-"), ("label:\"run=a b\",x=,a=b=c", "label:\"run=a b\",x=,a=b=c"),
            ("host:xn--9ca,é", "host:xn--9ca,é"), ("host:*.bü*.é", "host:*.bü*.é"),
        ]
    )
    func canonical(expression: String, expected: String) throws {
        let filter = try Filter(expression, clock: FilterFixture.clock)
        #expect(filter.description == expected)
        #expect(try Filter(expected, clock: FilterFixture.clock) == filter)
    }

    /// Expressions that are well formed, made at random.
    private static func expression(_ random: inout SplitMix, depth: Int) -> String {
        switch depth > 3 ? 0 : random.number(below: 6) {
        case 0, 1, 2: return term(&random)
        case 3: return ["!", "not ", "-"][random.number(below: 3)] + expression(&random, depth: depth + 4)
        default:
            let operands = (0...random.number(below: 3)).map { _ in expression(&random, depth: depth + 1) }
            return "(" + operands.joined(separator: [" ", " and ", " or "][random.number(below: 3)]) + ")"
        }
    }

    private static func term(_ random: inout SplitMix) -> String {
        let quotedText = { (random: inout SplitMix) in
            "\""
                + random.text(
                    of: [
                        "a", "B", " ", "*", "?", "[", "(", ",", ":", "\\\\", "\\\"", "\\n", "é", "!", "-", "host", "=",
                        ">",
                    ],
                    upTo: 6
                ) + "x\""
        }
        let plainText = { (random: inout SplitMix) in
            "y" + random.text(of: ["a", "B", "*", "?", "[", "]", "\\,", "\\ ", "\\*", "\\\\", "é", "/", "!"], upTo: 6)
        }
        let numbers = ["5", ">5", "<7", ">=0", "<=9", "3..8", "4..", "..6", "0", "0..5"]
        let number = numbers[random.number(below: numbers.count)]
        let text = random.number(below: 2) == 0 ? quotedText(&random) : plainText(&random)
        switch random.number(below: 8) {
        case 0: return text
        case 1: return "*" + plainText(&random)
        case 2:
            let keys = [
                "host", "path", "query", "url", "scheme", "method", "type", "ip", "client", "body", "reqbody",
                "resbody",
            ]
            return keys[random.number(below: keys.count)] + ":" + text
                + (random.number(below: 3) == 0 ? "," + plainText(&random) : "")
        case 3: return ["id:", "port:", "status:", "size:", "grpc:", "messages:"][random.number(below: 6)] + number
        case 4: return "time:" + [">5us", "<7.25s", "3..8ms", "4..", "..6m", ">=0", "1ms..1s"][random.number(below: 7)]
        case 5: return ["header:x-y", "reqheader:*z", "resheader:\"A-b\""][random.number(below: 3)] + ":" + text
        case 6:
            return ["since:", "before:"][random.number(below: 2)]
                + ["10m", "14:30:05.25", "2026-02-28", "2024-02-29T00:00Z"][random.number(below: 4)]
        default:
            return [
                "error", "is:tls,held", "version:h1", "version:1.0,h2,1.1", "is:client-tls", "grpc:aborted,*",
                "trace-id:0a,f*",
            ][
                random.number(below: 7)
            ]
        }
    }

    @Test("compile to an equal filter")
    func roundTrip() throws {
        let seed: UInt64 = 0x510C_E004
        var random = SplitMix(seed)
        for _ in 0..<5_000 {
            let expression = FilterPrinterTests.expression(&random, depth: 0)
            let filter = try Filter(expression, clock: FilterFixture.clock)
            let printed = filter.description
            let reread = try Filter(printed, clock: FilterFixture.clock)
            guard reread == filter, reread.description == printed else {
                Issue.record("seed \(seed): \(expression) printed \(printed), which printed \(reread)")
                return
            }
        }
    }

    @Test("of anything compile, and nothing crashes")
    func anything() throws {
        let seed: UInt64 = 0x510C_E005
        var random = SplitMix(seed)
        let alphabet =
            Filter.reference.map { $0.name + ":" } + [
                "(", ")", "!", "-", " ", " ", "\"", "\\", ",", "*", "?", "..", ">", "<", "=", "5", "xx", "kb", "ms",
                " and ", " or ", "not ",
                "a", "é", "\u{301}", "\r\n", ":", "//", "14:30", "2026-11-21", "T", "+", "h1", "json", "/", "[",
                "error", "tls", "status", "👩‍👩‍👧",
            ]
        let record = FilterFixture.record()
        let exchange = FilterFixture.exchange(record)
        var compiled = 0
        for _ in 0..<10_000 {
            let expression = random.text(of: alphabet, upTo: 8)
            do {
                let filter = try Filter(expression, clock: FilterFixture.clock)
                compiled += 1
                let passes = filter.matches(exchange, body: FilterFixture.body)
                if let decided = filter.decides(record) { #expect(decided == passes, "seed \(seed): \(expression)") }
                let reread = try Filter(filter.description, clock: FilterFixture.clock)
                #expect(reread.matches(exchange, body: FilterFixture.body) == passes, "seed \(seed): \(expression)")
            } catch {
                let place = "seed \(seed): \(expression)"
                #expect(error.column >= 1 && error.column <= expression.count + 1, "\(place)")
                #expect(error.pointing.contains("^"), "\(place)")
                #expect(error.expression == expression, "\(place) printed \(error.expression)")
            }
        }
        #expect(compiled > 1_000)
    }
}
