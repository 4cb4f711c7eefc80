import NIOCore
import Support

/// Reads what a session writes, frame by frame, as strictly as a peer may.
struct HTTP2OutputScan {
    /// What was sent on a stream.
    struct Stream {
        var dataCount = 0
        var hasEnd = false
        var isReset = false
    }

    private(set) var streams: [Int32: Stream] = [:]
    /// How many bytes there were.
    private(set) var count = 0
    private(set) var dataFrames = 0

    private var pending = ByteBuffer()
    private var preface: Int
    /// The stream whose head is not whole.
    private var headStream: Int32?
    private var hasFatalGoAway = false

    init(skippingPreface: Bool) {
        preface = skippingPreface ? 24 : 0
    }

    /// What stands at some place of the bodies that a probe sends.
    static func byte(_ position: Int, on stream: Int32) -> UInt8 {
        UInt8(truncatingIfNeeded: position &* 7 &+ Int(stream))
    }

    mutating func take(_ bytes: ByteBuffer) throws {
        count += bytes.readableBytes
        pending.writeImmutableBuffer(bytes)
        if preface > 0 {
            guard pending.readableBytes >= preface else { return }
            try demand(pending.readString(length: preface) == FuzzFrames.preface, "a client without preface")
            preface = 0
        }
        while let word = pending.getInteger(at: pending.readerIndex, as: UInt32.self) {
            let length = Int(word >> 8)
            guard pending.readableBytes >= 9 + length, let header = pending.readBytes(length: 9),
                let payload = pending.readBytes(length: length)
            else { break }
            let stream = header[5...].reduce(0 as UInt32) { $0 << 8 | UInt32($1) }
            try take(type: header[3], flags: header[4], on: Int32(bitPattern: stream), payload)
        }
        pending.discardReadBytes()
    }

    private mutating func take(type: UInt8, flags: UInt8, on id: Int32, _ payload: [UInt8]) throws {
        try demand(!hasFatalGoAway, "a frame of type \(type) follows the GOAWAY that ends the connection")
        try demand(id >= 0 && type <= 9, "a frame of type \(type) on stream \(id)")
        try demand((headStream != nil) == (type == 9) && headStream ?? id == id, "a head is torn by type \(type)")
        var stream = streams[id] ?? Stream()
        switch type {
        case 0, 1:
            try demand(id > 0 && !stream.hasEnd, "type \(type) on stream \(id) after its end")
            try demand(!stream.isReset, "type \(type) on stream \(id) after its reset")
            if flags & 0x1 != 0 { stream.hasEnd = true }
            if type == 1, flags & 0x4 == 0 { headStream = id }
            if type == 0 {
                dataFrames += 1
                for (index, byte) in payload.enumerated() {
                    let right = HTTP2OutputScan.byte(stream.dataCount + index, on: id)
                    try demand(byte == right, "a wrong byte in the body of stream \(id)")
                }
                stream.dataCount += payload.count
            }
        case 3:
            try demand(id > 0 && payload.count == 4, "a wrong RST_STREAM")
            stream.isReset = true
        case 4: try demand(id == 0 && payload.count % 6 == 0, "wrong SETTINGS")
        case 5: throw ProbeError(description: "a push")
        case 6: try demand(id == 0 && payload.count == 8, "a wrong PING")
        case 7:
            try demand(id == 0 && payload.count >= 8, "a wrong GOAWAY")
            hasFatalGoAway = payload[4..<8].contains { $0 != 0 }
        case 8:
            try demand(payload.count == 4 && payload.contains { $0 != 0 }, "a wrong WINDOW_UPDATE")
        case 9: if flags & 0x4 != 0 { headStream = nil }
        default: break
        }
        if id > 0 { streams[id] = stream }
    }
}
