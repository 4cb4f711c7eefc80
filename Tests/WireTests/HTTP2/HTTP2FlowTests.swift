import HTTPModel
import NIOCore
import Support
import Testing
import Wire

@Suite("HTTP/2 flow control and the ends of streams")
struct HTTP2FlowTests {
    @Test("A thousand streams at once carry their bodies, mixed at random, both ways")
    func thousandStreams() throws {
        let seed: UInt64 = 0x510C_E005
        var generator = SplitMix(seed)
        let pair = HTTP2Pair()
        #expect(pair.client.peerMaxConcurrentStreams == 1000)
        var up: [HTTP2StreamID: ByteBuffer] = [:]
        var down: [HTTP2StreamID: ByteBuffer] = [:]
        func body(_ id: HTTP2StreamID) -> ByteBuffer {
            var bytes = ByteBuffer(string: "\(UInt64.random(in: 0...UInt64.max, using: &generator))")
            let byte = UInt8(id.number % 127)
            bytes.writeRepeatingByte(byte, count: Int.random(in: 0...3000, using: &generator))
            return bytes
        }
        var ids: [HTTP2StreamID] = []
        for index in 0..<1000 {
            let head = RequestHead(method: "POST", target: "/\(index)", fields: [("host", "a.example")])
            let (id, _) = try pair.client.sendRequest(head, scheme: "https", isEnd: false)
            ids.append(id)
            up[id] = body(id)
            down[id] = body(id)
        }
        #expect(pair.client.openStreamCount == 1000)
        pair.exchange()
        #expect(pair.server.openStreamCount == 1000)
        for id in ids.shuffled(using: &generator) {
            _ = pair.server.sendResponse(ResponseHead(status: 200), on: id, isEnd: false)
            for part in (down[id] ?? ByteBuffer()).parts(using: &generator) { pair.server.sendData(part, on: id) }
            for part in (up[id] ?? ByteBuffer()).parts(using: &generator) { pair.client.sendData(part, on: id) }
            pair.server.sendEnd(nil, on: id)
            pair.client.sendEnd(nil, on: id)
            if Int.random(in: 0..<10, using: &generator) == 0 { pair.exchange(limit: 1000) }
        }
        pair.exchange()
        #expect(bodies(pair.serverEvents) == up, "seed \(seed)")
        #expect(bodies(pair.clientEvents) == down, "seed \(seed)")
        for events in [pair.takeClientEvents(), pair.takeServerEvents()] {
            #expect(events.filter { $0.hasSuffix(" closed") }.count == 1000, "seed \(seed)")
        }
        #expect(pair.client.openStreamCount == 0 && pair.server.openStreamCount == 0)
    }

    private func bodies(_ events: [HTTP2Event]) -> [HTTP2StreamID: ByteBuffer] {
        var bodies: [HTTP2StreamID: ByteBuffer] = [:]
        for event in events {
            switch event {
            case .requestHead(let id, _, _, _, _), .responseHead(let id, _, _): bodies[id] = ByteBuffer()
            case .data(let id, let bytes): bodies[id]?.writeImmutableBuffer(bytes)
            default: break
            }
        }
        return bodies
    }

    @Test("A stream whose bytes nobody consumes stops at its window, and its siblings do not")
    func stalledStream() throws {
        let pair = HTTP2Pair()
        let stalled = try pair.get("/stalled")
        _ = pair.takeServerEvents()
        let body = ByteBuffer(repeating: 0x61, count: 1 << 20)
        _ = pair.server.sendResponse(ResponseHead(status: 200), on: stalled, isEnd: false)
        pair.server.sendData(body, on: stalled)
        pair.server.sendEnd(nil, on: stalled)
        pair.exchange()
        let window = Int(HTTP2Settings().initialWindow)
        #expect(received(pair.clientEvents, on: stalled) == window)
        #expect(pair.server.queuedBytes(on: stalled) == (1 << 20) - window)
        // More than the connection's window goes by, as that is given back on receipt.
        for round in 0..<40 {
            let id = try pair.get("/\(round)")
            _ = pair.server.sendResponse(ResponseHead(status: 200), on: id, isEnd: false)
            pair.server.sendData(body, on: id)
            pair.server.sendEnd(nil, on: id)
            var total = 0
            var isEnded = false
            while !isEnded {
                _ = pair.takeClientEvents()
                pair.exchange()
                let count = received(pair.clientEvents, on: id)
                try #require(count > 0)
                total += count
                pair.client.consume(count, on: id)
                isEnded = total == 1 << 20
            }
        }
        _ = pair.takeClientEvents()
        pair.client.consume(100_000, on: stalled)
        pair.exchange()
        // Less than half of a window is not announced alone (RFC 9113 §5.2.2 leaves that to the receiver).
        #expect(received(pair.clientEvents, on: stalled) == 0)
        pair.client.consume(100_000, on: stalled)
        pair.exchange()
        #expect(received(pair.clientEvents, on: stalled) == 200_000)
        // Giving back what never came does no harm.
        pair.client.consume(1 << 30, on: stalled)
        pair.client.consume(1 << 30, on: stalled)
        pair.client.consume(-5, on: stalled)
        pair.client.consume(5, on: HTTP2StreamID(999))
        pair.exchange()
        #expect(received(pair.clientEvents, on: stalled) == 200_000 + window)
    }

