import HTTPModel
import Runner
import Testing

@testable import Console

@Suite("Linear mode: lines in, lines out")
struct LinearTests {
    // MARK: - Lines

    @Test("A line is a command's word, or an unmistakable beginning of it, and an argument")
    func orders() throws {
        #expect(try CommandCall("filter status:404") == CommandCall(.filter, "status:404"))
        #expect(try CommandCall("  FILT   host:a b \t") == CommandCall(.filter, "host:a b"))
        #expect(try CommandCall("list 5") == CommandCall(.list, "5"))
        #expect(try CommandCall("rule") == CommandCall(.ruleFromExchange))
        #expect(try CommandCall("#12") == CommandCall(.goTo, "#12"))
        for nothing in ["", "   ", "# a remark", "#"] { #expect(try CommandCall(nothing) == nil) }
    }

    @Test("An unknown or unclear word is refused, and the words that it may be are named")
    func unclear() {
        #expect(throws: ConsoleError.self) { try CommandCall("nonsense") }
        #expect(throws: ConsoleError.self) { try CommandCall("redraw") }
        let error = #expect(throws: ConsoleError.self) { try CommandCall("rep") }
        #expect(error?.description.contains("repeat, repeat-advanced") == true)
    }

    @Test("Lines come in any pieces, with either end; the last needs none; one that is too long is refused")
    func input() throws {
        var input = LinearInput(descriptor: -1)
        input.take("one\r\ntw".utf8)
        #expect(try input.next() == "one")
        #expect(try input.next() == nil)
        input.take("o\n\nthree".utf8)
        #expect(try input.next() == "two")
        #expect(try input.next() == "")
        input.take([UInt8](repeating: 0x61, count: LinearInput.longestLine + 1))
        input.take("b\nfour".utf8)
        #expect(!input.isOver)
        input.end()
        #expect(throws: ConsoleError.self) { try input.next() }
        #expect(try input.next() == "four")
        #expect(input.isOver)
    }

    @Test("Changes of a held message are words as in a shell")
    func holdWords() throws {
        let edit = try HoldWords.edit(
            #"method=PUT --header="X-Mode: a b" remove-header=Cookie query=a=1 status=201 json.a.b=x=y remove=cookie.b body='{"a": 1}'"#
        )
        #expect(edit.method == "PUT")
        #expect(edit.headers == [HoldEdit.Pair("X-Mode", "a b")])
        #expect(edit.removeHeaders == ["Cookie"])
        let values = [("req.query.a", "1"), ("json.a.b", "x=y"), ("cookie.b", nil)]
        #expect(edit.values == values.map { HoldEdit.ValueChange(place: $0.0, value: $0.1) })
        #expect(edit.status == 201)
        #expect(edit.body?.text == #"{"a": 1}"#)
        for wrong in ["PUT", "colour=red", "status=many", "body=\"open", "header=none", "body=@-"] {
            #expect(throws: (any Error).self, "\(wrong)") { try HoldWords.edit(wrong) }
        }
    }

    // MARK: - Sentences

    private func record(_ url: String, _ change: (inout ExchangeRecord) -> Void = { _ in }) throws -> ExchangeRecord {
        var record = ExchangeRecord(
            id: ExchangeID(12),
            kind: .http,
            startedAt: 0,
            method: "POST",
            url: try #require(RequestURL(url)),
            clientConnection: ConnectionID(1)
        )
        record.state = .complete
        record.status = 401
        record.timings.total = 230_400
        change(&record)
        return record
    }

    @Test("An exchange is one sentence, with what is special about it")
    func sentences() throws {
        let refused = try record("https://api.example.com/login")
        #expect(
            LinearSentence.text(refused)
                == "12, POST api.example.com/login, 401, 230 milliseconds, TLS"
        )
        let failed = try record("http://bad.example:81/") {
            $0.state = .failed
            $0.status = 0
            $0.failure = ExchangeFailure(.connect, "bad.example refused the connection.")
            $0.timings.total = 900
        }
        #expect(
            LinearSentence.text(failed, isMarked: true)
                == "12, POST bad.example:81/, failed: bad.example refused the connection, under 1 millisecond, marked"
        )
        let hostile = try record("https://a.example/") { $0.method = "G\u{1B}[2JT" }
        #expect(!LinearSentence.text(hostile).contains("\u{1B}"))
    }

    @Test(
        "Times are said in words",
        arguments: [
            (0, "under 1 millisecond"), (1_999, "1 millisecond"), (999_999, "999 milliseconds"),
            (1_250_000, "1.2 seconds"), (61_000_000, "1 minute 1 second"), (7_200_000_000, "120 minutes 0 seconds"),
        ] as [(Int64, String)]
    )
    func durations(microseconds: Int64, words: String) {
        #expect(LinearSentence.duration(microseconds) == words)
    }
}
