import Foundation
import HTTPModel
import Terminal

@testable import Console
@testable import Description
@testable import Runner

/// Models to look at, and the keys that lead to them.
enum ModelFixture {
    static let now: Int64 = 1_790_000_060_000_000

    /// A console that has just started: the proxy runs, nothing has come.
    static func started(_ size: Size, source: ConsoleModel.Source = .live, look: Look = Look()) -> ConsoleModel {
        var model = ConsoleModel(source: source, size: size, look: look)
        _ = model.update(.tick(now))
        _ = model.update(.ready(authority: "/home/ann/.local/share/sluice/ca.pem"))
        _ = model.update(.proxy(status(), []))
        return model
    }

    static func status(_ tools: [ToolState] = [], address: String = "127.0.0.1:8080") -> ControlStatus {
        ControlStatus(version: "1", address: address, pid: 7, session: "/tmp/today.sluice", tools: tools)
    }

    /// A console with these exchanges, the last one newest and selected.
    static func listing(
        _ records: [ExchangeRecord],
        _ size: Size,
        source: ConsoleModel.Source = .live,
        look: Look = Look()
    ) -> ConsoleModel {
        var model = started(size, source: source, look: look)
        answer(&model, records)
        return model
    }

    /// Answers as the session does: the list has these exchanges.
    static func answer(_ model: inout ConsoleModel, _ records: [ExchangeRecord]) {
        let generation = model.list.generation
        let status = ListStatus(generation: generation, total: records.count, sessionTotal: records.count)
        _ = model.update(.query(.list(status)))
        _ = model.update(.query(.rows(generation: generation, first: 0, records.reversed())))
    }

    static func record(
        _ number: Int64,
        _ method: String = "GET",
        _ url: String = "https://api.example.com/v1/items",
        status: Int = 200,
        _ change: (inout ExchangeRecord) -> Void = { _ in }
    ) -> ExchangeRecord {
        var record = ExchangeRecord(
            id: ExchangeID(number),
            kind: .http,
            startedAt: now - 60_000_000 + number % 1_000 * 1_000_000,
            method: method,
            url: RequestURL(url) ?? RequestURL(scheme: "http", host: "wrong", port: 80, path: "/"),
            clientConnection: ConnectionID(1)
        )
        record.state = .complete
        record.status = status
        record.mediaType = "application/json"
        record.sizes.responseBody = 1_234
        record.timings.total = 23_400
        change(&record)
        return record
    }

    static func plain(_ count: Int) -> [ExchangeRecord] {
        (0..<count).map { record(Int64($0 + 1), "GET", "https://api.example.com/v1/items/\($0 + 1)") }
    }

    /// One of each kind that a list may have to show.
    static let mixed: [ExchangeRecord] = [
        record(1, "GET", "https://h2.example.com/style.css") {
            $0.clientVersion = .http2
            $0.mediaType = "text/css"
        },
        record(2, "GET", "https://chat.example.com/socket", status: 101) { $0.kind = .webSocket },
        record(3, "CONNECT", "https://pinned.example.com/", status: 0) { $0.kind = .tunnel },
        record(4, "GET", "https://down.example.com/", status: 0) { $0.state = .failed },
        record(5, "GET", "https://ads.example.com/track.gif", status: 403) { $0.state = .blocked },
        record(6, "POST", "https://api.example.com/slow", status: 0) {
            $0.state = .inFlight
            $0.timings.total = nil
        },
        record(7, "PUT", "https://api.example.com/held", status: 0) {
            $0.state = .inFlight
            $0.flags = .held
            $0.timings.total = nil
        },
        record(9_007_199_254_740_993, "GET", "https://big.example.com/file", status: 206) {
            $0.sizes.responseBody = .max
            $0.timings.total = .max / 4
            $0.startedAt = now
        },
        record(9, "GET", "https://wide.example.com/日本語/文字化け?q=値") { $0.flags = .responseChanged },
        record(10, "GET", "https://marks.example.com/a\u{301}e\u{308}\u{20DD}/👩‍👩‍👧‍👦/🇩🇪", status: 404),
        record(11, "G\u{1B}[31mET", "https://bad.example.com/\u{1B}]0;title\u{7}/\u{202E}abc\u{0}", status: 500),
        record(12, "GET", "http://localhost:58521/a/rather/long/path/to/something/that/does/not/fit?and=a&query=too"),
        record(13, "GET", "https://a-very-long-host-name.of-a-region.of-a-provider.example.com:8443/", status: 302),
        record(14, "GET", "https://fail.example.com/", status: 0) {
            $0.kind = .failedHandshake
            $0.state = .failed
        },
    ]

    static func hold(
        _ id: String,
        _ side: String = "request",
        _ url: String = "https://api.example.com/held"
    )
        -> HoldSummary?
    {
        let text = #"{"id":"\#(id)","side":"\#(side)","method":"PUT","url":"\#(url)","age":12.5}"#
        return try? JSONDecoder().decode(HoldSummary.self, from: Data(text.utf8))
    }

    static let document = DetailDocument(lines: [
        DetailLine([Span("Request", .heading)]),
        DetailLine(
            [Span("request         ", .label), Span("GET https://api.example.com/v1/items?page=2", .link)],
            indent: 2
        ),
        DetailLine(
            [
                Span("remark          ", .label),
                Span("the host is what the client asked for and the port is the proxy's own, so both are shown here"),
            ],
            indent: 2
        ),
        DetailLine([Span("{", .punctuation)], fold: Fold(end: 6, summary: "{ 2 members }")),
        DetailLine([Span("\"name\"", .key), Span(": "), Span("\"値と文字\"", .string)], indent: 2),
        DetailLine([Span("\"count\"", .key), Span(": "), Span("12", .number)], indent: 2),
        DetailLine([Span("}", .punctuation)]),
    ])

    static let rules = """
        version: 1
        block:
          - name: trackers
            at: "*.doubleclick.net"
          - name: advertisements with a rather long name that leaves little room
            at: "ads.example.com/*"
            enabled: false
        """
}

extension ConsoleModel {
    /// Presses keys, each in the words of the key file; returns what the last one asks for.
    @discardableResult
    mutating func press(_ keys: String...) -> [Effect] {
        var effects: [Effect] = []
        for key in keys.compactMap({ Key(spelling: $0) }) { effects = update(.input(.key(key))) }
        return effects
    }

    /// Types a text, character by character; returns what the last one asks for.
    @discardableResult
    mutating func type(_ text: String) -> [Effect] {
        var effects: [Effect] = []
        for character in text { effects = update(.input(.key(Key(.character(character))))) }
        return effects
    }

    /// Takes the result of an effect as the console does.
    @discardableResult
    mutating func answer<Result>(_ change: (inout ConsoleModel) -> Result) -> [Effect] {
        let before = Layout(self).list
        let effects = change(&self) as? [Effect] ?? []
        if Layout(self).list != before { revealAll() }
        return effects
    }

    /// The words that were told last.
    var told: String { notices.last?.text ?? "" }
}
