import HTTPModel
import NIOCore
import Support
import Testing
import Wire

@Suite("HTTP/2 against noise")
struct HTTP2MutationTests {
    @Test("Whatever is received, nothing crashes, and every stream that began is closed exactly once at the end")
    func mutations() throws {
        let seed: UInt64 = 0x510C_E005
        print("HTTP/2 mutations: seed \(seed)")
        var generator = SplitMix(seed)
        for round in 0..<400 {
            let role = Bool.random(using: &generator) ? HTTP2Session.Role.server : .client
            let bytes = mutated(valid(role, using: &generator), using: &generator)
            let session = try HTTP2MalformedTests.session(role)
            let ledger = try run(bytes, through: session, using: &generator)
            #expect(ledger.isConsistent, "seed \(seed), round \(round): \(ledger)")
        }
    }

    /// What was told of each stream.
    private struct Ledger {
        var begun: Set<Int32> = []
        var closed: [Int32: Int] = [:]
        var eventsAfterClose = 0

        var isConsistent: Bool {
            eventsAfterClose == 0 && closed.values.allSatisfy { $0 == 1 } && begun.isSubset(of: closed.keys)
        }

        mutating func note(_ id: HTTP2StreamID) {
            begun.insert(id.number)
            if closed[id.number] != nil { eventsAfterClose += 1 }
        }
    }

    private func run(
        _ bytes: ByteBuffer,
        through session: HTTP2Session,
        using generator: inout SplitMix
    ) throws -> Ledger {
        var bytes = bytes
        var ledger = Ledger()
        while bytes.readableBytes > 0 {
            let count = Int.random(in: 1...min(bytes.readableBytes, 600), using: &generator)
            if let part = bytes.readSlice(length: count) { session.receive(part, now: .uptimeNanoseconds(1)) }
            answer(session, &ledger, using: &generator)
            _ = session.nextOutput(limit: Int.random(in: 1...10_000, using: &generator))
        }
        session.goAway(.cancel)
        answer(session, &ledger, using: &generator)
        while session.nextOutput() != nil {}
        #expect(session.isOver && session.openStreamCount == 0 && session.nextEvent() == nil)
        return ledger
    }

    /// Acts on what happened, as an owner does who is in no mood to do it right.
    private func answer(_ session: HTTP2Session, _ ledger: inout Ledger, using generator: inout SplitMix) {
        while let event = session.nextEvent() {
            switch event {
            case .requestHead(let id, _, _, _, _):
                ledger.note(id)
                _ = session.sendResponse(ResponseHead(status: 200), on: id, isEnd: Bool.random(using: &generator))
                session.sendData(ByteBuffer(repeating: 0x61, count: 70_000), on: id)
            case .data(let id, let part):
                ledger.note(id)
                session.consume(part.readableBytes, on: id)
                if Int.random(in: 0..<8, using: &generator) == 0 { session.reset(id, .cancel) }
            case .end(let id, _, _):
                ledger.note(id)
                session.sendEnd(FieldSection([("x", "y")]), on: id)
                if Int.random(in: 0..<4, using: &generator) == 0 { session.reset(id, .noError) }
            case .interim(let id, _), .responseHead(let id, _, _), .reset(let id, _, _, _), .refused(let id),
                .drained(let id), .malformedRequest(let id, _, _, _):
                ledger.note(id)
            case .closed(let id):
                ledger.closed[id.number, default: 0] += 1
            case .settings, .goAway, .failed:
                break
            }
        }
    }

    private func valid(_ role: HTTP2Session.Role, using generator: inout SplitMix) -> ByteBuffer {
        guard role == .server else {
            return HTTP2Frames.server { frames in
                frames.head([(":status", "103"), ("link", "x")], isEnd: false)
                frames.head(on: 3, HTTP2Frames.response + [("content-length", "5")], isEnd: false)
                frames.data("hello", on: 3, isEnd: true)
                frames.head(HTTP2Frames.response, isEnd: false)
                frames.data(String(repeating: "x", count: 5000))
                frames.add(.ping, Array(repeating: 1, count: 8))
                frames.head([("t", "1")])
                frames.add(.goAway, big(UInt32(3)) + big(UInt32(0)) + Array("bye".utf8))
            }
        }
        return HTTP2Frames.client { frames in
            for stream in stride(from: UInt32(1), to: 13, by: 2) {
                frames.request(on: stream, [("a", "b"), ("cookie", "c=d")], isEnd: stream % 3 == 0)
                if stream % 3 != 0 {
                    frames.data(String(repeating: "x", count: Int.random(in: 0...3000, using: &generator)), on: stream)
                    frames.add(.windowUpdate, on: stream, big(UInt32(1000)))
                    frames.head(on: stream, [("t", "1")])
                }
            }
            frames.add(.priority, on: 21, [0, 0, 0, 1, 7])
            frames.settings([(4, 100), (3, 9)])
            frames.add(.resetStream, on: 5, big(UInt32(8)))
            frames.add(.ping, Array(repeating: 1, count: 8))
            frames.add(.unknown, on: 3, [1, 2, 3])
        }
    }

    /// Changes, drops, repeats or swaps a few bytes; mostly after the preface.
    private func mutated(_ bytes: ByteBuffer, using generator: inout SplitMix) -> ByteBuffer {
        var bytes = Array(bytes.readableBytesView)
        for _ in 0..<Int.random(in: 0...6, using: &generator) {
            let first = Int.random(in: 0..<20, using: &generator) == 0 ? 0 : min(24, bytes.count - 1)
            let position = Int.random(in: first..<bytes.count, using: &generator)
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: bytes[position] = UInt8.random(in: 0...255, using: &generator)
            case 1: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
            case 2: bytes.removeSubrange(position..<min(bytes.count, position + 9))
            case 3: bytes.insert(contentsOf: bytes[position..<min(bytes.count, position + 40)], at: position)
            default: bytes.swapAt(position, bytes.count - 1)
            }
        }
        return ByteBuffer(bytes: bytes)
    }
}
