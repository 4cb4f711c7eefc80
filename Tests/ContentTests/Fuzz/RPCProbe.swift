import Content
import NIOCore
import Support

/// Reads the frames of gRPC, and messages in Protocol Buffers with and without descriptors.
enum RPCProbe {
    private static let types = [
        "shop.v1.Order", "shop.v1.Item", "google.protobuf.Any", "google.protobuf.Struct", "google.protobuf.Value",
        "google.protobuf.Timestamp", "google.protobuf.Duration", "google.protobuf.FieldMask",
        "google.protobuf.DoubleValue", "google.protobuf.BytesValue", "legacy.Result", "shop.v1.Ack",
    ]

    // MARK: Frames

    private struct Reading: Equatable {
        var frames: [GRPCFrame] = []
        var problem: StreamError?
        var unfinished: GRPCFrame?
        var messageCount = 0
    }

    /// Reads frames whole and in pieces, and counts them.
    static func frames(_ input: inout FuzzInput) throws {
        let format = input.choose([StreamCounter.Format.grpc, .grpcWeb, .grpcWebText])
        let limit = input.choose([1 << 20, 0, 5])
        var bytes = input.bytes
        // Text is seldom base64 by chance.
        if format == .grpcWebText, input.number(below: 2) == 1 { bytes = encode(bytes, &input) }
        let whole = read(format, limit, [bytes])
        let split = read(format, limit, input.pieces(of: bytes))
        try demand(whole == split, "\(whole) whole, \(split) in pieces")
        var size = 0
        for frame in whole.frames {
            size += frame.size
            try demand(frame.received == frame.size, "a frame is not whole")
            try demand(frame.payload.readableBytes == min(frame.size, limit), "a wrong part of a frame is kept")
            let encoding = input.choose(["gzip", nil, "identity", "deflate", "zstd"])
            _ = frame.content(encoding: encoding, limit: 1 << 16)
        }
        try demand(size <= bytes.count, "more than was sent")
        try count(format, whole, bytes, &input)
    }

    private static func read(_ format: StreamCounter.Format, _ limit: Int, _ pieces: [[UInt8]]) -> Reading {
        let reader = GRPCFrameReader(format, payloadLimit: limit)
        var reading = Reading()
        for piece in pieces { reader.feed(ByteBuffer(bytes: piece)) { reading.frames.append($0) } }
        reader.finish { reading.frames.append($0) }
        reading.problem = reader.problem
        reading.unfinished = reader.unfinished
        reading.messageCount = reader.messageCount
        return reading
    }

    private static func count(
        _ format: StreamCounter.Format,
        _ reading: Reading,
        _ bytes: [UInt8],
        _ input: inout FuzzInput
    ) throws {
        var counter = StreamCounter(format)
        for piece in input.pieces(of: bytes) { counter.feed(ByteBuffer(bytes: piece)) }
        counter.finish()
        // After the trailers the reader stops, and the counter goes on.
        if reading.problem?.message == "more follows the trailers" { return }
        let read = reading.messageCount
        try demand(counter.count == read, "\(counter.count) messages counted, \(read) read")
        guard let last = reading.frames.last(where: { $0.kind == .trailers }), !last.isCompressed,
            last.payload.readableBytes == last.size
        else { return }
        try demand(counter.trailers == last.payload, "the trailers are \(counter.trailers as Any)")
    }

    /// Base64 that is padded wherever a piece ends, and broken into lines here and there.
    private static func encode(_ bytes: [UInt8], _ input: inout FuzzInput) -> [UInt8] {
        let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
        var text: [UInt8] = []
        for piece in input.pieces(of: bytes) {
            for start in stride(from: 0, to: piece.count, by: 3) {
                let group = piece[start..<min(start + 3, piece.count)]
                let bits = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
                for digit in 0...3 {
                    text.append(digit <= group.count ? alphabet[bits >> (18 - 6 * digit) & 0x3F] : 0x3D)
                }
            }
            if input.number(below: 4) == 3 { text.append(0x0A) }
        }
        return text
    }

