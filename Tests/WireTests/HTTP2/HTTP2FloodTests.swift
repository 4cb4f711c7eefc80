import HTTPModel
import NIOCore
import Testing
import Wire

/// A way to make us work for little.
struct Flood: CustomTestStringConvertible, Sendable {
    var name: String
    /// How many are borne at once with the limits of these tests, and how many more a second.
    var burst: Int
    var perSecond: Int
    /// Adds one more, the `index`th from 0 on.
    var add: @Sendable (_ frames: inout HTTP2Frames, _ index: Int) -> Void

    var testDescription: String { name }
}

@Suite("HTTP/2 floods")
struct HTTP2FloodTests {
    static var settings: HTTP2Settings {
        var settings = HTTP2Settings()
        settings.limits.resets = .init(burst: 40, perSecond: 10)
        settings.limits.settings = .init(burst: 20, perSecond: 10)
        settings.limits.pings = .init(burst: 50, perSecond: 10)
        settings.limits.emptyData = .init(burst: 60, perSecond: 10)
        settings.limits.idleFrames = .init(burst: 70, perSecond: 10)
        settings.limits.windowUpdates = .init(burst: 80, perSecond: 10)
        settings.limits.continuations = 5
        return settings
    }

    static let floods: [Flood] = [
        Flood(name: "rapid reset", burst: 40, perSecond: 10) { frames, index in
            frames.request(on: UInt32(index * 2 + 1))
            frames.add(.resetStream, on: UInt32(index * 2 + 1), big(UInt32(8)))
        },
        Flood(name: "resets that we are made to send", burst: 40, perSecond: 10) { frames, index in
            frames.request(on: UInt32(index * 2 + 1), isEnd: false)
            frames.add(.windowUpdate, on: UInt32(index * 2 + 1), big(UInt32(0x7FFF_FFFF)))
        },
        Flood(name: "heads that have to be refused", burst: 40, perSecond: 10) { frames, index in
            frames.request(on: UInt32(index * 2 + 1), [("connection", "close")])
        },
        // One is in the client's beginning.
        Flood(name: "SETTINGS", burst: 19, perSecond: 10) { frames, _ in frames.settings([(3, 100)]) },
        Flood(name: "PING", burst: 50, perSecond: 10) { frames, _ in
            frames.add(.ping, Array(repeating: 0, count: 8))
        },
        Flood(name: "acknowledgements of PING", burst: 50, perSecond: 10) { frames, _ in
            frames.add(.ping, flags: HTTP2Frames.acknowledgement, Array(repeating: 0, count: 8))
        },
        Flood(name: "empty DATA", burst: 60, perSecond: 10) { frames, index in
            if index == 0 { frames.request(isEnd: false) }
            frames.data("")
        },
        Flood(name: "DATA of nothing but padding", burst: 60, perSecond: 10) { frames, index in
            if index == 0 { frames.request(isEnd: false) }
            frames.add(.data, flags: HTTP2Frames.padded, on: 1, [255] + Array(repeating: 0, count: 255))
        },
        Flood(name: "empty DATA on a closed stream", burst: 60, perSecond: 10) { frames, index in
            if index == 0 { frames.request([("connection", "close")], isEnd: false) }
            frames.data("")
        },
        Flood(name: "PRIORITY", burst: 70, perSecond: 10) { frames, index in
            frames.add(.priority, on: UInt32(index * 2 + 1), [0, 0, 0, 0, 1])
        },
        Flood(name: "unknown frames", burst: 70, perSecond: 10) { frames, _ in frames.add(.unknown, [1, 2, 3]) },
        Flood(name: "WINDOW_UPDATE", burst: 80, perSecond: 10) { frames, _ in
            frames.add(.windowUpdate, big(UInt32(1)))
        },
    ]

    static func bytes(_ flood: Flood, _ range: Range<Int>, isBeginning: Bool = true) -> ByteBuffer {
        var frames = HTTP2Frames()
        for index in range { flood.add(&frames, index) }
        guard isBeginning else { return frames.bytes }
        var bytes = HTTP2Frames.client { _ in }
        bytes.writeImmutableBuffer(frames.bytes)
        return bytes
    }

