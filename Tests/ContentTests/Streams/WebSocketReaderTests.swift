import NIOCore
import Support
import Testing

@testable import Content

@Suite("WebSocket reader")
struct WebSocketReaderTests {
    private func server(_ extensions: String? = nil, limit: Int = 4096) -> WebSocketReader {
        WebSocketReader(direction: .fromServer, extensions: WebSocketExtensions(extensions), payloadLimit: limit)
    }

    private func client(_ extensions: String? = nil) -> WebSocketReader {
        WebSocketReader(direction: .fromClient, extensions: WebSocketExtensions(extensions))
    }

    @Test("the examples of RFC 6455 §5.7")
    func published() {
        #expect(server().messages([0x81, 0x05, 0x48, 0x65, 0x6C, 0x6C, 0x6F]).map(\.summary) == ["text Hello"])
        let masked: [UInt8] = [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
        let message = client().messages(masked).first
        #expect(message?.summary == "text Hello")
        #expect(message?.notes == [])
        #expect(message?.range == 0..<11)
        let fragmented = server().messages([0x01, 0x03, 0x48, 0x65, 0x6C, 0x80, 0x02, 0x6C, 0x6F])
        #expect(fragmented.map(\.summary) == ["text Hello"])
        #expect(fragmented.first?.webSocket?.frameCount == 2)
        #expect(fragmented.first?.webSocket?.frameSizes == [3, 2])
        #expect(
            server().messages([0x89, 0x05] + Array("Hello".utf8)).map(\.summary) == ["ping [72, 101, 108, 108, 111]"]
        )
        let pong: [UInt8] = [0x8A, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58]
        #expect(client().messages(pong).map(\.summary) == ["pong [72, 101, 108, 108, 111]"])
        let of256 = server().messages([0x82, 0x7E, 0x01, 0x00] + [UInt8](repeating: 7, count: 256))
        #expect(of256.first?.size == 256)
        let of64Ki = server().messages([0x82, 0x7F, 0, 0, 0, 0, 0, 1, 0, 0] + [UInt8](repeating: 7, count: 65_536))
        #expect(of64Ki.first?.size == 65_536)
        #expect(of64Ki.first?.leftOut == 61_440)
        #expect(of64Ki.first?.notes == [])
    }