    // MARK: Protocol Buffers

    /// Reads a message without a descriptor.
    static func schemaless(_ input: inout FuzzInput) throws {
        let limits = limits(&input)
        let bytes = input.bytes
        let content = ProtobufContent.schemaless(ByteBuffer(bytes: bytes), limits: limits)
        try check(content, limits, bytes)
        let beginning = ByteBuffer(bytes: bytes.prefix(bytes.count * input.number(below: 256) / 256))
        let partial = ProtobufContent.schemaless(beginning, isPartial: true, limits: limits)
        try check(partial, limits, bytes)
        if content.problem == nil {
            try demand(partial.problem == nil, "the beginning of a message has a problem: \(partial.problem as Any)")
        }
    }

    /// Reads a message with a descriptor.
    static func typed(_ input: inout FuzzInput) throws {
        let set = try DescriptorSet(input.choose([ProtobufFixtures.shop, ProtobufFixtures.legacy]))
        try decode(input.bytes, set, &input)
    }

    /// Reads a descriptor set, and a message with it.
    static func descriptors(_ input: inout FuzzInput) throws {
        let bytes = input.bytes
        let length = min(input.number(below: 256) << 4, bytes.count)
        guard let set = try? DescriptorSet(ByteBuffer(bytes: bytes.dropFirst(length))) else { return }
        for name in set.serviceNames {
            _ = set.method(path: "/\(name)/Get")
            guard case .found(let method) = set.method(path: "/\(name)/Watch") else { continue }
            _ = set.decode(ByteBuffer(bytes: bytes.prefix(length)), as: method.input)
        }
        try decode(Array(bytes.prefix(length)), set, &input)
    }

    private static func decode(_ bytes: [UInt8], _ set: DescriptorSet, _ input: inout FuzzInput) throws {
        let limits = limits(&input)
        let type = input.choose(types)
        guard let content = set.decode(ByteBuffer(bytes: bytes), as: type, limits: limits) else { return }
        try check(content, limits, bytes)
        let beginning = ByteBuffer(bytes: bytes.prefix(bytes.count * input.number(below: 256) / 256))
        guard let partial = set.decode(beginning, as: type, isPartial: true, limits: limits) else {
            throw ProbeError(description: "\(type) is known or not by the message")
        }
        try check(partial, limits, bytes)
    }

    private static func limits(_ input: inout FuzzInput) -> ProtobufLimits {
        var limits = ProtobufLimits()
        limits.depth = input.choose([64, 3])
        limits.values = input.choose([10_000, 1, 20])
        limits.text = input.choose([4096, 5])
        return limits
    }

    private static func check(_ content: ProtobufContent, _ limits: ProtobufLimits, _ bytes: [UInt8]) throws {
        // A value in two lines at most, and the brackets of the message itself.
        let lines = content.lines
        let count = nodes(content.root)
        // A map's entry and an `Any` have a node more than they have values; a message that is left out has one too.
        try demand(count <= 3 * limits.values + 8, "\(count) values are shown, and \(limits.values) allowed")
        try demand(lines.count <= 2 * count + 2, "\(count) values in \(lines.count) lines")
        let depth = depth(content.root)
        try demand(depth <= 3 * limits.depth + 3, "a depth of \(depth)")
        for line in lines {
            try demand(!line.utf8.contains { $0 < 0x20 || $0 == 0x7F }, "a control character in \(line)")
        }
        try demand(content.problem.map { (0...bytes.count).contains($0.offset) } ?? true, "a problem behind the end")
    }

    private static func nodes(_ node: ProtobufNode) -> Int {
        switch node.value {
        case .scalar: 1
        case .message(let children), .list(let children): children.reduce(1) { $0 + nodes($1) }
        }
    }

    private static func depth(_ node: ProtobufNode) -> Int {
        switch node.value {
        case .scalar: 0
        case .message(let children), .list(let children): 1 + (children.map(depth).max() ?? 0)
        }
    }
}