    @Test("A widened stream may have more under way than its siblings")
    func widened() throws {
        let pair = HTTP2Pair()
        let body = ByteBuffer(repeating: 0x61, count: 2 << 20)
        let (wide, narrow) = (try pair.get("/wide"), try pair.get("/narrow"))
        pair.client.widenWindow(of: wide, to: 1 << 20)
        pair.client.widenWindow(of: HTTP2StreamID(999), to: 1 << 20)
        pair.exchange()
        for id in [wide, narrow] {
            _ = pair.server.sendResponse(ResponseHead(status: 200), on: id, isEnd: false)
            pair.server.sendData(body, on: id)
        }
        pair.exchange()
        #expect(received(pair.clientEvents, on: wide) == 1 << 20)
        #expect(received(pair.clientEvents, on: narrow) == Int(HTTP2Settings().initialWindow))
        _ = pair.takeClientEvents()
        pair.client.consume(1 << 20, on: wide)
        pair.exchange()
        #expect(received(pair.clientEvents, on: wide) == 1 << 20)
    }

    private func received(_ events: [HTTP2Event], on stream: HTTP2StreamID) -> Int {
        events.reduce(0) { sum, event in
            if case .data(stream, let bytes) = event { sum + bytes.readableBytes } else { sum }
        }
    }

    @Test("What is received for streams that are over is given back to the connection")
    func dataAfterReset() throws {
        var settings = HTTP2Settings()
        settings.connectionWindow = 1 << 20
        settings.initialWindow = 1 << 19
        let pair = HTTP2Pair(server: settings)
        // Each upload is cut off by a reset that the client does not know of yet while it sends half a window.
        for _ in 0..<20 {
            let id = try pair.post()
            pair.client.sendData(ByteBuffer(repeating: 0, count: 1 << 19), on: id)
            pair.server.reset(id, .cancel)
            pair.exchange()
        }
        _ = pair.takeServerEvents()
        let last = try pair.post()
        pair.client.sendData(ByteBuffer(repeating: 0, count: 1 << 19), on: last)
        pair.exchange()
        #expect(received(pair.serverEvents, on: last) == 1 << 19)
    }

    @Test("The owner hears when a long queue has become short")
    func drained() throws {
        let pair = HTTP2Pair()
        let id = try pair.get()
        _ = pair.server.sendResponse(ResponseHead(status: 200), on: id, isEnd: false)
        pair.server.sendData(ByteBuffer(repeating: 0, count: 60 << 10), on: id)
        _ = pair.takeServerEvents()
        pair.exchange()
        #expect(pair.takeServerEvents().isEmpty)
        pair.server.sendData(ByteBuffer(repeating: 0, count: 40 << 10), on: id)
        pair.server.sendData(ByteBuffer(repeating: 0, count: 40 << 10), on: id)
        #expect(pair.server.queuedBytes(on: id) == 80 << 10)
        while let output = pair.server.nextOutput(limit: 16 << 10) {
            #expect(output.readableBytes < 33 << 10)
            pair.client.receive(output, now: pair.now)
            pair.collect()
            let isDrained = pair.takeServerEvents() == ["1 drained"]
            #expect(isDrained == (pair.server.queuedBytes(on: id) <= 16 << 10))
            if isDrained { break }
        }
        pair.exchange()
        #expect(pair.takeServerEvents().isEmpty && pair.server.queuedBytes(on: id) == 0)
    }

