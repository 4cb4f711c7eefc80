import Content
import Description
import Formats
import Foundation
import HTTPModel
import NIOCore
import ProxyServer
import Recording
import Support
import Testing

@testable import Clients
@testable import Jobs

@Suite("What a replay answers, in which order, and what it says of the rest")
struct ReplaySequenceTests {
    private typealias Entry = ReplayRecording.Entry
    private let url = "https://h.example/"

    @Test("the same request gets one recorded answer after the other, then the last one again, or none")
    func sequence() throws {
        let recording = try ReplayRecording([
            Entry(answer: "a"), Entry(url: "https://h.example/other"), Entry(answer: "b"), Entry(answer: "c"),
        ])
        let replay = try recording.replay()
        #expect(try (0..<5).map { _ in try replay.found("GET", url) } == [1, 3, 4, 4, 4])
        #expect(replay.summary.hasPrefix("sluice: replay: 5 answers from 3 recorded exchanges, no misses; 1 recorded"))
        for once in [
            try recording.replay { $0.givesOnce = true }, try recording.replay("replay: { after-last: miss }"),
        ] {
            #expect(try (0..<3).map { _ in try once.found("GET", url) } == [1, 3, 4])
            let miss = try once.missed("GET", url)
            #expect(miss.code == .notRecorded)
            #expect(miss.message == "All 3 recorded answers were given already to GET \(url) (exchanges 1, 3, 4).")
            #expect(once.misses == 1)
        }
    }

    @Test("304 and 206 answer the conditions and ranges that they were for, and no others")
    func conditions() throws {
        let replay = try ReplayRecording([
            Entry(answer: "whole"), Entry(fields: "If-None-Match: \"v1\"\r\n", status: 304),
            Entry(fields: "Range: bytes=0-1\r\n", status: 206, answer: "wh"), Entry(answer: "later"),
        ]).replay()
        #expect(try replay.found("GET", url, [("If-None-Match", "\"v1\"")]) == 1)
        #expect(try replay.found("GET", url, [("If-None-Match", "\"v1\"")]) == 2)
        #expect(try replay.found("GET", url, [("Range", "bytes=0-1")]) == 3)
        #expect(try replay.found("GET", url, [("Range", "bytes=0-2")]) == 4)
        #expect(try replay.found("GET", url, [("If-None-Match", "\"v2\"")]) == 4)
        #expect(try replay.found("GET", url) == 4)
        let only = try ReplayRecording([Entry(fields: "If-None-Match: \"v1\"\r\n", status: 304)]).replay()
        let miss = try only.missed("GET", url, [("If-None-Match", "\"v2\"")])
        let nearest = "The nearest is exchange 1, the same request: the answer was 304, for its condition: "
        #expect(miss.hint == nearest + #"req.header.if-none-match is "\"v2\"", recorded "\"v1\""."#)
        #expect(try only.found("GET", url) == nil)
    }

