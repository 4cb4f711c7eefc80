import Content
import NIOCore
import Support

/// Reads arbitrary bytes with the decoders of content codings and the readers of streams, gRPC and Protocol Buffers;
/// the first decision says which.
enum DecoderProbe {
    /// Runs the probe.
    static func run(_ bytes: [UInt8]) throws {
        var input = FuzzInput(bytes)
        let probes = [
            CodingProbe.decode, CodingProbe.encode, StreamProbe.events, StreamProbe.lines, RPCProbe.frames,
            RPCProbe.schemaless, RPCProbe.typed, RPCProbe.descriptors,
        ]
        try input.choose(probes)(&input)
    }
}

/// Decodes content codings, and encodes them first.
enum CodingProbe {
    private static let codings: [ContentCoding] = [.gzip, .deflate, .brotli, .zstd, .identity, .other("x")]

    /// Decodes arbitrary bytes.
    static func decode(_ input: inout FuzzInput) throws {
        let count = input.choose([1, 1, 2, 3, 9])
        var chain: [ContentCoding] = []
        for _ in 0..<count { chain.append(input.choose(codings)) }
        let limit = input.choose([1 << 20, 0, 1, 100, 70_000])
        _ = try decode(input.bytes, chain, limit, &input)
    }

    /// Encodes arbitrary bytes, harms them or not, and decodes them again.
    static func encode(_ input: inout FuzzInput) throws {
        var chain: [ContentCoding] = []
        for _ in 0..<(1 + input.number(below: 3)) { chain.append(input.choose(Array(codings.prefix(5)))) }
        // Repeated, so that a few bytes make a body of several pieces.
        let copies = input.choose([1, 1, 1, 40])
        let original = (0..<copies).flatMap { _ in input.bytes }
        let limit = input.choose([1 << 20, 0, 1, 100])
        var bytes = Array(try ContentEncoder.encode(ByteBuffer(bytes: original), codings: chain).readableBytesView)
        var isBare = false
        if chain == [.deflate], input.number(below: 2) == 1 {
            bytes = Array(bytes.dropFirst(2).dropLast(4))
            isBare = true
        }
        let wholeCount = bytes.count
        switch input.number(below: 4) {
        case 2: bytes = Array(bytes.prefix(input.number(below: 256) * bytes.count / 256))
        case 3 where !bytes.isEmpty: bytes[input.number(below: 256) * bytes.count / 256] ^= 1 << (input.decide() & 7)
        default:
            let decoded = try decode(bytes, chain, limit, &input)
            if original.count > limit {
                try demand(decoded.problem?.kind == .stoppedAtLimit, "\(chain) ends with \(decoded.problem as Any)")
            } else if limit == 1 << 20 {
                try demand(decoded.problem == nil, "\(chain) is not decoded: \(decoded.problem as Any)")
                try demand(decoded.bytes.readableBytesView.elementsEqual(original), "\(chain) is decoded wrongly")
            }
            return
        }
        let decoded = try decode(bytes, chain, limit, &input)
        guard bytes.count < wholeCount, !(isBare && bytes.count < 3) else { return }
        // What is cut off gives a beginning.
        try demand(original.starts(with: decoded.bytes.readableBytesView), "\(chain), cut off, is decoded wrongly")
        let isCoded = chain.contains { $0 != .identity }
        if isCoded, limit == 1 << 20, !bytes.isEmpty {
            try demand(decoded.problem?.kind == .truncated, "\(chain), cut off, ends with \(decoded.problem as Any)")
        }
    }

    private static func decode(
        _ bytes: [UInt8],
        _ chain: [ContentCoding],
        _ limit: Int,
        _ input: inout FuzzInput
    ) throws -> DecodedContent {
        let whole = ContentDecoder.decode(ByteBuffer(bytes: bytes), codings: chain, limit: limit)
        let decoder = ContentDecoder(codings: chain, limit: limit)
        var split = ByteBuffer()
        for piece in input.pieces(of: bytes) { split.writeImmutableBuffer(decoder.decode(ByteBuffer(bytes: piece))) }
        decoder.finish()
        for output in [whole.bytes, split] {
            try demand(output.readableBytes <= limit, "\(chain) gives more than the limit of \(limit)")
        }
        // What Brotli and Zstandard decode in the call in which they find a fault they keep for themselves.
        let kinds = (whole.problem?.kind, decoder.problem?.kind)
        let mayLack = kinds == (.corrupt, .corrupt) || kinds.0 != kinds.1 && [kinds.0, kinds.1].contains(.corrupt)
        if mayLack, chain.contains(.brotli) || chain.contains(.zstd) {
            let isLonger = whole.bytes.readableBytes > split.readableBytes
            let (long, short) = isLonger ? (whole.bytes, split) : (split, whole.bytes)
            try demand(long.readableBytesView.starts(with: short.readableBytesView), "\(chain) decodes to two things")
            return whole
        }
        try demand(kinds.0 == kinds.1, "\(chain): \(whole.problem as Any) whole, \(decoder.problem as Any) in pieces")
        if chain.count == 1, whole.stoppedAtLimit {
            try demand(whole.bytes.readableBytes == limit, "\(chain) stops before the limit")
        }
        try demand(
            whole.bytes == split,
            "\(chain): \(whole.bytes.readableBytes) whole, \(split.readableBytes) in pieces"
        )
        return whole
    }
}
