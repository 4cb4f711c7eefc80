import NIOCore
import Support
import Testing

@testable import Content

@Suite("gRPC frames")
struct GRPCFrameReaderTests {
    /// A frame with its prefix.
    private static func frame(_ payload: [UInt8], flags: UInt8 = 0) -> [UInt8] {
        [flags] + withUnsafeBytes(of: UInt32(payload.count).bigEndian, Array.init) + payload
    }

    private static let two = frame(Array("hello".utf8)) + frame([])

    /// Reads bytes in pieces of a size.
    private static func read(
        _ bytes: [UInt8],
        _ format: StreamCounter.Format = .grpc,
        pieces: Int = .max,
        limit: Int = 1024
    ) -> (frames: [GRPCFrame], reader: GRPCFrameReader) {
        let reader = GRPCFrameReader(format, payloadLimit: limit)
        var frames: [GRPCFrame] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            reader.feed(ByteBuffer(bytes: rest.prefix(pieces))) { frames.append($0) }
            rest = rest.dropFirst(pieces)
        }
        reader.finish { frames.append($0) }
        return (frames, reader)
    }

    private static func base64(_ bytes: [UInt8]) -> [UInt8] {
        Array(ProtobufFixtures.base64(bytes).utf8)
    }

    @Test(
        "Messages are read, however the body comes in pieces",
        arguments: [1, 2, 3, 7, 99]
    )
    func readsMessages(pieces: Int) {
        let (frames, reader) = Self.read(Self.two, pieces: pieces)
        #expect(frames.map(\.size) == [5, 0])
        #expect(frames.map { String(buffer: $0.payload) } == ["hello", ""])
        #expect(frames.allSatisfy { $0.kind == .message && !$0.isCompressed && $0.leftOut == 0 })
        #expect(reader.messageCount == 2 && reader.problem == nil && reader.unfinished == nil)
    }

    @Test("A payload is kept up to the limit, and what was left out is known")
    func keepsUpToLimit() {
        let (frames, _) = Self.read(Self.frame(Array(repeating: 7, count: 1000)), pieces: 64, limit: 10)
        #expect(frames.count == 1)
        #expect(frames.first?.payload == ByteBuffer(repeating: 7, count: 10))
        #expect(frames.first?.size == 1000 && frames.first?.leftOut == 990)
    }

    @Test("The end of the body at any byte is told with its place")
    func tellsTruncation() {
        for count in 0...Self.two.count {
            let (frames, reader) = Self.read(Array(Self.two.prefix(count)))
            let isBetween = count == 0 || count == 10 || count == 15
            #expect((reader.problem == nil) == isBetween, "after \(count) bytes")
            #expect(frames.count == (count >= 15 ? 2 : count >= 10 ? 1 : 0))
            if let problem = reader.problem {
                #expect(problem.kind == .truncated && problem.offset == Int64(count))
            }
        }
        let (_, reader) = Self.read(Array(Self.two.prefix(8)))
        #expect(reader.problem?.description == "the body ends within message 1, after 3 of its 5 bytes, at byte 8")
        #expect(reader.unfinished?.received == 3 && reader.unfinished?.size == 5)
        #expect(reader.unfinished.map { String(buffer: $0.payload) } == "hel")
    }

    @Test("A length of 4 GiB needs no memory")
    func takesHugeLengths() {
        let (frames, reader) = Self.read([0, 0xFF, 0xFF, 0xFF, 0xFF, 1, 2, 3])
        #expect(frames.isEmpty)
        #expect(reader.unfinished?.size == 0xFFFF_FFFF)
        #expect(reader.unfinished?.received == 3)
    }

    @Test("Flags without a meaning end the reading, with their place")
    func refusesFlags() {
        let (frames, reader) = Self.read(Self.two + Array("<html>".utf8) + Self.two)
        #expect(frames.count == 2)
        #expect(reader.problem?.kind == .malformed)
        #expect(reader.problem?.offset == 15)
        #expect(reader.problem?.message.contains("0x3c") == true)
        // The trailers' bit belongs to gRPC-Web.
        #expect(Self.read(Self.frame([], flags: 0x80)).reader.problem?.kind == .malformed)
    }

    @Test("gRPC-Web carries the trailers in its last frame")
    func readsWebTrailers() {
        let trailers = Array("grpc-status: 5\r\ngrpc-message: none\r\n".utf8)
        let body = Self.two + Self.frame(trailers, flags: 0x80)
        let (frames, reader) = Self.read(body, .grpcWeb, pieces: 4)
        #expect(frames.map(\.kind) == [.message, .message, .trailers])
        #expect(frames.last.map { Array($0.payload.readableBytesView) } == trailers)
        #expect(reader.messageCount == 2 && reader.problem == nil)
        let more = Self.read(body + Self.frame([]), .grpcWeb).reader.problem
        #expect(more?.kind == .malformed && more?.offset == Int64(body.count))
    }

    @Test("Base64 may be padded wherever a piece of the stream ended", arguments: [1, 2, 3, 5, 64])
    func readsWebText(pieces: Int) {
        let body = Self.two + Self.frame(Array("grpc-status:0".utf8), flags: 0x80)
        let binary = Self.read(body, .grpcWeb)
        for cut in 1..<body.count {
            let text = Self.base64(Array(body.prefix(cut))) + Self.base64(Array(body.dropFirst(cut)))
            let (frames, reader) = Self.read(text, .grpcWebText, pieces: pieces)
            #expect(reader.problem == nil, "cut at \(cut)")
            #expect(frames.map(\.payload) == binary.frames.map(\.payload))
        }
    }

    @Test("Base64 without its last padding is read, a lone digit is a problem")
    func readsUnpadded() {
        let whole = Self.base64(Self.frame([1, 2]))
        #expect(whole.last == UInt8(ascii: "="))
        let (frames, reader) = Self.read(whole.filter { $0 != UInt8(ascii: "=") }, .grpcWebText)
        #expect(frames.count == 1 && reader.problem == nil)
        #expect(Self.read(whole.prefix(5).map { $0 }, .grpcWebText).reader.problem?.kind == .truncated)
    }

    @Test(
        "What is no base64 ends the reading, with its place",
        arguments: ["AAAA*AAA", "AAAA=AAA", "AAAAA===", "AAAAAA=A"]
    )
    func refusesBase64(_ text: String) throws {
        let problem = try #require(Self.read(Array(text.utf8), .grpcWebText).reader.problem)
        #expect(problem.kind == .malformed)
        #expect((4..<8).contains(problem.offset))
    }

    @Test("Messages are decompressed as grpc-encoding says", arguments: ["gzip", "deflate", " GZIP "])
    func decompresses(_ encoding: String) throws {
        let coding = ContentCoding(encoding.filter { $0 != " " })
        let payload = try ContentEncoder.encode(ByteBuffer(string: "hello hello hello"), codings: [coding])
        let body = Self.frame(Array(payload.readableBytesView), flags: 1)
        let frame = try #require(Self.read(body).frames.first)
        #expect(frame.isCompressed)
        let content = frame.content(encoding: encoding, limit: 100)
        #expect(String(buffer: content.bytes) == "hello hello hello")
        #expect(content.problem == nil)
        #expect(frame.content(encoding: encoding, limit: 5).stoppedAtLimit)
    }

    @Test("Compression that cannot be undone leaves the bytes, with a note")
    func notesUnknownCompression() throws {
        let frame = try #require(Self.read(Self.frame([1, 2, 3], flags: 1)).frames.first)
        for encoding in [nil, "identity", "snappy"] {
            let content = frame.content(encoding: encoding, limit: 100)
            #expect(content.bytes == frame.payload)
            #expect(content.problem?.kind == .unknownCoding)
        }
        let plain = try #require(Self.read(Self.frame([1, 2, 3])).frames.first)
        #expect(plain.content(encoding: "gzip", limit: 100) == DecodedContent(bytes: plain.payload))
    }

    @Test("Any bytes in any pieces give the same, and no more than they hold")
    func survivesAnything() {
        let seed: UInt64 = 0x510C_E005
        var random = SplitMix(seed)
        for round in 0..<3000 {
            let format = [StreamCounter.Format.grpc, .grpcWeb, .grpcWebText][round % 3]
            var body = Self.two + Self.frame([3, 4], flags: 0x80)
            if format == .grpcWebText { body = Self.base64(body) }
            random.mutate(&body)
            let whole = Self.read(body, format)
            let pieces = Self.read(body, format, pieces: 1 + round % 5)
            #expect(whole.frames == pieces.frames, "seed \(seed), round \(round)")
            #expect(whole.reader.problem == pieces.reader.problem, "seed \(seed), round \(round)")
            #expect(whole.frames.allSatisfy { $0.received <= body.count }, "seed \(seed), round \(round)")
        }
    }

    @Test("Media types tell the form")
    func readsMediaTypes() throws {
        func form(_ text: String) -> GRPCMessageForm? { MediaType(text).map { GRPCMessageForm($0) } }
        #expect(form("application/grpc") == .protobuf)
        #expect(form("application/grpc-web+proto") == .protobuf)
        #expect(form("application/grpc+json") == .json)
        #expect(form("application/grpc+flatbuffers") == .other)
    }
}
