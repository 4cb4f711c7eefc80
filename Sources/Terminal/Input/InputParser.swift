/// Parses the bytes of a terminal into events.
///
/// It supports the keys of xterm, rxvt, the Linux console, tmux and screen, kitty's and xterm's forms for keys with
/// modifiers, mouse reports, bracketed paste and replies. Input may be split between any two bytes. Unknown sequences
/// are dropped whole, so that their letters do not become keys. At most ``pasteLimit`` bytes are buffered.
///
/// After a lone Esc, the parser expects a sequence until ``flush()`` reports a pause: while ``isPending``, wait 25 to
/// 50 milliseconds for more bytes, then flush.
package struct InputParser: Sendable {
    static let pasteLimit = 1 << 20
    /// The maximum length of a sequence's parameters, in bytes; a longer sequence is dropped.
    private static let sequenceLimit = 64
    /// How many bytes of a reply are kept, and after how many bytes the parser no longer waits for its end.
    private static let replyLimit = (kept: 256, swallowed: 1 << 20)

    private enum State {
        case ground
        /// After an Esc; after two if `alt`.
        case escape(alt: Bool)
        /// After `ESC [` or `ESC O`, with the bytes received since.
        case sequence(Introducer, bytes: [UInt8], alt: Bool)
        /// After `ESC [ [`, the beginning of F1 to F5 on the Linux console.
        case linuxFunction(alt: Bool)
        /// After `ESC [ M`: three bytes follow.
        case oldMouse([UInt8])
        /// Within a reply, which ends with a string terminator.
        case reply(introducer: UInt8, bytes: [UInt8], count: Int, isEscape: Bool)
        /// Within pasted text, after `matched` bytes of the end marker.
        case paste(matched: Int)
        case character([UInt8], needed: Int, alt: Bool)
    }

    private static let pasteEnd: [UInt8] = [0x1B, 0x5B, 0x32, 0x30, 0x31, 0x7E]

    private var state = State.ground
    private var pasted: [UInt8] = []
    private var pasteEndsWithReturn = false
    /// The flushes since the last byte.
    private var silences = 0
    private var events: [InputEvent] = []

    package init() {}

    package mutating func feed(_ bytes: some Sequence<UInt8>) -> [InputEvent] {
        for byte in bytes {
            silences = 0
            take(byte)
        }
        return exchange(&events, with: [])
    }

    /// Call this if no byte came for a while: a lone Esc becomes a key. The second call ends sequences and replies.
    package mutating func flush() -> [InputEvent] {
        silences += 1
        switch state {
        case .ground: break
        case .escape(let alt):
            state = .ground
            for _ in 0..<(alt ? 2 : 1) { emit(Key(.escape)) }
        case .sequence(let introducer, let bytes, let alt):
            if bytes.isEmpty || silences > 1 { abandonSequence(introducer, isEmpty: bytes.isEmpty, alt: alt) }
        case .reply(let introducer, let bytes, let count, let isEscape):
            if count == 0, !isEscape {
                state = .ground
                emit(Key(.character(Character(Unicode.Scalar(introducer))), .alt))
            } else if silences > 1 {
                state = .ground
                if isEscape, bytes.isEmpty { emit(Key(.escape)) }
            }
        case .paste(let matched):
            // Terminals remove Esc from pastes: the user pressed this Esc, and the end marker was lost.
            if matched == 1, silences > 1 { endPaste() }
        case .linuxFunction, .oldMouse:
            if silences > 1 { state = .ground }
        case .character(_, _, let alt):
            state = .ground
            emit("\u{FFFD}", alt: alt)
        }
        return exchange(&events, with: [])
    }

    /// Whether ``flush()`` would end an incomplete key, sequence or paste.
    package var isPending: Bool {
        switch state {
        case .ground: false
        case .paste(let matched): matched == 1
        default: true
        }
    }

    private mutating func take(_ byte: UInt8) {
        switch state {
        case .ground: takeGround(byte, alt: false)
        case .escape(let alt): takeEscape(byte, alt: alt)
        case .sequence(let introducer, let bytes, let alt): takeSequence(byte, introducer, bytes, alt: alt)
        case .linuxFunction(let alt): takeLinuxFunction(byte, alt: alt)
        case .oldMouse(let bytes): takeOldMouse(byte, bytes)
        case .reply: takeReply(byte)
        case .paste(let matched): takePaste(byte, matched: matched)
        case .character(let bytes, let needed, let alt): takeCharacter(byte, bytes, needed: needed, alt: alt)
        }
    }

    private mutating func takeGround(_ byte: UInt8, alt: Bool) {
        state = .ground
        switch byte {
        case 0x1B: state = .escape(alt: false)
        case 0x00..<0x80: emit(Key(controlOrASCII: byte, alt ? .alt : []))
        case 0xC2...0xDF: state = .character([byte], needed: 2, alt: alt)
        case 0xE0...0xEF: state = .character([byte], needed: 3, alt: alt)
        case 0xF0...0xF4: state = .character([byte], needed: 4, alt: alt)
        default: emit("\u{FFFD}", alt: alt)
        }
    }

    private mutating func takeCharacter(_ byte: UInt8, _ bytes: [UInt8], needed: Int, alt: Bool) {
        let allowed: ClosedRange<UInt8> =
            switch (bytes.count, bytes[0]) {
            case (1, 0xE0): 0xA0...0xBF
            case (1, 0xED): 0x80...0x9F
            case (1, 0xF0): 0x90...0xBF
            case (1, 0xF4): 0x80...0x8F
            default: 0x80...0xBF
            }
        guard allowed.contains(byte) else {
            emit("\u{FFFD}", alt: alt)
            return takeGround(byte, alt: false)
        }
        guard bytes.count + 1 == needed else {
            state = .character(bytes + [byte], needed: needed, alt: alt)
            return
        }
        state = .ground
        if let scalar = String(decoding: bytes + [byte], as: UTF8.self).unicodeScalars.first, scalar.value >= 0xA0 {
            emit(Character(scalar), alt: alt)
        }
    }

    private mutating func emit(_ character: Character, alt: Bool) { emit(Key(.character(character), alt ? .alt : [])) }

    private mutating func emit(_ key: Key) { events.append(.key(key)) }

    private mutating func takeEscape(_ byte: UInt8, alt: Bool) {
        switch byte {
        case 0x1B:
            // Of three Esc in a row, the first is a key press of its own.
            if alt { emit(Key(.escape)) }
            state = .escape(alt: true)
        case 0x5B: state = .sequence(.csi, bytes: [], alt: alt)
        case 0x4F: state = .sequence(.ss3, bytes: [], alt: alt)
        case 0x5D, 0x50, 0x5F, 0x5E, 0x58: state = .reply(introducer: byte, bytes: [], count: 0, isEscape: false)
        default:
            if alt { emit(Key(.escape)) }
            takeGround(byte, alt: true)
        }
    }

    private mutating func takeSequence(_ byte: UInt8, _ introducer: Introducer, _ bytes: [UInt8], alt: Bool) {
        guard (0x20..<0x7F).contains(byte) else {
            abandonSequence(introducer, isEmpty: bytes.isEmpty, alt: alt)
            return takeGround(byte, alt: false)
        }
        let isRxvtShift = byte == 0x24 && introducer == .csi && !bytes.isEmpty && bytes.allSatisfy { $0.isDigit }
        if byte < 0x40, !isRxvtShift, introducer == .csi || byte.isDigit || byte == 0x3B {
            // One byte over the limit marks the sequence as too long, and it is dropped at its end.
            if bytes.count <= InputParser.sequenceLimit {
                state = .sequence(introducer, bytes: bytes + [byte], alt: alt)
            }
            return
        }
        state = .ground
        guard bytes.count <= InputParser.sequenceLimit else { return }
        if introducer == .csi, bytes.isEmpty, byte == 0x5B {
            state = .linuxFunction(alt: alt)
        } else if introducer == .csi, bytes.isEmpty, byte == 0x4D {
            state = .oldMouse([])
        } else if introducer == .csi, bytes == [0x32, 0x30, 0x30], byte == 0x7E {
            pasteEndsWithReturn = false
            state = .paste(matched: 0)
        } else if let event = ControlSequence(introducer, bytes, final: byte).event(alt: alt) {
            events.append(event)
        }
    }

    /// Ends an incomplete sequence; if only its introducer came, this was a key with alt.
    private mutating func abandonSequence(_ introducer: Introducer, isEmpty: Bool, alt: Bool) {
        state = .ground
        guard isEmpty else { return }
        if alt { emit(Key(.escape)) }
        emit(introducer == .csi ? "[" : "O", alt: true)
    }

    private mutating func takeLinuxFunction(_ byte: UInt8, alt: Bool) {
        state = .ground
        switch byte {
        case 0x41...0x45: emit(Key(.function(Int(byte) - 0x40), alt ? .alt : []))
        case 0x20..<0x7F: break
        default: takeGround(byte, alt: false)
        }
    }

    private mutating func takeOldMouse(_ byte: UInt8, _ bytes: [UInt8]) {
        guard byte >= 0x20 else { return takeGround(byte, alt: false) }
        guard bytes.count == 2 else {
            state = .oldMouse(bytes + [byte])
            return
        }
        state = .ground
        let (button, x, y) = (Int(bytes[0]) - 32, Int(bytes[1]) - 32, Int(byte) - 32)
        if let event = MouseEvent(button: button, x: x, y: y, isRelease: button & 0b110_0011 == 3) {
            events.append(.mouse(event))
        }
    }

    private mutating func takeReply(_ byte: UInt8) {
        guard case .reply(let introducer, var bytes, let count, let isEscape) = state else { return }
        if isEscape {
            state = .ground
            if byte == 0x5C { return endReply(introducer, bytes) }
            return takeEscape(byte, alt: false)
        }
        switch byte {
        case 0x07 where introducer == 0x5D:
            state = .ground
            endReply(introducer, bytes)
        case 0x1B: state = .reply(introducer: introducer, bytes: bytes, count: count, isEscape: true)
        case 0x18, 0x1A: state = .ground
        default:
            // Releases the state's copy of the bytes first, so that `append` does not have to copy them.
            state = .ground
            guard count < InputParser.replyLimit.swallowed else { return }
            if bytes.count < InputParser.replyLimit.kept { bytes.append(byte) }
            state = .reply(introducer: introducer, bytes: bytes, count: count + 1, isEscape: false)
        }
    }

    private mutating func endReply(_ introducer: UInt8, _ bytes: [UInt8]) {
        if introducer == 0x5D, let color = TerminalBackground(osc: bytes) { events.append(.background(color)) }
    }

    private mutating func takePaste(_ byte: UInt8, matched: Int) {
        let end = InputParser.pasteEnd
        if byte == end[matched] {
            if matched + 1 == end.count { endPaste() } else { state = .paste(matched: matched + 1) }
            return
        }
        for byte in end[..<matched] { addPasted(byte) }
        state = .paste(matched: byte == end[0] ? 1 : 0)
        if byte != end[0] { addPasted(byte) }
    }

    /// Adds a byte. Terminals send line breaks as carriage returns, which become line feeds.
    private mutating func addPasted(_ byte: UInt8) {
        let followsReturn = pasteEndsWithReturn
        pasteEndsWithReturn = byte == 0x0D
        if byte == 0x0A, followsReturn { return }
        // An event must not end within a character, which has at most four bytes.
        let isInside = byte & 0xC0 == 0x80 && pasted.count < InputParser.pasteLimit + 4
        if pasted.count >= InputParser.pasteLimit, !isInside { deliverPasted() }
        pasted.append(byte == 0x0D ? 0x0A : byte)
    }

    private mutating func deliverPasted() {
        guard !pasted.isEmpty else { return }
        events.append(.paste(String(decoding: pasted, as: UTF8.self)))
        pasted = []
    }

    private mutating func endPaste() {
        state = .ground
        deliverPasted()
    }
}