    @Test(
        "A flood is borne up to the limit, and ends the connection with ENHANCE_YOUR_CALM beyond it",
        arguments: floods
    )
    func atOnce(_ flood: Flood) {
        let borne = HTTP2Session(.server, settings: HTTP2FloodTests.settings)
        let calm = HTTP2Outcome(of: HTTP2FloodTests.bytes(flood, 0..<flood.burst), to: borne, .whole)
        #expect(!calm.events.contains { $0.hasPrefix("failed") }, "\(calm)")
        for feeding in Feeding.allCases {
            let session = HTTP2Session(.server, settings: HTTP2FloodTests.settings)
            let bytes = HTTP2FloodTests.bytes(flood, 0..<(flood.burst + 1))
            let outcome = HTTP2Outcome(of: bytes, to: session, feeding, seed: 7)
            #expect(outcome.events.filter { $0 == "failed ENHANCE_YOUR_CALM" }.count == 1, "\(outcome)")
            #expect(outcome.verdicts.last == "goaway ENHANCE_YOUR_CALM", "\(outcome)")
            #expect(session.isOver && session.openStreamCount == 0)
            session.receive(HTTP2FloodTests.bytes(flood, 0..<5, isBeginning: false), now: .uptimeNanoseconds(2))
            #expect(session.nextEvent() == nil && session.nextOutput() == nil)
        }
    }

    @Test("As much is borne for as long as one likes where it comes slowly", arguments: floods)
    func slowly(_ flood: Flood) {
        let session = HTTP2Session(.server, settings: HTTP2FloodTests.settings)
        _ = HTTP2Outcome(of: HTTP2Frames.client { _ in }, to: session, .whole)
        var now = NIODeadline.uptimeNanoseconds(1)
        for index in 0..<(flood.burst * 5) {
            let bytes = HTTP2FloodTests.bytes(flood, index..<(index + 1), isBeginning: false)
            let outcome = HTTP2Outcome(of: bytes, to: session, .whole, now: now)
            if let failure = outcome.events.first(where: { $0.hasPrefix("failed") }) {
                Issue.record("\(failure) at \(index)")
                return
            }
            // The window that DATA uses up is nobody's subject here.
            session.consume(1 << 20, on: HTTP2StreamID(1))
            now = now + .milliseconds(Int64(1100 / flood.perSecond))
        }
    }

    @Test("A head in too many CONTINUATION frames ends the connection, be the head for nothing or not")
    func continuations() {
        for isBad in [false, true] {
            for count in [5, 6] {
                let bytes = HTTP2Frames.client { frames in
                    let fields = HTTP2Frames.pseudo + (isBad ? [("connection", "close")] : [])
                    frames.add(.headers, flags: HTTP2Frames.endStream, on: 1, block(fields))
                    for index in 1...count {
                        let flags = index == count ? HTTP2Frames.endHeaders : 0
                        frames.add(.continuation, flags: flags, on: 1, block([("x", "\(index)")]))
                    }
                }
                for feeding in Feeding.allCases {
                    let session = HTTP2Session(.server, settings: HTTP2FloodTests.settings)
                    let outcome = HTTP2Outcome(of: bytes, to: session, feeding, seed: 3)
                    #expect(outcome.verdicts.contains("goaway ENHANCE_YOUR_CALM") == (count > 5), "\(outcome)")
                }
            }
        }
    }

    @Test("Heads that are too large are answered a few times, then they end the connection")
    func oversizedHeads() {
        for count in [2, 3] {
            var settings = HTTP2FloodTests.settings
            settings.limits.resets = .init(burst: 100, perSecond: 1)
            settings.maxHeaderListSize = 300
            let bytes = HTTP2Frames.client { frames in
                for index in 0..<count {
                    frames.request(on: UInt32(index * 2 + 1), [("x", String(repeating: "a", count: 300))])
                }
            }
            let outcome = HTTP2Outcome(of: bytes, to: HTTP2Session(.server, settings: settings), .whole)
            #expect(outcome.events.contains { $0.hasPrefix("failed ENHANCE_YOUR_CALM") } == (count > 2), "\(outcome)")
        }
    }

