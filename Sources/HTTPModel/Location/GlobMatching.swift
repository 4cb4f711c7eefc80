package import NIOCore

extension Glob {
    struct Trace {
        var stars: [Range<Int>] = []
        var recordsStars = false
        var steps = 0
    }

    package func matches(_ text: String) -> Bool { text.withUTF8Bytes { matches($0) } }

    package func matches(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let count = literalBytes.count
        switch shape {
        case .everything: return true
        case .literal: return text.count == count && hasLiteral(in: text, at: 0)
        case .prefix: return text.count >= count && hasLiteral(in: text, at: 0)
        case .suffix: return text.count >= count && hasLiteral(in: text, at: text.count - count)
        case .infix: return findLiteral(in: text)
        case .general:
            var trace = Trace()
            return walk(text, &trace)
        }
    }

    package func matches(_ bytes: ByteBufferView) -> Bool {
        bytes.withContiguousStorageIfAvailable { matches($0) } ?? false
    }

    /// The texts of the stars: each as short as possible; the last takes the rest. Neighbouring stars count as one.
    package func captures(in text: String) -> [String]? {
        text.withUTF8Bytes { bytes in
            var trace = Trace(recordsStars: true)
            guard walk(bytes, &trace) else { return nil }
            return trace.stars.map { String(decoding: bytes[$0], as: UTF8.self) }
        }
    }

    private func hasLiteral(in text: UnsafeBufferPointer<UInt8>, at start: Int) -> Bool {
        literalBytes.withUnsafeBufferPointer { literal in
            for index in 0..<literal.count {
                let byte = text[start + index]
                if literal[index] != (ignoresCase ? FieldName.lower(byte) : byte) { return false }
            }
            return true
        }
    }

    private func findLiteral(in text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let first = literalBytes.first else { return true }
        guard text.count >= literalBytes.count else { return false }
        for start in 0...(text.count - literalBytes.count) {
            let byte = text[start]
            if first == (ignoresCase ? FieldName.lower(byte) : byte), hasLiteral(in: text, at: start) { return true }
        }
        return false
    }

    /// Compares element by element. After a mismatch only the latest star must grow, because the text between it and an
    /// earlier star matched as far left as possible.
    func walk(_ text: UnsafeBufferPointer<UInt8>, _ trace: inout Trace) -> Bool {
        elements.withUnsafeBufferPointer { elements in
            var position = 0
            var element = 0
            var star: Int?
            var starStart = 0
            var starEnd = 0
            while position < text.count || element < elements.count {
                trace.steps += 1
                if element < elements.count {
                    if elements[element] == .many {
                        if trace.recordsStars, star != nil { trace.stars.append(starStart..<starEnd) }
                        star = element
                        starStart = position
                        starEnd = position
                        element += 1
                        if element == elements.count { starEnd = text.count }
                        position = max(position, starEnd)
                        continue
                    }
                    if position < text.count, let length = length(of: elements[element], in: text, at: position) {
                        position += length
                        element += 1
                        continue
                    }
                }
                // A longer star would leave even less text.
                guard let star, position < text.count else { return false }
                starEnd += 1
                position = starEnd
                element = star + 1
            }
            if trace.recordsStars, star != nil { trace.stars.append(starStart..<starEnd) }
            return true
        }
    }

    /// The number of matched bytes; `nil` without a match.
    @inline(__always)
    private func length(of element: Element, in text: UnsafeBufferPointer<UInt8>, at position: Int) -> Int? {
        let byte = ignoresCase ? FieldName.lower(text[position]) : text[position]
        switch element {
        case .byte(let own): return own == byte ? 1 : nil
        case .one: return characterLength(byte, in: text, at: position)
        case .set(let set): return set.contains(byte) ? characterLength(byte, in: text, at: position) : nil
        case .many: return nil
        }
    }

    /// The length of the UTF-8 sequence; `nil` inside a sequence, or if the sequence is cut off.
    private func characterLength(_ byte: UInt8, in text: UnsafeBufferPointer<UInt8>, at position: Int) -> Int? {
        let length =
            switch byte {
            case ..<0x80: 1
            case 0x80..<0xC0: 0
            case 0xC0..<0xE0: 2
            case 0xE0..<0xF0: 3
            default: 4
            }
        return length == 0 || position + length > text.count ? nil : length
    }
}

extension String {
    package func withUTF8Bytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        if let result = try utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = self
        return try copy.withUTF8(body)
    }
}
