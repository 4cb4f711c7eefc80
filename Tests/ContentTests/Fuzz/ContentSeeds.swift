import Content
import NIOCore
import Support

/// Inputs that are right, or nearly so, for the fuzzer's corpus and for the tests.
enum ContentSeeds {
    /// For ``WebSocketProbe``.
    static var webSocket: [[UInt8]] {
        let frames: [[UInt8]] = [
            [0x81, 0x05] + Array("Hello".utf8),
            [0x81, 0x85, 0x37, 0xFA, 0x21, 0x3D, 0x7F, 0x9F, 0x4D, 0x51, 0x58],
            [0x01, 0x03, 0x48, 0x65, 0x6C, 0x89, 0x00, 0x80, 0x02, 0x6C, 0x6F],
            // RFC 7692 §7.2.3: compressed at once, in two frames, with the window of before, stored, with a final block.
            [0xC1, 0x07, 0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0xC1, 0x05, 0xF2, 0x00, 0x11, 0x00, 0x00],
            [0x41, 0x03, 0xF2, 0x48, 0xCD, 0x80, 0x04, 0xC9, 0xC9, 0x07, 0x00],
            [0xC1, 0x0B, 0x00, 0x05, 0x00, 0xFA, 0xFF, 0x48, 0x65, 0x6C, 0x6C, 0x6F, 0x00],
            [0xC1, 0x08, 0xF3, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00],
            [0x88, 0x07, 0x03, 0xE9] + Array("leave".utf8) + [0x8A, 0x00],
            [0x82, 0x7E, 0x01, 0x00] + [UInt8](repeating: 0x5A, count: 256) + [
                0x82, 0x7F, 0, 0, 0, 0, 0, 0, 0, 1, 0x42,
            ],
        ]
        let decisions: [[UInt8]] = [
            [0, 0], [1, 1, 0, 0, 3, 2], [1, 3, 1, 0, 4], [0, 1, 0, 1, 3, 0, 1, 1, 2, 4, 5, 6],
        ]
        return frames.flatMap { bytes in decisions.map { FuzzInput.made(bytes, $0) } }
    }

    /// For ``DecoderProbe``; the first decision says which part of it.
    static var decoders: [[UInt8]] {
        let text = Array(String(repeating: "It was the best of times. ", count: 8).utf8)
        var seeds: [[UInt8]] = []
        for (index, coding) in [ContentCoding.gzip, .deflate, .brotli, .zstd].enumerated() {
            let encoded = bytes(text, [coding])
            seeds.append(FuzzInput.made(encoded, [0, 0, UInt8(index), 0, 3, 4, 6]))
            seeds.append(FuzzInput.made(encoded + encoded, [0, 0, UInt8(index), 4, 8]))
            seeds.append(FuzzInput.made(bytes(text, [coding, .gzip]), [0, 2, UInt8(index), 0, 0, 1]))
            for harm: UInt8 in 0...3 { seeds.append(FuzzInput.made(text, [1, 0, UInt8(index), 3, 0, harm, 200, 3])) }
            seeds.append(FuzzInput.made(text, [1, 1, UInt8(index), 3, 0, 0]))
        }
        seeds.append(FuzzInput.made(Array(bytes(text, [.deflate]).dropFirst(2).dropLast(4)), [0, 0, 1, 0, 1]))
        let events = [
            "data: a\ndata: b\nid: 1\n\n: ping\n\nevent: done\ndata\n\nretry: 10\r\n\r\ndata:x\r\r",
            "\u{FEFF}data: {\"a\":1}\n\nid\ndata: \n\nevent:\ndata: tail",
        ]
        seeds += events.flatMap { text in [[2], [2, 2, 1, 3]].map { FuzzInput.made(Array(text.utf8), $0) } }
        let lines = ["{\"a\":1}\n[2]\r\n\n \"c\" \n3", "\u{1E}{\"a\":\n\"\\\"}\"}\n\u{1E}[1\u{1E}2\n"]
        seeds += lines.flatMap { text in [[3], [3, 2, 1, 3]].map { FuzzInput.made(Array(text.utf8), $0) } }
        return seeds + rpc
    }

    private static var rpc: [[UInt8]] {
        let order = Array(ProtobufFixtures.order.readableBytesView)
        let result = Array(ProtobufFixtures.result.readableBytesView)
        let compressed = bytes([0x08, 0x01], [.gzip])
        let trailers = Array("grpc-status: 0\r\n".utf8)
        let frames =
            [0, 0, 0, 0, 2, 0x08, 0x01] + [1, 0, 0, 0, UInt8(compressed.count)] + compressed
            + [0x80, 0, 0, 0, UInt8(trailers.count)] + trailers
        return [
            FuzzInput.made([0, 0, 0, 0, 2, 0x08, 0x01, 0, 0, 0, 0, 0], [4, 0]),
            FuzzInput.made(frames, [4, 1, 0, 2, 3]), FuzzInput.made(frames, [4, 2, 0, 1, 2, 3, 4]),
            FuzzInput.made(Array("AAAAAAIIAQ==gAAAAAA=".utf8), [4, 2, 0, 0]),
            FuzzInput.made(Array("AAAAAAIIAQ==gAAAAAF4\n".utf8), [4, 2, 0, 0, 1]),
            FuzzInput.made(order, [5]), FuzzInput.made(order, [5, 1, 2, 1, 128]), FuzzInput.made(result, [5, 0]),
            FuzzInput.made(order, [6, 0]), FuzzInput.made(order, [6, 0, 1, 2, 1, 0, 128]),
            FuzzInput.made(result, [6, 1, 0, 0, 0, 10, 100]),
            FuzzInput.made(Array(ProtobufFixtures.anyTimestamp.readableBytesView), [6, 0, 0, 0, 0, 2, 200]),
            FuzzInput.made(Array(ProtobufFixtures.legacy.readableBytesView), [7, 0]),
            FuzzInput.made(result + Array(ProtobufFixtures.legacy.readableBytesView), [7, UInt8(result.count >> 4)]),
            FuzzInput.made(Array(ProtobufFixtures.shopAlone.readableBytesView), [7, 0]),
        ]
    }

    private static func bytes(_ bytes: [UInt8], _ codings: [ContentCoding]) -> [UInt8] {
        (try? ContentEncoder.encode(ByteBuffer(bytes: bytes), codings: codings)).map { Array($0.readableBytesView) }
            ?? []
    }
}
