import HTTPModel
import Testing
import Text

@testable import Description

/// What of an exchange is shown when it is opened.
struct OpeningTests {
    private static let json =
        "HTTP/1.1 200 OK\r\nServer: s\r\nContent-Type: application/json\r\nSet-Cookie: a=1\r\n\r\n"

    private static func opened(
        _ exchange: RecordedExchange,
        _ source: BodySource = BodySource(),
        _ edit: (inout DetailOptions) -> Void = { _ in }
    ) -> DetailDocument {
        Example.document(.overview, exchange, source) {
            $0.isPageChosen = false
            edit(&$0)
        }
    }

    @Test func `the page that says most is shown where none was chosen`() {
        #expect(Self.opened(Example.exchange(response: Self.json)).page == .response)
        #expect(
            Self.opened(Example.exchange(response: "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")).page
                == .messages
        )
        #expect(DetailPage.best(of: [.overview, .request]) == .overview)
        #expect(Example.document(.request, Example.exchange(response: Self.json)).page == .request)
    }

    @Test func `messages open instead of the bytes that a page chosen for another exchange would show`() {
        let json = Example.exchange(response: Self.json)
        let socket = Example.exchange(response: "HTTP/1.1 101 Switching Protocols\r\n\r\n") {
            $0.record.kind = .webSocket
        }
        let call = Example.exchange(response: Self.json) { $0.record.flags = [.grpc] }
        let events = Example.exchange(response: "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
        func page(_ exchange: RecordedExchange, _ page: DetailPage, prefersMessages: Bool = true) -> DetailPage? {
            Example.document(page, exchange) { $0.prefersMessages = prefersMessages }.page
        }
        for exchange in [socket, call] {
            #expect(page(exchange, .response) == .messages && page(exchange, .request) == .messages)
            #expect(page(exchange, .response, prefersMessages: false) == .response)
            #expect(page(exchange, .overview) == .overview)
        }
        // These can be read as they are.
        #expect(page(json, .response) == .response && page(events, .response) == .response)
    }

    @Test func `request and response are as wide as their halves, and other pages as wide as both`() {
        let source = BodySource()
        let exchange = Example.exchange(response: Self.json)
        var options = DetailOptions(page: .response)
        (options.width, options.besideWidth) = (160, 78)
        source.set(.responseReceived, (0..<64).map { UInt8($0) })
        options.bodyForm = .hex
        let builder = DetailBuilder(exchange, source: source)
        let response = builder.document(options)
        let widest = response.lines.map { $0.plain.columns }.max() ?? 0
        #expect((60...78).contains(widest), "\(widest)")
        #expect(builder.beside(.response, options, DetailBudget())?.page == .request)
        #expect(builder.beside(.request, options, DetailBudget())?.page == .response)
        #expect(builder.beside(.overview, options, DetailBudget()) == nil)
        options.besideWidth = nil
        #expect(builder.beside(.response, options, DetailBudget()) == nil)
        let unanswered = DetailBuilder(Example.exchange { $0.messages.responseHead = nil }, source: source)
        options.besideWidth = 78
        #expect(unanswered.beside(.request, options, DetailBudget()) == nil)
    }

    @Test func `where there are few rows, all but the body is in single lines`() {
        let source = BodySource()
        source.set(.responseReceived, #"{"v":1}"#.utf8)
        let document = Self.opened(Example.exchange(response: Self.json), source) { $0.isShort = true }
        let shown = document.folded(document.initialFolds).map { number in
            let spans =
                document.initialFolds.contains(number)
                ? document.lines[number].foldedSpans : document.lines[number].spans
            return spans.map(\.text).joined()
        }
        #expect(shown.count == 7, "\(shown)")
        #expect(shown[0].hasPrefix("HTTP/1.1 200 OK  "))
        #expect(shown[1].hasPrefix("Headers  3 lines  content-type: application/json · server: s"))
        #expect(shown[2].hasPrefix("Cookies set  1  a"))
        #expect(shown[3].hasPrefix("Body") && shown[4] == "{" && shown[6] == "}")
        #expect(document.lines.contains { $0.plain == "  Server        s" })
        for width in [40, 60, 80] {
            let document = Self.opened(Example.exchange(response: Self.json), source) {
                ($0.isShort, $0.width) = (true, width)
            }
            for line in document.initialFolds {
                let columns = document.lines[line].foldedSpans.reduce(0) { $0 + $1.text.columns }
                #expect(columns <= max(width, 50), "\(width)")
            }
        }
    }

    @Test func `a text of a body is on the page that is shown, laid out or else raw`() {
        let source = BodySource()
        let exchange = Example.exchange(response: Self.json)
        source.set(.responseReceived, #"{"value":"straw","other":[1]}"#.utf8)
        source.set(.requestReceived, "a NEEDLE in it".utf8)
        func hit(_ text: String, _ edit: (inout DetailOptions) -> Void = { _ in }) -> DetailDocument {
            Self.opened(exchange, source) {
                $0.bodyText = text
                edit(&$0)
            }
        }
        #expect(hit("needle").page == .request)
        let laidOut = hit("STRAW")
        #expect(laidOut.page == .response && laidOut.bodyForm == .pretty)
        let raw = hit(#""value":"straw""#)
        #expect(raw.page == .response && raw.bodyForm == .raw)
        // Only bodies count, and where no page has it, the one that says most is shown.
        #expect(hit("application/json").page == .response)
        #expect(hit("nowhere").page == .response)
        #expect(hit("STRAW") { ($0.page, $0.isPageChosen) = (.request, true) }.page == .response)
    }

    @Test func `the newest messages of a long stream are shown, with names that stay`() {
        let source = BodySource()
        let exchange = Example.exchange(response: "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n") {
            $0.record.tally.fromServer = 1000
        }
        source.set(.responseReceived, (0..<1000).map { "data: n\($0)\n\n" }.joined().utf8)
        let newest = Example.document(.messages, exchange, source) { $0.showsNewest = true }
        #expect(newest.messages == MessageWindow(range: 800..<1000, hasMore: false))
        #expect(newest.lines.last?.plain.hasSuffix("  n999") == true && newest.lines.last?.name == "message 1000")
        #expect(newest.lines[1].plain == "800 earlier messages not shown")
        let middle = Example.document(.messages, exchange, source) { $0.firstMessage = 300 }
        #expect(middle.messages == MessageWindow(range: 300..<500, hasMore: true))
        #expect(middle.lines.first { $0.name == "message 301" }?.plain.hasSuffix("  n300") == true)
    }
}