    /// Heads on so many streams that a few bytes each make a hundred thousand of, by a field that is kept once.
    private static func expanding(_ count: Int, after beginning: [(String, String)], isEnd: Bool) -> HTTP2Frames {
        var frames = HTTP2Frames()
        for index in 0..<count {
            let kept = index == 0 ? [0x40] + literal([0x78]) + literal(Array(repeating: 0x61, count: 4_000)) : []
            let fields = block(beginning) + kept + Array(repeating: 0xBE, count: 25)
            let flags = HTTP2Frames.endHeaders | (isEnd ? HTTP2Frames.endStream : 0)
            frames.add(.headers, flags: flags, on: UInt32(index * 2 + 1), fields)
        }
        return frames
    }

    @Test("Of heads that come at once some are refused once all are large, with little of them; later ones pass")
    func expandingRequests() {
        var settings = HTTP2Settings()
        settings.maxPendingHeads = 1 << 20
        let session = HTTP2Session(.server, settings: settings)
        let bytes = HTTP2Frames.client {
            $0.append(HTTP2FloodTests.expanding(20, after: HTTP2Frames.pseudo, isEnd: true))
        }
        session.receive(bytes, now: .uptimeNanoseconds(1))
        var (passed, refused, size) = (0, 0, 0)
        while let event = session.nextEvent() {
            switch event {
            case .requestHead(_, let head, _, _, _):
                passed += 1
                size += head.received?.readableBytes ?? 0
            case .malformedRequest(_, let status, let explanation, let head):
                refused += 1
                #expect(head.readableBytes <= 512 && status == 0 && explanation.contains("1048576"))
            default: break
            }
        }
        #expect(passed + refused == 20 && size <= 1 << 20 && size > 900_000, "\(passed) of \(size) bytes")
        var output = ByteBuffer()
        while var made = session.nextOutput() { output.writeBuffer(&made) }
        let verdicts = frames(output).compactMap(\.verdict)
        #expect(verdicts.count == refused && verdicts.allSatisfy { $0.hasSuffix("REFUSED_STREAM") }, "\(verdicts)")
        var later = HTTP2Frames()
        later.request(on: 101)
        let outcome = HTTP2Outcome(of: later.bytes, to: session, .whole)
        #expect(outcome.events.contains { $0.hasPrefix("101 ") } && outcome.verdicts.isEmpty, "\(outcome)")
    }

    @Test("A server's heads that come at once and are too large end their streams")
    func expandingResponses() throws {
        var settings = HTTP2Settings()
        settings.maxPendingHeads = 1 << 20
        let session = HTTP2Session(.client, settings: settings)
        for _ in 0..<20 {
            _ = try session.sendRequest(RequestHead(method: "GET", target: "/"), scheme: "https", isEnd: true)
        }
        while session.nextOutput() != nil {}
        let bytes = HTTP2Frames.server {
            $0.append(HTTP2FloodTests.expanding(20, after: [(":status", "103")], isEnd: false))
        }
        let outcome = HTTP2Outcome(of: bytes, to: session, .whole)
        #expect(outcome.verdicts.count == 10, "\(outcome)")
        #expect(outcome.verdicts.allSatisfy { $0.hasSuffix("ENHANCE_YOUR_CALM") }, "\(outcome)")
    }

    @Test("Answers that the peer does not take are bounded, and so is what their end costs")
    func unreadAnswers() {
        var settings = HTTP2Settings()
        settings.limits.pings = .init(burst: 1_000_000, perSecond: 0)
        let session = HTTP2Session(.server, settings: settings)
        session.receive(HTTP2Frames.client { _ in }, now: .uptimeNanoseconds(1))
        let pings = {
            var frames = HTTP2Frames()
            for _ in 0..<1000 { frames.add(.ping, Array(repeating: 0, count: 8)) }
            return frames.bytes
        }()
        var failed = false
        for _ in 0..<50 where !failed {
            session.receive(pings, now: .uptimeNanoseconds(1))
            while let event = session.nextEvent() {
                if case .failed(let failure) = event {
                    #expect(failure.code == .enhanceYourCalm)
                    failed = true
                }
            }
        }
        #expect(failed)
        var total = 0
        var last: HTTP2Frame?
        while let output = session.nextOutput() {
            total += output.readableBytes
            last = frames(output).last
        }
        #expect(total < 200_000)
        #expect(last?.verdict == "goaway ENHANCE_YOUR_CALM")
    }

