/// The kind of a WebSocket frame (RFC 6455 §5.2, §11.8).
package enum WebSocketOpcode: UInt8, Sendable, Hashable, CaseIterable {
    case continuation = 0x0
    case text = 0x1
    case binary = 0x2
    case close = 0x8
    /// Asks whether the peer is still there.
    case ping = 0x9
    /// The answer to a ping, or a keep-alive.
    case pong = 0xA

    /// Whether this is a control frame: one frame without continuation, allowed between the frames of a message.
    package var isControl: Bool { rawValue & 0x8 != 0 }
    package var name: String { String(describing: self) }
}

/// The head of a frame: everything before its payload (RFC 6455 §5.2).
struct WebSocketFrameHead {
    var isFinal = false
    /// RSV1, RSV2 and RSV3 as bits 2, 1 and 0.
    var reserved: UInt8 = 0
    var opcode = WebSocketOpcode.continuation
    /// The masking key, its first byte the highest; `nil` if the payload is not masked.
    var mask: UInt32?
    var length: Int64 = 0
    /// Whether the length has its shortest encoding.
    var isMinimal = true

    var isControl: Bool { opcode.isControl }
}

struct WebSocketHeadScan {
    enum Step {
        case more
        case head(WebSocketFrameHead)
        case malformed(String)
    }

    private enum Stage {
        case flags, length
        /// `left` bytes of a length of `of` bytes are still to come.
        case extended(left: Int, of: Int)
        case mask(left: Int)
    }

    private var stage = Stage.flags
    private var head = WebSocketFrameHead()
    private var isMasked = false
    private var number: UInt64 = 0

    /// Whether a head has begun and is not whole.
    var isInside: Bool {
        if case .flags = stage { false } else { true }
    }

    /// Reads the next byte of a head. After a complete head, the next byte begins a new head.
    mutating func take(_ byte: UInt8) -> Step {
        switch stage {
        case .flags:
            head = WebSocketFrameHead()
            head.isFinal = byte & 0x80 != 0
            head.reserved = byte >> 4 & 0x7
            guard let opcode = WebSocketOpcode(rawValue: byte & 0xF) else {
                return .malformed("the opcode \(byte & 0xF) is reserved")
            }
            head.opcode = opcode
            if head.isControl, !head.isFinal { return .malformed("a \(opcode.name) frame is fragmented") }
            stage = .length
            return .more
        case .length:
            isMasked = byte & 0x80 != 0
            return take(length: byte & 0x7F)
        case .extended(let left, let count):
            number = number << 8 | UInt64(byte)
            stage = .extended(left: left - 1, of: count)
            if left > 1 { return .more }
            guard let length = Int64(exactly: number) else {
                return .malformed("the payload's length has its highest bit set")
            }
            head.isMinimal = count == 2 ? length > 125 : length > 0xFFFF
            head.length = length
            return beginMask()
        case .mask(let left):
            head.mask = (head.mask ?? 0) << 8 | UInt32(byte)
            stage = .mask(left: left - 1)
            return left > 1 ? .more : end()
        }
    }

    private mutating func take(length: UInt8) -> Step {
        if head.isControl, length > 125 {
            return .malformed("a \(head.opcode.name) frame has more than 125 bytes of payload")
        }
        guard length > 125 else {
            head.length = Int64(length)
            return beginMask()
        }
        let count = length == 126 ? 2 : 8
        number = 0
        stage = .extended(left: count, of: count)
        return .more
    }

    private mutating func beginMask() -> Step {
        guard isMasked else { return end() }
        stage = .mask(left: 4)
        return .more
    }

    private mutating func end() -> Step {
        stage = .flags
        return .head(head)
    }
}

/// Checks that frames follow each other as RFC 6455 §5.4 demands.
struct WebSocketFrameOrder {
    /// Whether a message has begun and its last frame is still to come.
    private(set) var isInMessage = false

    /// What is wrong with the next frame, if anything. `allowedReserved`: the reserved bits that an extension may set.
    mutating func problem(with frame: WebSocketFrameHead, allowedReserved: UInt8) -> String? {
        let unexpected = frame.reserved & ~allowedReserved
        if unexpected != 0 {
            let number = unexpected & 4 != 0 ? 1 : unexpected & 2 != 0 ? 2 : 3
            return "the reserved bit RSV\(number) is set, without an extension that uses it"
        }
        if frame.isControl { return nil }
        if frame.opcode == .continuation, !isInMessage { return "a continuation frame without a message" }
        if frame.opcode != .continuation, isInMessage { return "a message begins inside another one" }
        isInMessage = !frame.isFinal
        return nil
    }
}
