import NIOCore
import Support
import Testing

@testable import Content

@Suite("Content decoding")
struct ContentDecoderTests {
    static let codings: [ContentCoding] = [.gzip, .deflate, .brotli, .zstd]
    static let text = Array(String(repeating: "Sluice reads what was sent. ", count: 400).utf8)

    @Test("what is encoded decodes to the same bytes, whole and byte by byte", arguments: codings)
    func roundTrip(_ coding: ContentCoding) throws {
        for plain in [Self.text, [], [0], Array(repeating: 7, count: 300_000)] {
            let encoded = try ContentEncoder.encode(ByteBuffer(bytes: plain), coding: coding)
            let whole = ContentDecoder.decode(encoded, codings: [coding], limit: 1 << 20)
            #expect(Array(whole.bytes.readableBytesView) == plain)
            #expect(whole.problem == nil)

            let decoder = ContentDecoder(codings: [coding], limit: 1 << 20)
            var output: [UInt8] = []
            for byte in encoded.readableBytesView {
                output += Array(decoder.decode(ByteBuffer(bytes: [byte])).readableBytesView)
            }
            decoder.finish()
            #expect(output == plain)
            #expect(decoder.problem == nil)
        }
    }

    @Test("pieces that are encoded one by one are one stream", arguments: [ContentCoding.gzip, .deflate, .zstd])
    func pieces(_ coding: ContentCoding) throws {
        var seed = SystemRandomNumberGenerator()
        let noise = (0..<300_000).map { _ in UInt8.random(in: 0...255, using: &seed) }
        for pieces in [[], [[]], [Self.text, [], noise, [1]], [noise + noise]] {
            let encoder = try #require(StreamEncoder(coding))
            var encoded = ByteBuffer()
            for piece in pieces {
                encoded.writeImmutableBuffer(try #require(encoder.encode(ByteBuffer(bytes: piece), isLast: false)))
            }
            encoded.writeImmutableBuffer(try #require(encoder.encode(ByteBuffer(), isLast: true)))
            let decoded = ContentDecoder.decode(encoded, codings: [coding], limit: 1 << 20)
            #expect(decoded == DecodedContent(bytes: ByteBuffer(bytes: pieces.flatMap { $0 }), problem: nil))
        }
        #expect(StreamEncoder(.brotli) == nil && StreamEncoder(.identity) == nil)
    }

    @Test("data made by the reference tools decodes")
    func reference() {
        // `printf 'hello hello hello\n' | gzip -n`, python's zlib, `brotli`, `zstd`.
        for (coding, hex) in Self.referenceData {
            let codings = ContentCoding.list(coding)
            let decoded = ContentDecoder.decode(ByteBuffer(bytes: bytes(hex)), codings: codings, limit: 1000)
            #expect(String(buffer: decoded.bytes) == "hello hello hello\n", "\(coding)")
            #expect(decoded.problem == nil, "\(coding)")
        }
    }

    static let referenceData: [(String, String)] = [
        ("gzip", "1f8b0800000000000203cb48cdc9c957c840905c003b7c8adf12000000"),
        ("x-gzip", "1f8b0800000000000203cb48cdc9c957c840905c003b7c8adf12000000"),
        ("deflate", "789ccb48cdc9c957c840905c0040b50687"),
        ("deflate", "cb48cdc9c957c840905c00"),
        ("br", "8b088068656c6c6f2068656c6c6f2068656c6c6f0a03"),
        ("zstd", "28b52ffd04586d00003868656c6c6f200a0100314a11a3aa74ce"),
    ]

    @Test("codings are undone in the reverse of their order")
    func chain() throws {
        let plain = ByteBuffer(bytes: Self.text)
        let encoded = try ContentEncoder.encode(plain, codings: [.gzip, .brotli, .zstd])
        let codings = ContentCoding.list("gzip, BR ,, identity, zstd")
        let decoded = ContentDecoder.decode(encoded, codings: codings, limit: 1 << 20)
        #expect(decoded == DecodedContent(bytes: plain, problem: nil))
        let wrong = ContentDecoder.decode(encoded, codings: ContentCoding.list("br, gzip, zstd"), limit: 1 << 20)
        #expect(wrong.problem?.kind == .corrupt)
        #expect(wrong.problem?.coding == .gzip)
    }

    @Test("deflate without its zlib header is read too", arguments: [1, 2, 1000])
    func rawDeflate(_ step: Int) throws {
        let encoded = try ContentEncoder.encode(ByteBuffer(bytes: Self.text), coding: .deflate)
        let raw = Array(encoded.readableBytesView.dropFirst(2).dropLast(4))
        let decoder = ContentDecoder(codings: [.deflate], limit: 1 << 20)
        var output: [UInt8] = []
        for start in stride(from: 0, to: raw.count, by: step) {
            let piece = raw[start..<min(start + step, raw.count)]
            output += Array(decoder.decode(ByteBuffer(bytes: piece)).readableBytesView)
        }
        decoder.finish()
        #expect(output == Self.text)
        #expect(decoder.problem == nil)
    }

    @Test("several gzip members and zstd frames are one body", arguments: [ContentCoding.gzip, .zstd])
    func members(_ coding: ContentCoding) throws {
        var encoded = try ContentEncoder.encode(ByteBuffer(string: "one "), coding: coding)
        encoded.writeImmutableBuffer(try ContentEncoder.encode(ByteBuffer(string: "two"), coding: coding))
        let decoded = ContentDecoder.decode(encoded, codings: [coding], limit: 100)
        #expect(decoded == DecodedContent(bytes: ByteBuffer(string: "one two"), problem: nil))
    }

    @Test("bytes after the end are noted with their offset and do no harm", arguments: codings)
    func trailing(_ coding: ContentCoding) throws {
        let whole = try ContentEncoder.encode(ByteBuffer(bytes: Self.text), coding: coding)
        for garbage in ["x", "garbage that is no member", "\u{0}\u{0}\u{0}"] {
            var encoded = whole
            encoded.writeString(garbage)
            let decoded = ContentDecoder.decode(encoded, codings: [coding], limit: 1 << 20)
            #expect(Array(decoded.bytes.readableBytesView) == Self.text)
            #expect(decoded.problem?.kind == .trailingData, "\(garbage): \(String(describing: decoded.problem))")
            #expect(decoded.problem?.offset == whole.readableBytes)
        }
    }

    @Test("cut off at any byte, the beginning is decoded and the end said to be missing", arguments: codings)
    func truncation(_ coding: ContentCoding) throws {
        let encoded = try ContentEncoder.encode(ByteBuffer(bytes: Self.text), coding: coding)
        for count in 1..<encoded.readableBytes {
            let cut = try #require(encoded.getSlice(at: 0, length: count))
            let decoded = ContentDecoder.decode(cut, codings: [coding], limit: 1 << 20)
            #expect(Self.text.starts(with: decoded.bytes.readableBytesView))
            #expect(decoded.problem?.kind == .truncated, "\(count)")
            #expect(decoded.problem?.offset == count)
        }
    }

    @Test("no bytes at all are an empty body", arguments: codings)
    func empty(_ coding: ContentCoding) {
        let decoded = ContentDecoder.decode(ByteBuffer(), codings: [coding], limit: 10)
        #expect(decoded == DecodedContent(bytes: ByteBuffer(), problem: nil))
    }

    @Test("a bomb stops at the limit, to the byte", arguments: codings)
    func bomb(_ coding: ContentCoding) throws {
        let size = 20 << 20
        let encoded = try ContentEncoder.encode(ByteBuffer(repeating: 0, count: size), coding: coding)
        #expect(encoded.readableBytes < size / 100)
        let decoded = ContentDecoder.decode(encoded, codings: [coding], limit: 100_001)
        #expect(decoded.bytes.readableBytes == 100_001)
        #expect(decoded.stoppedAtLimit)
        let exact = ContentDecoder.decode(encoded, codings: [coding], limit: size)
        #expect(exact.problem == nil)
        #expect(exact.bytes.readableBytes == size)
    }

    @Test("a small body may grow by so much, or to a size that any may have", arguments: codings)
    func growth(_ coding: ContentCoding) throws {
        func decode(_ body: ByteBuffer, _ growth: DecodedGrowth) -> DecodedContent {
            let decoder = ContentDecoder(codings: [coding], limit: 1 << 20, growth: growth)
            return DecodedContent(bytes: decoder.decode(body), problem: decoder.problem)
        }
        let encoded = try ContentEncoder.encode(ByteBuffer(repeating: 0, count: 400_000), codings: [coding])
        let cut = decode(encoded, DecodedGrowth(times: 1, always: 100_000))
        #expect(cut.bytes.readableBytes == 100_000 && cut.stoppedAtLimit)
        #expect(cut.problem?.message.contains("100000 bytes") == true, "\(cut)")
        for growth in [DecodedGrowth(times: 1, always: 400_000), DecodedGrowth(times: .max, always: 0)] {
            let whole = decode(encoded, growth)
            #expect(whole.bytes.readableBytes == 400_000 && whole.problem == nil)
        }
        let times = decode(encoded, DecodedGrowth(times: 3, always: 0))
        #expect(times.bytes.readableBytes <= 3 * encoded.readableBytes && times.stoppedAtLimit)
    }

    @Test("a bomb in a bomb stops at the limit")
    func nestedBomb() throws {
        let plain = ByteBuffer(repeating: 0, count: 20 << 20)
        let encoded = try ContentEncoder.encode(plain, codings: [.gzip, .gzip, .gzip])
        let decoded = ContentDecoder.decode(encoded, codings: [.gzip, .gzip, .gzip], limit: 1 << 20)
        #expect(decoded.bytes.readableBytes == 1 << 20)
        #expect(decoded.stoppedAtLimit)
    }

    @Test("the limit holds without any coding too")
    func plainLimit() {
        let decoded = ContentDecoder.decode(ByteBuffer(string: "abcdef"), codings: [], limit: 4)
        #expect(String(buffer: decoded.bytes) == "abcd")
        #expect(decoded.stoppedAtLimit)
        #expect(!ContentDecoder.decode(ByteBuffer(string: "abcd"), codings: [], limit: 4).stoppedAtLimit)
    }

    @Test("pieces handed over are never larger than 64 KiB")
    func pieces() throws {
        let encoded = try ContentEncoder.encode(ByteBuffer(repeating: 0, count: 5 << 20), coding: .brotli)
        let decoder = ContentDecoder(codings: [.brotli], limit: .max)
        var sizes: [Int] = []
        decoder.decode(encoded) { sizes.append($0.count) }
        #expect(sizes.reduce(0, +) == 5 << 20)
        #expect(sizes.allSatisfy { $0 <= 65_536 })
    }

    @Test("an unknown coding is named and the bytes before it are given as they are")
    func unknown() throws {
        let encoded = try ContentEncoder.encode(ByteBuffer(string: "inner"), coding: .gzip)
        let decoded = ContentDecoder.decode(encoded, codings: ContentCoding.list("compress, gzip"), limit: 100)
        #expect(String(buffer: decoded.bytes) == "inner")
        #expect(decoded.problem?.kind == .unknownCoding)
        #expect(decoded.problem?.coding == .other("compress"))
        #expect(throws: EncodingError.self) {
            try ContentEncoder.encode(ByteBuffer(), coding: .other("compress"))
        }
    }

    @Test("more codings than any server applies are refused")
    func tooMany() {
        let many = ContentDecoder.decode(
            ByteBuffer(string: "x"),
            codings: Array(repeating: .gzip, count: 9),
            limit: 100
        )
        #expect(many.problem?.kind == .unknownCoding)
        #expect(String(buffer: many.bytes) == "x")
        // A field has room for thousands, and each decoder would take tens of kilobytes.
        let codings = [.other("x")] + Array(repeating: ContentCoding.gzip, count: 20_000) + [.identity]
        let decoder = ContentDecoder(codings: codings, limit: 100)
        #expect(decoder.problem?.message.hasPrefix("20001 content codings are more than the 8") == true)
    }

    @Test(
        "flipped and random bytes end in a problem or in bytes, never in a crash or beyond the limit",
        arguments: codings
    )
    func noise(_ coding: ContentCoding) throws {
        var random = SplitMix(20_261_121)
        let good = Array(try ContentEncoder.encode(ByteBuffer(bytes: Self.text), coding: coding).readableBytesView)
        for round in 0..<600 {
            var bytes = good
            if round % 3 == 0 {
                bytes = (0..<Int(random.next() % 300)).map { _ in UInt8(truncatingIfNeeded: random.next()) }
            } else {
                for _ in 0...Int(random.next() % 4) {
                    bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
                }
            }
            let decoded = ContentDecoder.decode(ByteBuffer(bytes: bytes), codings: [coding], limit: 20_000)
            #expect(decoded.bytes.readableBytes <= 20_000, "seed 20261121, round \(round)")
            if let problem = decoded.problem, problem.kind != .stoppedAtLimit {
                #expect((0...bytes.count).contains(problem.offset))
            }
        }
    }

    @Test("a corrupt byte in the middle leaves what stands before it, and its offset")
    func corrupt() throws {
        var plain = ByteBuffer()
        var random = SplitMix(5)
        for _ in 0..<50_000 { plain.writeInteger(UInt8(truncatingIfNeeded: random.next())) }
        var encoded = try ContentEncoder.encode(plain, coding: .gzip)
        encoded.setInteger(UInt32.max, at: encoded.writerIndex - 8)
        let decoded = ContentDecoder.decode(encoded, codings: [.gzip], limit: 1 << 20)
        #expect(decoded.problem?.kind == .corrupt)
        #expect(decoded.bytes == plain)
        #expect((decoded.problem?.offset ?? 0) > 50_000)
        #expect(decoded.problem?.description.contains("gzip: ") == true)
    }

    private func bytes(_ hex: String) -> [UInt8] {
        let digits = Array(hex.utf8).map { UInt8($0 < 0x3A ? $0 - 0x30 : $0 - 0x57) }
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