    @Test("A reset by the client drops what the server has queued; one by the server, what the client has")
    func resets() throws {
        let pair = HTTP2Pair()
        let first = try pair.get()
        _ = pair.takeServerEvents()
        _ = pair.server.sendResponse(ResponseHead(status: 200), on: first, isEnd: false)
        pair.server.sendData(ByteBuffer(repeating: 0, count: 1 << 20), on: first)
        pair.exchange()
        _ = pair.takeClientEvents()
        pair.client.reset(first, .cancel)
        pair.client.reset(first, .cancel)
        pair.exchange()
        #expect(pair.takeClientEvents() == ["1 closed"])
        #expect(pair.takeServerEvents() == ["1 reset CANCEL", "1 closed"])
        #expect(pair.server.queuedBytes(on: first) == 0)

        let second = try pair.post()
        _ = pair.takeServerEvents()
        pair.client.sendData(ByteBuffer(repeating: 0, count: 1 << 20), on: second)
        pair.exchange()
        pair.server.reset(second, .internalError)
        pair.exchange()
        #expect(pair.takeClientEvents() == ["3 reset INTERNAL_ERROR", "3 closed"])
        #expect(pair.takeServerEvents().last == "3 closed")
        #expect(pair.client.queuedBytes(on: second) == 0)
    }

    @Test(
        "A reset may wait until what is queued is sent, whatever the windows allow at first",
        arguments: [true, false]
    )
    func resetWhenSent(isQueued: Bool) throws {
        let pair = HTTP2Pair()
        let id = try pair.get()
        let count = Int(HTTP2Settings().initialWindow) * 2
        _ = pair.server.sendResponse(ResponseHead(status: 200), on: id, isEnd: false)
        if isQueued { pair.server.sendData(ByteBuffer(repeating: 0x61, count: count), on: id) }
        pair.exchange()
        pair.server.resetWhenSent(id, .connectError)
        pair.server.sendData(ByteBuffer(string: "late"), on: id)
        pair.exchange()
        if isQueued {
            #expect(!pair.clientEvents.map(\.summary).contains("\(id) reset CONNECT_ERROR"))
            for _ in 1...4 {
                pair.client.consume(count, on: id)
                pair.exchange()
            }
            #expect(received(pair.clientEvents, on: id) == count)
        }
        #expect(pair.takeClientEvents().suffix(2) == ["\(id) reset CONNECT_ERROR", "\(id) closed"])
        #expect(pair.takeServerEvents().last == "\(id) closed")
        #expect(pair.server.openStreamCount == 0)
    }

    @Test("A stream that waits for a window is told, and can be reset at once, given up before or not")
    func resetAtOnce() throws {
        for isGivenUp in [false, true] {
            let pair = HTTP2Pair()
            let id = try pair.get()
            let window = Int(HTTP2Settings().initialWindow)
            _ = pair.server.sendResponse(ResponseHead(status: 200), on: id, isEnd: false)
            pair.server.sendData(ByteBuffer(repeating: 0x61, count: window), on: id)
            #expect(pair.server.sentBytesOfBlocked(id) == nil)
            pair.exchange()
            #expect(pair.server.sentBytesOfBlocked(id) == nil)
            pair.server.sendData(ByteBuffer(string: "more"), on: id)
            pair.exchange()
            #expect(pair.server.sentBytesOfBlocked(id) == Int64(window))
            if isGivenUp { pair.server.resetWhenSent(id, .connectError) }
            pair.exchange()
            #expect(pair.server.queuedBytes(on: id) == 4)
            pair.server.resetAtOnce(id, .cancel)
            #expect(pair.server.queuedBytes(on: id) == 0 && pair.server.sentBytesOfBlocked(id) == nil)
            pair.exchange()
            #expect(pair.takeClientEvents().suffix(2) == ["\(id) reset CANCEL", "\(id) closed"])
            #expect(pair.takeServerEvents().last == "\(id) closed")
        }
    }

    @Test("Events of a stream that was given up are not handed over any more, but for its close")
    func eventsAfterReset() throws {
        let pair = HTTP2Pair()
        let first = try pair.post()
        let second = try pair.post()
        for id in [first, second] {
            pair.client.sendData(ByteBuffer(string: "a"), on: id)
            pair.client.sendEnd(nil, on: id)
        }
        _ = pair.takeServerEvents()
        while let bytes = pair.client.nextOutput() { pair.server.receive(bytes, now: pair.now) }
        pair.server.reset(first, .cancel)
        pair.exchange()
        #expect(pair.takeServerEvents() == ["3 data a", "3 end", "1 closed"])
        // The same where the stream's close waits already.
        pair.client.reset(second, .cancel)
        while let bytes = pair.client.nextOutput() { pair.server.receive(bytes, now: pair.now) }
        pair.server.reset(second, .cancel)
        pair.exchange()
        #expect(pair.takeServerEvents() == ["3 closed"])
    }

