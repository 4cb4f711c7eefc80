import HTTPModel
import NIOCore
import ProxyServer
import Support
import Testing

@Suite("Clients that send their beginnings byte by byte")
struct HeadTimeoutTests {
    private static let hello = "\u{16}\u{3}\u{1}\u{20}\u{0}\u{1}\u{0}\u{1F}\u{7C}\u{3}\u{3}"
    private static let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    private static let settings = "\u{0}\u{0}\u{0}\u{4}\u{0}\u{0}\u{0}\u{0}\u{0}"
    /// HEADERS of 16,384 bytes, whose first field has a value of 254.
    private static let head =
        "\u{0}\u{40}\u{0}\u{1}\u{4}\u{0}\u{0}\u{0}\u{1}" + "\u{0}\u{1}x\u{7F}\u{7F}"

    @Test(
        "The time for a head, a TLS hello or a preface counts from the first byte, not from the last",
        arguments: [
            ("GET http://h.example/ HTTP/1.1\r\nX: ", "request head was not complete 0.5 s"),
            (hello, "TLS handshake was not complete 0.5 s"),
            (preface + settings + head, "not complete 0.5 s"),
            (preface + "\u{0}\u{0}\u{7E}\u{4}\u{0}\u{0}\u{0}\u{0}\u{0}", "not complete 0.5 s"),
        ]
    )
    func trickle(beginning: String, failure: String) async throws {
        var timeouts = ProxyConfiguration.Timeouts()
        timeouts.requestHead = .milliseconds(500)
        try await LoopbackProxy.run(timeouts: timeouts) { proxy in
            let client = try await proxy.connect()
            try await client.send(beginning)
            // Some seconds of bytes; the limits are looked at once a second.
            for _ in 0..<240 where proxy.recorder.finished.isEmpty {
                try? await client.send("a")
                try await Task.sleep(for: .milliseconds(50))
            }
            let finished = try #require(proxy.recorder.finished.first)
            #expect(finished.record.failure?.message.contains(failure) == true, "\(finished.record)")
            try await eventually("the connection ends") { client.isClosed }
        }
    }

    @Test(
        "A server whose head is not whole in time fails with these words, and with others where it is silent",
        arguments: [
            (
                "HTTP/1.1 200 OK\r\nX: y",
                "The response's head was not complete within 0.5 seconds: 21 bytes of it had come from"
            ),
            ("", "Nothing happened for 0.5 seconds while waiting for"),
        ],
        [true, false]
    )
    func response(server: (answer: String, words: String), isIdle: Bool) async throws {
        let origin = try await LoopbackOrigin { _ in server.answer }
        var timeouts = ProxyConfiguration.Timeouts()
        if isIdle { timeouts.idle = .milliseconds(500) } else { timeouts.response = .milliseconds(500) }
        try await LoopbackProxy.run(timeouts: timeouts) { proxy in
            let client = try await proxy.ask(origin)
            try await client.receives("HTTP/1.1 504 ")
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            let failure = try #require(proxy.recorder.finished.first?.record.failure)
            #expect(failure.code == .timeout)
            #expect(failure.message == "\(server.words) the server 127.0.0.1:\(origin.port).")
            #expect(failure.hint.contains(isIdle ? "--idle-timeout" : "--response-timeout"), "\(failure)")
        }
    }

    @Test("A client that resets in the middle of a head is recorded with what it had sent")
    func reset() async throws {
        let origin = try await LoopbackOrigin { _ in "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" }
        try await LoopbackProxy.run { proxy in
            let client = try await EndingClient(port: proxy.port)
            let url = "http://127.0.0.1:\(origin.port)/"
            // The answer to the first shows that the second's beginning was read.
            try await client.send("GET \(url) HTTP/1.1\r\nHost: x\r\n\r\nGET \(url)half HTTP/1.1\r\nHo")
            try await client.receives("ok")
            try await client.end(.reset)
            try await eventually("both are recorded") { proxy.recorder.finished.count == 2 }
            let record = try #require(proxy.recorder.finished.last?.record)
            #expect(record.kind == .malformed && record.status == 0, "\(record)")
            #expect(record.failure?.code == .clientGone, "\(record)")
            #expect(record.failure?.message.contains("in the middle of a request head") == true, "\(record)")
        }
    }

    @Test("Requests that follow each other have the time each for itself")
    func keepAlive() async throws {
        var timeouts = ProxyConfiguration.Timeouts()
        timeouts.requestHead = .seconds(2)
        try await LoopbackProxy.run(timeouts: timeouts) { proxy in
            let origin = try await LoopbackOrigin { _ in "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" }
            let client = try await proxy.connect()
            let start = ContinuousClock.now
            var count = 0
            while ContinuousClock.now - start < .seconds(4) {
                count += 1
                for part in ["GET http://127.0.0.1:\(origin.port)/\(count) HTTP/1.1\r\n", "Host: x\r\n\r\n"] {
                    try await client.send(part)
                }
                try await eventually("answer \(count)") { client.text.ranges(of: "\r\n\r\nok").count == count }
            }
            #expect(proxy.recorder.finished.allSatisfy { $0.record.status == 200 })
        }
    }
}