    @Test("A client that gives no window costs what is queued, and its streams end when it says so")
    func zeroWindow() {
        let session = HTTP2Session(.server)
        let bytes = HTTP2Frames.client { frames in
            frames.settings([(4, 0)])
            for index in 0..<200 { frames.request(on: UInt32(index * 2 + 1)) }
        }
        let outcome = HTTP2Outcome(of: bytes, to: session, .whole)
        #expect(outcome.events.filter { $0.hasSuffix(" end") }.count == 200)
        let body = ByteBuffer(repeating: 0x61, count: 32 << 10)
        for index in 0..<200 {
            let id = HTTP2StreamID(Int32(index * 2 + 1))
            _ = session.sendResponse(ResponseHead(status: 200), on: id, isEnd: false)
            session.sendData(body, on: id)
            session.sendEnd(nil, on: id)
        }
        var sent = 0
        while let output = session.nextOutput() { sent += output.readableBytes }
        #expect(sent < 200 * 64)
        #expect(session.nextEvent() == nil && session.openStreamCount == 200)
        #expect(session.queuedBytes(on: HTTP2StreamID(1)) == 32 << 10)
        var frames = HTTP2Frames()
        for index in 0..<200 { frames.add(.resetStream, on: UInt32(index * 2 + 1), big(UInt32(8))) }
        let end = HTTP2Outcome(of: frames.bytes, to: session, .whole)
        #expect(end.events.filter { $0.hasSuffix(" closed") }.count == 200 && session.openStreamCount == 0)
        #expect(session.queuedBytes(on: HTTP2StreamID(1)) == 0)
    }

    @Test(
        "It is known since when a preface, a frame or a head is incomplete; within DATA and between frames nothing is"
    )
    func incomplete() {
        let session = HTTP2Session(.server)
        var clock: UInt64 = 0
        func after(_ bytes: [UInt8]) -> UInt64? {
            clock += 1
            session.receive(ByteBuffer(bytes: bytes), now: .uptimeNanoseconds(clock))
            return session.incompleteSince?.uptimeNanoseconds
        }
        var frames = HTTP2Frames()
        frames.settings([])
        frames.request(on: 1, isEnd: false)
        let (start, head) = (
            Array(frames.bytes.readableBytesView.prefix(9)), Array(frames.bytes.readableBytesView.dropFirst(9))
        )
        let preface = Array(HTTP2Frames.preface.utf8)
        #expect(session.incompleteSince == nil)
        #expect(after(Array(preface.prefix(1))) == 1)
        #expect(after(Array(preface.dropFirst())) == nil)
        #expect(after(Array(start.prefix(8))) == 3)
        // One ends and another begins in one read.
        #expect(after(Array(start.dropFirst(8)) + head.prefix(3)) == 4)
        #expect(after(Array(head.dropFirst(3).dropLast())) == 4)
        #expect(after([head.last ?? 0]) == nil)
        var data = HTTP2Frames()
        data.add(.data, on: 1, Array(repeating: 0x61, count: 10))
        #expect(after(Array(data.bytes.readableBytesView.prefix(12))) == nil)
        #expect(after(Array(data.bytes.readableBytesView.dropFirst(12)) + [0]) == 8)
        // A PING of eight bytes: its first is there already.
        #expect(after([0, 8, 6, 0, 0, 0, 0, 0] + Array(repeating: 0, count: 8)) == nil)
        var open = HTTP2Frames()
        open.add(.headers, on: 3, Array(head.dropFirst(9)))
        #expect(after(Array(open.bytes.readableBytesView)) == 10)
        var end = HTTP2Frames()
        end.add(.continuation, flags: HTTP2Frames.endHeaders, on: 3)
        #expect(after(Array(end.bytes.readableBytesView)) == nil)
    }
}
