import HTTPModel
import NIOCore
import Testing

@testable import Clients
@testable import Jobs

@Suite("Which exchanges are sent again")
struct RepeatSelectionTests {
    private func exchange(
        _ kind: ExchangeRecord.Kind = .http,
        method: String = "POST",
        scheme: String = "https",
        head: String? = "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 5\r\n\r\n",
        _ change: (inout ExchangeRecord) -> Void = { _ in }
    ) -> RecordedExchange {
        var record = ExchangeRecord(
            id: ExchangeID(3),
            kind: kind,
            startedAt: 0,
            method: method,
            url: RequestURL(scheme: scheme, host: "h", port: 443, path: "/"),
            clientConnection: ConnectionID(1)
        )
        record.state = .complete
        change(&record)
        var messages = ExchangeMessages()
        messages.requestHead = head.map { ByteBuffer(string: $0) }
        return RecordedExchange(record: record, messages: messages)
    }

    private func reason(_ exchange: RecordedExchange, size: Int64 = 5, asSent: Bool = false) -> String? {
        RepeatSelection.reason(against: exchange, bodySize: size, asSent: asSent)
    }

    @Test("are those with a whole request; each other one has its reason")
    func reasons() {
        #expect(reason(exchange()) == nil)
        #expect(reason(exchange(.tunnel))?.hasPrefix("a tunnel") == true)
        #expect(reason(exchange(.decryptedTunnel))?.hasPrefix("a tunnel") == true)
        #expect(reason(exchange(.failedHandshake))?.contains("TLS handshake") == true)
        #expect(reason(exchange(.malformed))?.contains("not a request") == true)
        #expect(reason(exchange(.upgraded))?.contains("upgrade") == true)
        #expect(reason(exchange(.webSocket)) == "a WebSocket")
        #expect(reason(exchange(method: "CONNECT"))?.hasPrefix("a tunnel") == true)
        #expect(reason(exchange(scheme: "tunnel")) == "its request is not in the session")
        #expect(reason(exchange(head: nil)) == "its request is not in the session")
        #expect(reason(exchange { $0.state = .inFlight }) == "it is still in flight")
        #expect(reason(exchange { $0.flags = .requestBodyIncomplete })?.contains("not recorded completely") == true)
    }

    @Test("are not those whose client went away within the request; whose answer failed they are")
    func cut() {
        let chunked = "POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
        func failed(_ code: ExchangeFailure.Code, head: String? = nil) -> RecordedExchange {
            let change: (inout ExchangeRecord) -> Void = {
                $0.state = .failed
                $0.failure = ExchangeFailure(code, "x")
            }
            return head.map { exchange(.http, head: $0, change) } ?? exchange(.http, change)
        }
        #expect(reason(failed(.clientGone), size: 4) == "its request is incomplete")
        #expect(reason(failed(.reset), size: 4) == "its request is incomplete")
        #expect(reason(failed(.clientGone), size: 5) == nil)
        #expect(reason(failed(.reset)) == nil)
        #expect(reason(failed(.clientGone, head: chunked)) == "its request is incomplete")
        #expect(reason(failed(.timeout, head: chunked)) == nil)
        #expect(reason(failed(.clientGone, head: "GET / HTTP/1.1\r\nHost: h\r\n\r\n"), size: 0) == nil)
        // An archive has bodies without the coding that their length was of.
        #expect(reason(exchange(), size: 900) == nil)
    }

    @Test("as they were sent are none that a tool answered")
    func answered() {
        let blocked = exchange {
            $0.state = .blocked
            $0.flags = .answeredLocally
        }
        #expect(reason(blocked) == nil)
        #expect(reason(blocked, asSent: true)?.contains("a rule answered it") == true)
        let unreachable = exchange {
            $0.state = .failed
            $0.flags = .answeredLocally
            $0.failure = ExchangeFailure(.connect, "x")
        }
        #expect(reason(unreachable, asSent: true) == nil)
    }

    @Test(
        "are chosen by numbers as the list prints them, or by a filter",
        arguments: [
            ("12", "id:12..12"), ("3-7,9 #11", "id:3..7 or id:9..9 or id:11..11"), ("host:a.example", "host:a.example"),
        ]
    )
    func numbers(words: String, filter: String) throws {
        let parts = words.split(separator: " ").map(String.init)
        #expect(try SessionQuery.exchanges(parts) == SessionQuery.filter(filter))
        #expect(throws: StartError.self) { try SessionQuery.exchanges(["nokey:1"]) }
    }

    @Test(
        "are not chosen by what looks like numbers and is none; it says what to write",
        arguments: [
            ("0", "Exchanges are counted from 1; write 12, or 3-7,9. To search it in URLs, write url:0"),
            ("1-", "Write id:1.. for 1 and later. To search it in URLs, write url:1-"),
            ("-3", "Write 1-3. To search it in URLs, write url:-3"),
            ("1 5-2", "Write 2-5. To search it in URLs, write url:5-2"),
            ("#0-3", "Exchanges are counted from 1; write 12, or 3-7,9. To search it in URLs, write url:#0-3"),
            ("1-2-3", "Exchanges are counted from 1; write 12, or 3-7,9. To search it in URLs, write url:1-2-3"),
        ]
    )
    func noNumbers(words: String, hint: String) throws {
        let error = #expect(throws: StartError.self) {
            try SessionQuery.exchanges(words.split(separator: " ").map(String.init))
        }
        #expect(error?.isUsage == true && error?.hint == hint, "\(String(describing: error))")
        let word = try #require(hint.split(separator: " ").last).description
        #expect(try SessionQuery.exchanges([word]) == SessionQuery.filter(word))
    }

    @Test("are chosen by a filter whose words have digits", arguments: ["v1", "2/3", "url:0", "0 host:a.example"])
    func digits(words: String) throws { #expect(try SessionQuery.exchanges([words]) == SessionQuery.filter(words)) }
}
