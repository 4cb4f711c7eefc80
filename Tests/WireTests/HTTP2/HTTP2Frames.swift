import HTTPModel
import NIOCore
import Support
import Wire

/// Writes frames of any kind, right or wrong (RFC 9113 §4.1).
struct HTTP2Frames {
    enum Kind: UInt8 {
        case data, headers, priority, resetStream, settings, pushPromise, ping, goAway, windowUpdate, continuation
        case unknown = 0xEE
    }

    static let preface = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
    static let endStream: UInt8 = 0x1
    static let acknowledgement: UInt8 = 0x1
    static let endHeaders: UInt8 = 0x4
    static let padded: UInt8 = 0x8
    static let priority: UInt8 = 0x20

    private(set) var bytes = ByteBuffer()

    init() {}

    /// What a client begins with: the preface, its SETTINGS, and the acknowledgement of ours.
    static func client(_ build: (inout HTTP2Frames) -> Void) -> ByteBuffer {
        var frames = HTTP2Frames()
        frames.bytes.writeString(preface)
        frames.add(.settings)
        frames.add(.settings, flags: acknowledgement)
        build(&frames)
        return frames.bytes
    }

    /// What a server begins with.
    static func server(_ build: (inout HTTP2Frames) -> Void) -> ByteBuffer {
        var frames = HTTP2Frames()
        frames.add(.settings)
        frames.add(.settings, flags: acknowledgement)
        build(&frames)
        return frames.bytes
    }

    mutating func add(
        _ kind: Kind,
        flags: UInt8 = 0,
        on stream: UInt32 = 0,
        _ payload: [UInt8] = [],
        length: Int? = nil
    ) {
        let length = length ?? payload.count
        bytes.writeBytes([UInt8(length >> 16 & 0xFF), UInt8(length >> 8 & 0xFF), UInt8(length & 0xFF)])
        bytes.writeInteger(kind.rawValue)
        bytes.writeInteger(flags)
        bytes.writeInteger(stream)
        bytes.writeBytes(payload)
    }

    mutating func append(_ frames: HTTP2Frames) { bytes.writeImmutableBuffer(frames.bytes) }

    /// Adds a whole head in one frame.
    mutating func head(on stream: UInt32 = 1, _ fields: [(String, String)], isEnd: Bool = true) {
        add(.headers, flags: HTTP2Frames.endHeaders | (isEnd ? HTTP2Frames.endStream : 0), on: stream, block(fields))
    }

    /// Adds a request without a body, or the head of one with.
    mutating func request(on stream: UInt32 = 1, _ fields: [(String, String)] = [], isEnd: Bool = true) {
        head(on: stream, HTTP2Frames.pseudo + fields, isEnd: isEnd)
    }

    mutating func data(_ text: String, on stream: UInt32 = 1, isEnd: Bool = false) {
        add(.data, flags: isEnd ? HTTP2Frames.endStream : 0, on: stream, Array(text.utf8))
    }

    mutating func settings(_ entries: [(id: UInt16, value: UInt32)]) {
        add(.settings, entries.flatMap { big($0.id) + big($0.value) })
    }

    static let pseudo = [(":method", "POST"), (":scheme", "https"), (":authority", "a.example"), (":path", "/")]
    static let response = [(":status", "200")]
}

/// An integer's bytes, the highest first.
func big(_ value: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: value.bigEndian, Array.init)
}

/// A header block of literals without indexing or Huffman coding (RFC 7541 §6.2.2).
func block(_ fields: [(String, String)]) -> [UInt8] {
    fields.flatMap { name, value in [0x00] + literal(Array(name.utf8)) + literal(Array(value.utf8)) }
}

/// A string literal (RFC 7541 §5.2).
func literal(_ bytes: [UInt8]) -> [UInt8] {
    guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
    var rest = bytes.count - 127
    var prefix: [UInt8] = [127]
    while rest >= 128 {
        prefix.append(UInt8(rest & 127 | 128))
        rest >>= 7
    }
    return prefix + [UInt8(rest)] + bytes
}

/// A frame as it was found in a session's output.
struct HTTP2Frame {
    var kind: UInt8
    var flags: UInt8
    var stream: UInt32
    var payload: [UInt8]

    /// The verdict that a RST_STREAM or GOAWAY tells the peer; `nil` for other frames.
    var verdict: String? {
        func code(at offset: Int) -> HTTP2ErrorCode {
            HTTP2ErrorCode(rawValue: payload[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) })
        }
        switch kind {
        case HTTP2Frames.Kind.resetStream.rawValue: return "rst \(stream) \(code(at: 0))"
        case HTTP2Frames.Kind.goAway.rawValue: return "goaway \(code(at: 4))"
        default: return nil
        }
    }
}

/// Takes a session's output apart.
func frames(_ output: ByteBuffer) -> [HTTP2Frame] {
    var output = output
    if output.readableBytesView.starts(with: HTTP2Frames.preface.utf8) { output.moveReaderIndex(forwardBy: 24) }
    var frames: [HTTP2Frame] = []
    while let header = output.readBytes(length: 9) {
        let length = Int(header[0]) << 16 | Int(header[1]) << 8 | Int(header[2])
        let stream = header[5..<9].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        guard let payload = output.readBytes(length: length) else { break }
        frames.append(HTTP2Frame(kind: header[3], flags: header[4], stream: stream, payload: payload))
    }
    return frames
}

/// How bytes are cut when a session is given them.
enum Feeding: CaseIterable {
    case whole, randomly, byteByByte
}

/// What came of feeding bytes to a session that answers nothing.
struct HTTP2Outcome: Equatable {
    /// The events, parts of bodies that follow each other in one.
    var events: [String]
    /// The RST_STREAM and GOAWAY frames sent.
    var verdicts: [String]

    /// The events of each stream in their order, without bodies.
    ///
    /// How events of different streams mix depends on how the bytes are cut: a reset of ours shows when the work on
    /// what was received is done. So does how much of a body is handed over before its fault is found.
    var eventsByStream: [String: [String]] {
        Dictionary(grouping: events.filter { !$0.contains(" data ") }) { String($0.prefix { $0 != " " }) }
    }

    init(
        of bytes: ByteBuffer,
        to session: HTTP2Session,
        _ feeding: Feeding,
        seed: UInt64 = 0,
        now: NIODeadline = .uptimeNanoseconds(1)
    ) {
        var generator = SplitMix(seed)
        var bytes = bytes
        var output = ByteBuffer()
        var events: [String] = []
        while bytes.readableBytes > 0 {
            let count =
                switch feeding {
                case .whole: bytes.readableBytes
                case .randomly: Int.random(in: 1...min(40, bytes.readableBytes), using: &generator)
                case .byteByByte: 1
                }
            if let part = bytes.readSlice(length: count) { session.receive(part, now: now) }
            while let event = session.nextEvent() {
                if case .data(let id, let bytes) = event, let last = events.last, last.hasPrefix("\(id) data ") {
                    events[events.count - 1] = last + String(buffer: bytes)
                } else {
                    events.append(event.summary)
                }
            }
            while var made = session.nextOutput() { output.writeBuffer(&made) }
        }
        while let event = session.nextEvent() { events.append(event.summary) }
        self.events = events
        verdicts = frames(output).compactMap(\.verdict)
    }
}
