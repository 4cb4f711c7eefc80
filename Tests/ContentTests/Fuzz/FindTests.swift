import Content
import NIOCore
import Support
import Testing

/// What the fuzzers of `Tests/Fuzzing` start with, and all that they ever found, run once more.
@Suite struct ContentFindTests {
    @Test("no input of images fails", arguments: try FuzzReplay.all("Images", seeds: ImageSeeds.inputs))
    func images(_ input: FuzzReplay) throws {
        try ImageProbe.run(input.bytes)
    }

    @Test(
        "no input of WebSocket frames fails",
        arguments: try FuzzReplay.all("WebSocket", seeds: ContentSeeds.webSocket)
    )
    func webSocket(_ input: FuzzReplay) throws {
        try WebSocketProbe.run(input.bytes)
    }

    @Test("no input of the decoders fails", arguments: try FuzzReplay.all("Decoders", seeds: ContentSeeds.decoders))
    func decoders(_ input: FuzzReplay) throws {
        try DecoderProbe.run(input.bytes)
    }

    @Test("no input of places fails", arguments: try FuzzReplay.all("Paths", seeds: PathSeeds.all))
    func paths(_ input: FuzzReplay) throws {
        try PathProbe.run(input.bytes)
    }

    @Test("of a body with a fault near its end nearly all is shown", arguments: [ContentCoding.brotli, .zstd])
    func faultAtEnd(_ coding: ContentCoding) throws {
        // Numbers that compress badly, so that the body has many blocks.
        let original = Array((0..<60_000).map { "\($0 &* 2_654_435_761 % 1_000_003)" }.joined(separator: ",").utf8)
        let encoded = try ContentEncoder.encode(ByteBuffer(bytes: original), coding: coding)
        // Not every harm is noticed, as most of it only makes other bytes.
        let harmed = (20..<300).lazy.map { distance in
            var bytes = encoded
            bytes.setRepeatingByte(0xA5, count: 12, at: bytes.writerIndex - distance)
            return ContentDecoder.decode(bytes, codings: [coding], limit: 1 << 20)
        }
        let decoded = try #require(harmed.first { $0.problem?.kind == .corrupt })
        let rightCount = zip(original, decoded.bytes.readableBytesView).prefix { $0 == $1 }.count
        // Zstandard gives whole blocks of 128 KiB only.
        #expect(rightCount > original.count - (coding == .zstd ? 192 << 10 : 8192))
    }

    @Test("with two codings the fault that stopped the decoding is told, in whatever pieces the body comes")
    func faultOfInnerCoding() throws {
        let inner = [UInt8](repeating: 0xAA, count: 3000)
        var body = try ContentEncoder.encode(ByteBuffer(bytes: inner), coding: .gzip)
        // The outer coding has a fault too, but only in its checksum.
        body.setInteger(0 as UInt32, at: body.writerIndex - 8)
        let whole = ContentDecoder.decode(body, codings: [.zstd, .gzip], limit: 1 << 20)
        #expect(whole.problem?.coding == .zstd)
        let decoder = ContentDecoder(codings: [.zstd, .gzip], limit: 1 << 20)
        for byte in body.readableBytesView { _ = decoder.decode(ByteBuffer(bytes: [byte])) }
        #expect(decoder.problem?.kind == whole.problem?.kind && decoder.problem?.coding == whole.problem?.coding)
    }

    @Test("a fault behind a good zlib header is no reason to try bare deflate")
    func faultBehindHeader() {
        // Empty blocks, and one of a type that there is not.
        let blocks: [UInt8] = (0..<5).flatMap { _ in [0x00, 0x00, 0x00, 0xFF, 0xFF] as [UInt8] }
        let bytes: [UInt8] = [0x78, 0x9C] + blocks + [0x07]
        let whole = ContentDecoder.decode(ByteBuffer(bytes: bytes), codings: [.deflate], limit: 100)
        let decoder = ContentDecoder(codings: [.deflate], limit: 100)
        for byte in bytes { _ = decoder.decode(ByteBuffer(bytes: [byte])) }
        #expect(whole.problem?.kind == .corrupt)
        #expect(decoder.problem == whole.problem)
    }

    @Test("grpc-web-text without its last padding is counted to its end")
    func unpaddedBase64() {
        var counter = StreamCounter(.grpcWebText)
        // An empty message, then the trailers `a:b`.
        counter.feed(ByteBuffer(string: "AAAAAACAAAAAA2E6Yg"))
        counter.finish()
        #expect(counter.count == 1)
        #expect(counter.trailers == ByteBuffer(string: "a:b"))
    }
}