    @Test("HEAD is answered by a recorded HEAD, else by the GET whose turn it is, which stays its turn")
    func heads() throws {
        let replay = try ReplayRecording([
            Entry(answer: "a"), Entry(answer: "b"), Entry(method: "HEAD", url: "https://h.example/2"),
            Entry(url: "https://h.example/2"), Entry(method: "POST", url: "https://h.example/3"),
        ]).replay()
        #expect(try replay.found("HEAD", url) == 1)
        #expect(try replay.found("GET", url) == 1)
        #expect(try replay.found("HEAD", url) == 2)
        #expect(try replay.found("GET", url) == 2)
        #expect(try replay.found("HEAD", "https://h.example/2") == 3)
        #expect(try replay.found("HEAD", "https://h.example/3") == nil)
        let request = try ReplayRecording.request("HEAD", url)
        #expect(
            try replay.open(ExchangeID(1), for: request).notes == [
                "answered from the recording: the head of exchange 1, a GET"
            ]
        )
    }

    @Test("A recording, or what a filter leaves of it, without any answer is a problem that says why")
    func withoutAnswers() throws {
        let recording = try ReplayRecording([Entry(answer: "a"), Entry(url: "https://h.example/f", state: .failed)])
        #expect(try recording.replay().problem == nil)
        #expect(try recording.replay(filter: "id:1").problem == nil)
        let none = try recording.replay(filter: "id:9").problem
        #expect(none?.message.hasPrefix("No exchange of ") == true && none?.isUsage == false)
        let failed = try recording.replay(filter: "id:2").problem?.message ?? ""
        #expect(
            failed.hasSuffix(
                " has no answers; left out: 1 that failed, 1 that were not chosen."
            ),
            "\(failed)"
        )
    }

    @Test("what is not whole does not answer, and is counted at the start and named to who asks for it")
    func leftOut() throws {
        let replay = try ReplayRecording([
            Entry(url: "https://h.example/failed", state: .failed),
            Entry(url: "https://h.example/blocked", state: .blocked),
            Entry(url: "https://h.example/open", state: .interrupted),
            Entry(url: "https://h.example/dropped", flags: .responseBodyIncomplete),
            Entry(url: "https://h.example/short", answerFields: "Content-Length: 9\r\n", answer: "short"),
            Entry(url: "https://h.example/tls", flags: .endedWithoutCloseNotify),
            Entry(url: "https://h.example/ws", status: 101, kind: .webSocket),
            Entry(url: "https://h.example/fine", answerFields: "Content-Length: 4\r\n", answer: "fine"),
        ]).replay()
        #expect(replay.opening.contains("1 answer to 1 request; left out: 1 that failed, 1 that a rule blocked, "))
        #expect(replay.opening.contains("1 that did not end, 3 with an incomplete body, 1 WebSocket\n"))
        for (path, why) in [
            ("failed", "it failed"), ("blocked", "a rule blocked it"), ("open", "it did not end"),
            ("dropped", "its body was not recorded whole"), ("short", "its body was"), ("tls", "its body was"),
            ("ws", "it is a WebSocket, and those are not replayed"),
        ] {
            let miss = try replay.missed("GET", "https://h.example/\(path)")
            #expect(miss.hint.contains("the same request: \(why)"), "\(miss.hint)")
        }
        #expect(try replay.found("GET", "https://h.example/fine") == 8)
        #expect(replay.misses == 7)
    }

    @Test("A body that an archive does not have does not answer as though it were empty")
    func archives() throws {
        func entry(_ path: String, _ content: String) -> String {
            """
            {"startedDateTime":"2026-11-23T00:00:00Z","time":1,"request":{"method":"GET",\
            "url":"https://h.example/\(path)","httpVersion":"HTTP/1.1","headers":[]},"response":{"status":200,\
            "statusText":"OK","httpVersion":"HTTP/1.1","headers":[],"content":\(content)},"timings":{}}
            """
        }
        let scratch = try Scratch()
        let entries = [
            entry("whole", #"{"size":2,"mimeType":"text/plain","text":"hi"}"#),
            entry("missing", #"{"size":10,"mimeType":"text/plain"}"#), entry("empty", #"{"size":0,"mimeType":""}"#),
        ].joined(separator: ",")
        let har = try scratch.write("a.har", #"{"log":{"version":"1.2","entries":["# + entries + "]}}")
        let replay = try Replay(har)
        #expect(replay.opening.hasSuffix("2 answers to 2 requests; left out: 1 with an incomplete body\n"))
        let id = try #require(try replay.found("GET", "https://h.example/whole"))
        let answer = try replay.open(ExchangeID(id), for: try ReplayRecording.request("GET", "https://h.example/whole"))
        #expect(answer.beginning == ByteBuffer(string: "hi"))
        #expect(try replay.missed("GET", "https://h.example/missing").hint.contains("its body was not recorded whole"))
    }

    @Test("A miss names the nearest recorded request and what differs, with both values; the summary counts them")
    func nearest() throws {
        let replay = try ReplayRecording([
            Entry(url: "https://h.example/users/7/orders?page=1&size=10"),
            Entry(url: "https://h.example/users/7/orders?page=2&size=10"),
            Entry(
                method: "POST",
                url: "https://h.example/login",
                fields: "Content-Type: application/json\r\n",
                body: #"{"user":"ada","mode":1}"#
            ),
            Entry(url: "https://other.example/users/7/orders?page=3&size=10"),
        ]).replay()
        let page = try replay.missed("GET", "https://h.example/users/7/orders?size=10&page=3")
        #expect(page.message == "Nothing recorded answers GET https://h.example/users/7/orders?size=10&page=3.")
        #expect(
            page.hint
                == "The nearest is exchange 1, GET https://h.example/users/7/orders?page=1&size=10: req.query.page is \"3\", recorded \"1\"."
        )
        let more = try replay.missed("GET", "https://h.example/users/7/orders?size=10&page=2&sort=x")
        #expect(
            more.hint.hasPrefix("The nearest is exchange 2,")
                && more.hint.contains("req.query.sort is \"x\", recorded without it")
        )
        let path = try replay.missed("GET", "https://h.example/users/8/orders?page=2&size=10")
        #expect(
            path.hint.contains("exchange 2,")
                && path.hint.contains("req.path is \"/users/8/orders\", recorded \"/users/7/orders\"")
        )
        let body = try replay.missed(
            "POST",
            "https://h.example/login",
            [("Content-Type", "application/json")],
            body: #"{"user":"bob","mode":"1"}"#
        )
        #expect(body.hint.contains("exchange 3,"), "\(body.hint)")
        #expect(
            body.hint.hasSuffix(#": req.json.user is "bob", recorded "ada"; req.json.mode differs too."#),
            "\(body.hint)"
        )
        let method = try replay.missed("DELETE", "https://h.example/login")
        #expect(method.hint.contains("req.method is \"DELETE\", recorded \"POST\""))
        _ = try replay.missed("DELETE", "https://h.example/login")
        let summary = replay.summary
        #expect(
            summary.hasPrefix(
                "sluice: replay: 0 answers from 0 recorded exchanges, 6 misses; 4 recorded exchanges were not asked for\n"
            )
        )
        #expect(summary.contains("sluice: miss: DELETE https://h.example/login: The nearest is exchange 3, POST"))
        #expect(summary.contains(" (2 times)\n") && summary.split(separator: "\n").count == 6)
        let empty = try ReplayRecording([]).replay()
        #expect(try empty.missed("GET", url).message.hasSuffix("the recording has no requests."))
    }

    @Test("The nearest is found by the URL as it is compared, and a long name is told by its beginning")
    func nearestAsCompared() throws {
        let name = String(repeating: "n", count: 5_000)
        let values = (0..<200).map(String.init).joined(separator: ",")
        let replay = try ReplayRecording([
            Entry(url: "https://h.example/A~b/list?page=1"), Entry(url: "https://h.example/a%7eb/list?page=1"),
            Entry(
                method: "POST",
                url: "https://h.example/long",
                fields: "Content-Type: application/json\r\n",
                body: "{\"\(name)\":[\(values)],\"\(name)m\":1}"
            ),
        ]).replay()
        let path = try replay.missed("GET", "https://h.example/a~b/list?page=2")
        #expect(path.hint.hasPrefix("The nearest is exchange 2,") && path.hint.contains("req.query.page"))
        let fields = [("Content-Type", "application/json")]
        let long = "{\"\(name)m\":1,\"\(name)\":[\(values),7]}"
        let body = try replay.missed("POST", "https://h.example/long", fields, body: long)
        #expect(body.hint.contains("req.json.nnnn") && body.hint.contains("…"), "\(body.hint)")
        #expect(body.hint.utf8.count < 500)
        #expect(body.hint.contains("is 7, recorded without it"), "\(body.hint)")
        let query = try replay.missed("GET", "https://h.example/a~b/list?\(name)=1")
        #expect(query.hint.utf8.count < 500, "\(query.hint)")
    }

    @Test("An answer has the head, the body and the trailers as they were received; dates move where that is asked for")
    func answers() throws {
        let fields =
            "Date: Sun, 06 Nov 1994 08:49:37 GMT\r\nExpires: 0\r\nVary: Accept-Language\r\n"
            + "Set-Cookie: a=1; expires=Mon, 07-Nov-94 08:49:37 GMT; Path=/\r\n"
        let recording = try ReplayRecording([
            Entry(fields: "Accept-Language: de\r\n", answerFields: fields, answer: "body", wait: 40_000)
        ])
        let request = try ReplayRecording.request("GET", url)
        let plain = try recording.replay().open(ExchangeID(1), for: request)
        #expect(plain.head.serialized() == ByteBuffer(string: "HTTP/1.1 200 X\r\n\(fields)\r\n"))
        #expect(plain.bodySize == 4 && plain.beginning == ByteBuffer(string: "body") && plain.delay == .zero)
        #expect(plain.notes.count == 2 && plain.notes[1].contains("varies by accept-language"))
        let later = try recording.replay { options in
            options.refreshesDates = true
            options.timing = 0.5
        }
        let moved = try later.open(ExchangeID(1), for: request)
        #expect(moved.delay == .milliseconds(20) && moved.head.fields.value(of: "expires") == "0")
        let shift = Int64(Date().timeIntervalSince1970) - ReplayRecording.start / 1_000_000
        let date = try #require(moved.head.fields.value(of: "date").flatMap { Self.seconds($0) })
        #expect(abs(date - 784_111_777 - shift) < 60)
        let cookie = try #require(moved.head.fields.value(of: .setCookie))
        let end = try #require(Self.seconds(String(cookie.dropFirst(13).dropLast(8))))
        #expect(abs(end - 784_198_177 - shift) < 60 && cookie.hasPrefix("a=1; expires="), "\(cookie)")
        #expect(cookie.hasSuffix(" GMT; Path=/"))
        #expect(moved.head.received == moved.head.serialized())
    }

    @Test("With recorded delays the parts of a stream come when they came")
    func pace() throws {
        let replay = try ReplayRecording([
            Entry(answer: "onetwo", wait: 10_000, arrivals: [(0, 10_000), (3, 60_000)])
        ]).replay { $0.timing = 2 }
        let answer = try replay.open(ExchangeID(1), for: try ReplayRecording.request("GET", url))
        #expect(answer.delay == .milliseconds(20) && answer.beginning.readableBytes == 0)
        #expect(answer.arrivals.map(\.offset) == [0, 3])
        #expect(answer.arrivals.map(\.after) == [.zero, .milliseconds(100)])
    }

    @Test(
        "HTTP dates are read in their three forms and written in one",
        arguments: [
            ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777), ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
            ("Sun Nov  6 08:49:37 1994", 784_111_777), ("Thu, 01 Jan 1970 00:00:00 GMT", 0),
            ("Wed, 29 Feb 2040 23:59:59 GMT", 2_214_172_799),
        ]
    )
    func dates(text: String, seconds: Int64) throws {
        #expect(Self.seconds(text) == seconds)
        let written = try #require(HTTPDate.text(seconds))
        #expect(Self.seconds(written) == seconds)
        if text.hasSuffix("GMT"), !text.contains("-") { #expect(HTTPDate.text(seconds) == text) }
    }

    @Test(
        "What is no date is not taken for one",
        arguments: ["0", "-1", "", "Sun, 06 Nov 1994", "06 Nov 1994 25:00:00 GMT", "Sun, 06 Foo 1994 08:49:37 GMT"]
    )
    func noDates(text: String) { #expect(Self.seconds(text) == nil) }

    private static func seconds(_ date: String) -> Int64? { CookieDate.microseconds(date).map { $0 / 1_000_000 } }
}