    @Test("A whole response, then NO_ERROR: the server wants no more of the request")
    func earlyResponse() throws {
        let pair = HTTP2Pair()
        let id = try pair.post()
        _ = pair.takeServerEvents()
        pair.client.sendData(ByteBuffer(repeating: 0, count: 1 << 20), on: id)
        _ = pair.server.sendResponse(ResponseHead(status: 413), on: id, isEnd: false)
        pair.server.sendData(ByteBuffer(repeating: 0x61, count: 100_000), on: id)
        pair.server.sendEnd(nil, on: id)
        pair.server.reset(id, .noError)
        pair.exchange()
        #expect(received(pair.clientEvents, on: id) == 100_000)
        #expect(pair.takeClientEvents().suffix(3) == ["1 end", "1 reset NO_ERROR", "1 closed"])
        #expect(pair.takeServerEvents() == ["1 closed"])
    }

    @Test("A refused request is told apart from one that was reset")
    func refused() throws {
        let pair = HTTP2Pair()
        let id = try pair.get()
        pair.server.reset(id, .refusedStream)
        pair.exchange()
        #expect(pair.takeClientEvents() == ["1 refused", "1 closed"])
        // Once there is an answer it is too late to say that nothing was done.
        let answered = try pair.get()
        _ = pair.server.sendResponse(ResponseHead(status: 200), on: answered, isEnd: false)
        pair.exchange()
        pair.server.reset(answered, .refusedStream)
        pair.exchange()
        #expect(pair.takeClientEvents().suffix(2) == ["3 reset REFUSED_STREAM", "3 closed"])
    }

    @Test("A request beyond the server's limit waits, and goes out when another has ended")
    func beyondLimit() throws {
        var settings = HTTP2Settings()
        settings.maxConcurrentStreams = 1
        let pair = HTTP2Pair(server: settings)
        #expect(pair.client.peerMaxConcurrentStreams == 1)
        let first = try pair.get("/1")
        let second = try pair.get("/2")
        let third = try pair.get("/3")
        #expect(pair.takeServerEvents().count == 2)
        // One that was not sent yet is simply forgotten.
        pair.client.reset(second, .cancel)
        pair.exchange()
        #expect(pair.takeClientEvents() == ["3 closed"])
        #expect(pair.client.openStreamCount == 2)
        _ = pair.server.sendResponse(ResponseHead(status: 200), on: first, isEnd: true)
        pair.exchange()
        #expect(pair.takeServerEvents().suffix(2).first?.hasPrefix("\(third) request none https GET /3") == true)
        #expect(pair.takeClientEvents().count == 3)
        #expect(pair.client.openStreamCount == 1)
    }

    @Test("Streams beyond what we announced are refused while the client cannot know, and a fault when it does")
    func tooManyStreams() {
        var settings = HTTP2Settings()
        settings.maxConcurrentStreams = 2
        var frames = HTTP2Frames()
        for stream: UInt32 in [1, 3, 5] { frames.request(on: stream) }
        var unaware = ByteBuffer(string: HTTP2Frames.preface)
        var begin = HTTP2Frames()
        begin.add(.settings)
        unaware.writeImmutableBuffer(begin.bytes)
        unaware.writeImmutableBuffer(frames.bytes)
        let refused = HTTP2Outcome(of: unaware, to: HTTP2Session(.server, settings: settings), .whole)
        #expect(refused.verdicts == ["rst 5 REFUSED_STREAM"])
        #expect(refused.events.filter { $0.hasSuffix(" end") } == ["1 end", "3 end"])
        var aware = HTTP2Frames.client { _ in }
        aware.writeImmutableBuffer(frames.bytes)
        let failed = HTTP2Outcome(of: aware, to: HTTP2Session(.server, settings: settings), .whole)
        #expect(failed.verdicts == ["goaway PROTOCOL_ERROR"])
    }