    @Test("the examples of RFC 7692 §7.2.3")
    func compressed() {
        let deflate = "permessage-deflate"
        let one: [UInt8] = [0xC1, 0x07, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
        let first = server(deflate).messages(one).first
        #expect(first?.summary == "text Hello")
        #expect(first?.webSocket?.isCompressed == true)
        #expect(first?.webSocket?.wireSize == 7)
        #expect(first?.size == 5)
        let fragments: [UInt8] = [0x41, 0x03, 0xF2, 0x48, 0xCD, 0x80, 0x04, 0xC9, 0xC9, 0x07, 0x00]
        #expect(server(deflate).messages(fragments).map(\.summary) == ["text Hello"])
        // With the window kept, the second message refers to the first.
        let second: [UInt8] = [0xC1, 0x05, 0xF2, 0x00, 0x11, 0x00, 0x00]
        #expect(server(deflate).messages(one + second).map(\.summary) == ["text Hello", "text Hello"])
        #expect(server(deflate).messages(one + one).map(\.summary) == ["text Hello", "text Hello"])
        let stored: [UInt8] = [0xC1, 0x0B, 0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00]
        #expect(server(deflate).messages(stored).map(\.summary) == ["text Hello"])
        let final: [UInt8] = [0xC1, 0x08, 0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00]
        #expect(server(deflate).messages(final).map(\.summary) == ["text Hello"])
        #expect(server(deflate).messages(final + second).map(\.summary) == ["text Hello", "text Hello"])
        let twoBlocks: [UInt8] = [
            0xC1, 0x0D, 0xF2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xFF, 0xFF, 0xCA, 0xC9, 0xC9, 0x07, 0x00,
        ]
        #expect(server(deflate).messages(twoBlocks).map(\.summary) == ["text Hello"])
        #expect(server(deflate).messages([0xC1, 0x01, 0x00]).map(\.summary) == ["text "])
        for example in [one, fragments, stored, final, twoBlocks, [0xC1, 0x01, 0x00]] {
            #expect(server(deflate).messages(example).allSatisfy { $0.notes.isEmpty })
        }
    }

    @Test("without context takeover each message stands for itself, and a broken one spoils no other")
    func contexts() {
        let one: [UInt8] = [0xC1, 0x07, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00]
        let referring: [UInt8] = [0xC1, 0x05, 0xF2, 0x00, 0x11, 0x00, 0x00]
        let alone = server("permessage-deflate; server_no_context_takeover").messages(one + referring + one)
        #expect(alone.count == 3)
        #expect(alone[1].notes.first?.hasPrefix("cannot be decompressed: ") == true)
        #expect(alone[2].summary == "text Hello")
        #expect(alone[2].notes == [])
        let other = server("permessage-deflate; client_no_context_takeover").messages(one + referring)
        #expect(other.map(\.summary) == ["text Hello", "text Hello"])

        let corrupt: [UInt8] = [0xC1, 0x02, 0xFF, 0xFF]
        let spoilt = server("permessage-deflate").messages(corrupt + one)
        #expect(spoilt.count == 2)
        #expect(spoilt[1].notes == ["not decompressed, as an earlier message could not be"])
        #expect(Array(spoilt[1].payload.readableBytesView) == Array(one.dropFirst(2)))
        let cut: [UInt8] = [0xC1, 0x03, 0xF2, 0x48, 0xCD]
        #expect(server("permessage-deflate").messages(cut).first?.notes.first?.hasPrefix("cannot be") == true)
    }

    @Test("extensions are read from the response's field")
    func extensions() {
        let read = WebSocketExtensions(
            " x-first; a=\"b,c;d\" , permessage-deflate; server_no_context_takeover ;client_max_window_bits=\"10\"; y"
        )
        var expected = PerMessageDeflate()
        expected.serverNoContextTakeover = true
        #expect(read.deflate == expected)
        #expect(read.others == ["x-first"])
        #expect(WebSocketExtensions(nil) == WebSocketExtensions())
        #expect(WebSocketExtensions("permessage-deflate; server_max_window_bits=99").deflate == PerMessageDeflate())
    }

    @Test("control frames between the frames of a message stand for themselves, in order")
    func interleaved() {
        var bytes = Frame(opcode: 1, payload: Array("a".utf8), isFinal: false).bytes
        bytes += Frame(opcode: 9).bytes
        bytes += Frame(opcode: 0, payload: Array("b".utf8), isFinal: false).bytes
        bytes += Frame(opcode: 10, payload: [1]).bytes + Frame(opcode: 0, payload: Array("c".utf8)).bytes
        bytes += Frame(opcode: 8, payload: [0x03, 0xE9] + Array("bye".utf8)).bytes
        let messages = server().messages(bytes)
        #expect(messages.map(\.summary) == ["ping []", "pong [1]", "text abc", "close [3, 233, 98, 121, 101]"])
        #expect(messages.map(\.number) == [1, 2, 3, 4])
        #expect(messages[2].webSocket?.frameSizes == [1, 1, 1])
        #expect(messages[2].range == 0..<14)
        #expect(messages[3].webSocket?.close == WebSocketClose(code: 1001, reason: "bye"))
        #expect(messages[3].webSocket?.close?.meaning == "going away")
        #expect(StreamCounter.Format.webSocket.count([bytes]) == 1)
    }

    @Test("what is wrong but readable is noted")
    func notes() {
        #expect(client().messages(Frame.text("x").bytes).first?.notes == ["not masked, as a client's frames must be"])
        let masked = Frame(opcode: 1, payload: [0x78], mask: [1, 2, 3, 4]).bytes
        #expect(server().messages(masked).first?.notes == ["masked, as a server's frames must not be"])
        #expect(server().messages([0x81, 0x7E, 0x00, 0x01, 0x78]).first?.notes.count == 1)
        #expect(server().messages(Frame(opcode: 1, payload: [0xC3]).bytes).first?.notes == ["no valid UTF-8"])
        let split = Frame(opcode: 1, payload: [0xC3], isFinal: false).bytes + Frame(opcode: 0, payload: [0xA9]).bytes
        #expect(server().messages(split).map(\.summary) == ["text é"])
        #expect(server().messages(split).first?.notes == [])
        #expect(server().messages([0x88, 0x01, 0x03]).first?.notes == ["its payload is too short for a status code"])
        let late = server().messages([0x88, 0x00] + Frame.text("x").bytes)
        #expect(late.last?.notes == ["sent after the close frame"])
        let unknown = server("x-secret").messages(Frame(opcode: 1, payload: [1], reserved: 2).bytes)
        #expect(unknown.first?.isText == false)
        #expect(unknown.first?.notes.first?.contains("x-secret") == true)
    }

    struct Malformed: Sendable, CustomTestStringConvertible {
        var name: String
        var bytes: [UInt8]
        var message: String
        var testDescription: String { name }
    }

    @Test(
        "a frame that the protocol does not allow ends the reading where it begins; what came before stays",
        arguments: [
            Malformed(name: "opcode", bytes: [0x83, 0x00], message: "the opcode 3 is reserved"),
            Malformed(name: "control opcode", bytes: [0x8B, 0x00], message: "the opcode 11 is reserved"),
            Malformed(
                name: "RSV1",
                bytes: [0xC1, 0x00],
                message: "the reserved bit RSV1 is set, without an extension that uses it"
            ),
            Malformed(
                name: "RSV3",
                bytes: [0x91, 0x00],
                message: "the reserved bit RSV3 is set, without an extension that uses it"
            ),
            Malformed(name: "fragmented ping", bytes: [0x09, 0x00], message: "a ping frame is fragmented"),
            Malformed(
                name: "long close",
                bytes: [0x88, 0x7E, 0x00, 0x7E],
                message: "a close frame has more than 125 bytes of payload"
            ),
            Malformed(
                name: "length",
                bytes: [0x82, 0x7F, 0x80, 0, 0, 0, 0, 0, 0, 0],
                message: "the payload's length has its highest bit set"
            ),
            Malformed(
                name: "stray continuation",
                bytes: [0x80, 0x00],
                message: "a continuation frame without a message"
            ),
            Malformed(name: "nested", bytes: [0x01, 0x00, 0x81, 0x00], message: "a message begins inside another one"),
        ]
    )
    func malformed(_ one: Malformed) {
        let before = Frame.text("before").bytes
        let bytes = before + one.bytes + Frame.text("after").bytes
        for pieces in bytes.splittings(seed: 1, count: 3) {
            let reader = server()
            let messages = reader.messages(pieces)
            #expect(messages.first?.summary == "text before")
            #expect(!messages.contains { $0.text == "after" })
            #expect(reader.problem?.message == one.message)
            #expect(reader.problem?.offset == Int64(before.count + (one.name == "nested" ? 2 : 0)))
            // RSV1 may mean compression, which the counter is not told of.
            if one.name != "RSV1" { #expect(StreamCounter.Format.webSocket.count(pieces) == 1) }
        }
    }

    @Test("a message that is not whole yet is shown as far as it has come")
    func unfinished() {
        let bytes = Frame.text("whole").bytes + Frame.text("half of it").bytes.dropLast(3)
        let messages = server().messages(bytes)
        #expect(messages.map(\.summary) == ["text whole", "text half of…"])
        #expect(messages.last?.range.upperBound == Int64(bytes.count))
        let head = server().messages(Frame.text("whole").bytes + [0x81])
        #expect(head.map(\.summary) == ["text whole"])
        #expect(StreamCounter.Format.webSocket.count([bytes]) == 1)
    }

    @Test("a bomb is stopped, and what it would fill is never kept")
    func bomb() throws {
        // zlib's own bytes for a run of zeros, repeated: a stored window and then matches of 258 bytes at distance 1.
        let zeros = try ContentEncoder.encode(
            ByteBuffer(bytes: [UInt8](repeating: 0, count: 1 << 20)),
            coding: .deflate
        )
        // Without the zlib header and checksum, and with a final block that the next repetition follows.
        let raw = Array(zeros.readableBytesView.dropFirst(2).dropLast(4))
        let payload = Array(repeatElement(raw, count: 100).joined()) + [0x00]
        let reader = server("permessage-deflate")
        let message = reader.messages(Frame(opcode: 2, payload: payload, reserved: 4).bytes).first
        #expect(message?.notes.first?.contains("compressed bytes stand for more than") == true)
        #expect(message?.payload.readableBytes == 4096)
        #expect((message?.size ?? 0) < 100 << 20)
    }

    @Test("how the bytes are cut changes nothing")
    func splits() {
        let seed: UInt64 = 0x510C_E005
        print("seed \(seed)")
        var generator = SplitMix(seed)
        var bytes: [UInt8] = []
        var expected: Int64 = 0
        for index in 0..<60 {
            let payload = (0..<[0, 3, 125, 126, 300][index % 5]).map { _ in
                UInt8.random(in: 0x20...0x7E, using: &generator)
            }
            let isFragmented = index % 4 == 0
            expected += 1
            let mask = (0..<4).map { _ in UInt8.random(in: 0...255, using: &generator) }
            bytes += Frame(opcode: 1 + UInt8(index & 1), payload: payload, isFinal: !isFragmented, mask: mask).bytes
            if isFragmented {
                bytes += Frame(opcode: 9, payload: [1, 2], mask: mask).bytes
                bytes += Frame(opcode: 0, payload: payload, mask: mask).bytes
            }
        }
        let reference = client().messages(bytes)
        #expect(reference.filter { $0.webSocket?.opcode.isControl == false }.count == Int(expected))
        for pieces in bytes.splittings(seed: seed) {
            #expect(client().messages(pieces) == reference)
            #expect(StreamCounter.Format.webSocket.count(pieces) == expected)
        }
    }

    @Test("no bytes at all crash the reader or make it keep more than its limit")
    func hostile() {
        let seed: UInt64 = 0x510C_E005
        print("seed \(seed)")
        var generator = SplitMix(seed)
        for round in 0..<2000 {
            var bytes = (0..<Int.random(in: 1...200, using: &generator)).map { _ in
                UInt8.random(in: 0...255, using: &generator)
            }
            // Mostly a plausible first byte, or nothing would be read.
            if round % 4 != 0 {
                bytes[0] = [0x81, 0x82, 0xC1, 0xC2, 0x01, 0x41, 0x88, 0x89].randomElement(using: &generator) ?? 0x81
            }
            let reader = round % 2 == 0 ? server("permessage-deflate", limit: 16) : server(limit: 16)
            for message in reader.messages(bytes) {
                #expect(message.payload.readableBytes <= 125)
                #expect(message.range.upperBound <= Int64(bytes.count))
                #expect(message.range.lowerBound < message.range.upperBound)
                _ = message.text
            }
        }
    }

    @Test("of a million messages none is kept")
    func million() {
        let piece = ByteBuffer(bytes: Array(repeatElement(Frame.text("tick").bytes, count: 10_000).joined()))
        let reader = server()
        var counter = StreamCounter(.webSocket)
        var messages: Int64 = 0
        var last: StreamedMessage?
        for round in 0..<100 {
            counter.feed(piece)
            // A debug build takes its time to describe each.
            guard round % 5 == 0 else { continue }
            reader.feed(piece) {
                messages += 1
                last = $0
            }
        }
        #expect(counter.count == 1_000_000)
        #expect(messages == 200_000)
        #expect(last?.number == 200_000)
        #expect(last?.range == 1_199_994..<1_200_000)
        #expect(MemoryLayout<StreamCounter>.size < 256)
    }
}