    @Test("After a graceful GOAWAY open streams go on, new ones are refused, and then the connection is over")
    func gracefulGoAway() throws {
        let pair = HTTP2Pair()
        let first = try pair.get("/1")
        _ = pair.takeServerEvents()
        pair.server.goAway(.noError, text: "bye")
        // Sent before the GOAWAY arrives.
        let head = RequestHead(method: "GET", target: "/2", fields: [("host", "a.example")])
        _ = try pair.client.sendRequest(head, scheme: "https", isEnd: true)
        var late = ByteBuffer()
        while var bytes = pair.client.nextOutput() { late.writeBuffer(&bytes) }
        pair.exchange()
        #expect(pair.takeClientEvents() == ["goaway NO_ERROR last=1 bye", "3 refused", "3 closed"])
        pair.server.receive(late, now: pair.now)
        pair.exchange()
        #expect(pair.takeServerEvents().isEmpty)
        #expect(pair.client.isGoingAway && pair.server.isGoingAway)
        #expect(throws: HTTP2Error.self) { try pair.client.sendRequest(head, scheme: "https", isEnd: true) }
        #expect(!pair.client.isOver && !pair.server.isOver)
        _ = pair.server.sendResponse(ResponseHead(status: 200), on: first, isEnd: true)
        pair.exchange()
        #expect(pair.takeClientEvents() == ["1 response none HTTP/2 200||", "1 end", "1 closed"])
        #expect(pair.client.isOver && pair.server.isOver)
    }

    @Test("A GOAWAY with an error closes every stream, and says so to both sides")
    func hardGoAway() throws {
        let pair = HTTP2Pair()
        _ = try pair.get("/1")
        _ = try pair.post("/2")
        _ = pair.takeServerEvents()
        pair.server.goAway(.internalError, text: "broken")
        pair.exchange()
        #expect(pair.takeServerEvents() == ["1 closed", "3 closed"])
        #expect(pair.server.isOver)
        #expect(pair.takeClientEvents() == ["goaway INTERNAL_ERROR last=3 broken"])
        #expect(pair.client.isGoingAway)
    }

    @Test("Until its SETTINGS came the peer is taken to allow 100 streams")
    func beforeSettings() throws {
        let client = HTTP2Session(.client)
        #expect(client.peerMaxConcurrentStreams == 100 && !client.hasPeerSettings)
        let head = RequestHead(method: "GET", target: "/", fields: [("host", "a.example")])
        let (id, _) = try client.sendRequest(head, scheme: "https", isEnd: true)
        #expect(id.number == 1)
        let output = try #require(client.nextOutput())
        #expect(frames(output).map(\.kind) == [4, 8, 1])
        #expect(client.nextOutput() == nil)
        client.ping()
        let ping = try #require(client.nextOutput())
        #expect(frames(ping).map(\.kind) == [6])
    }

    @Test("Calls that come too late, too early or for the wrong stream do nothing")
    func misuse() throws {
        let pair = HTTP2Pair()
        let answered = try pair.get()
        _ = pair.takeServerEvents()
        pair.server.sendData(ByteBuffer(string: "early"), on: answered)
        pair.exchange()
        _ = pair.server.sendResponse(ResponseHead(status: 200), on: answered, isEnd: false)
        _ = pair.server.sendResponse(ResponseHead(status: 500), on: answered, isEnd: true)
        pair.server.sendInterim(ResponseHead(status: 103), on: answered)
        pair.server.sendEnd(nil, on: answered)
        pair.exchange()
        #expect(pair.takeClientEvents() == ["1 response chunked HTTP/2 200||", "1 data early", "1 end", "1 closed"])
        #expect(pair.takeServerEvents() == ["1 closed"])
        let id = HTTP2StreamID(77)
        _ = pair.server.sendResponse(ResponseHead(status: 200), on: id, isEnd: true)
        pair.server.sendInterim(ResponseHead(status: 103), on: id)
        pair.server.sendData(ByteBuffer(string: "x"), on: id)
        pair.server.sendEnd(nil, on: id)
        pair.server.reset(id, .cancel)
        pair.server.consume(1, on: id)
        #expect(throws: HTTP2Error.self) {
            try pair.server.sendRequest(RequestHead(method: "GET", target: "/"), scheme: "https", isEnd: true)
        }
        pair.exchange()
        #expect(pair.takeClientEvents().isEmpty && pair.takeServerEvents().isEmpty)
        pair.server.goAway(.internalError)
        pair.server.goAway(.noError)
        pair.server.ping()
        pair.exchange()
        #expect(pair.server.nextOutput() == nil && pair.server.isOver)
    }
}

extension ByteBuffer {
    /// The bytes in a few parts of any length.
    fileprivate func parts(using generator: inout SplitMix) -> [ByteBuffer] {
        var rest = self
        var parts: [ByteBuffer] = []
        while rest.readableBytes > 0 {
            let count = Int.random(in: 1...rest.readableBytes, using: &generator)
            if let part = rest.readSlice(length: count) { parts.append(part) }
        }
        return parts
    }
}
