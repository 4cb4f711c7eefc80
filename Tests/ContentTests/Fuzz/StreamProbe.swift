import Content
import NIOCore
import Support

/// Reads event streams and lines of JSON, and compares with a reader that has everything at once.
enum StreamProbe {
    /// Reads an event stream.
    static func events(_ input: inout FuzzInput) throws {
        let limit = input.choose([1 << 20, 0, 5])
        let bytes = input.bytes
        let whole = read(ServerSentEventReader(dataLimit: limit), [bytes])
        let split = read(ServerSentEventReader(dataLimit: limit), input.pieces(of: bytes))
        try demand(whole.messages == split.messages, "\(whole.messages) whole, \(split.messages) in pieces")
        try check(whole.messages, of: bytes, limit: limit)
        let complete = whole.messages.prefix(whole.wholeCount)
        try demand(
            count(.serverSentEvents, bytes, &input) == complete.count,
            "\(complete.count) events read, not counted"
        )
        let expected = reference(bytes)
        try demand(complete.count == expected.count, "\(complete.count) events, not \(expected.count)")
        for (message, event) in zip(complete, expected) {
            guard case .event(let details) = message.kind else { throw ProbeError(description: "no event") }
            try demand(Int(message.size) == event.data.count, "\(message.size) bytes of data, not \(event.data.count)")
            try demand(event.data.starts(with: message.payload.readableBytesView), "other data than was sent")
            if event.type.utf8.count <= 1000 { try demand(details.type == event.type, "the type is \(details.type)") }
            if event.id?.utf8.count ?? 0 <= 1000 {
                try demand(details.id == event.id, "the ID is \(details.id ?? "-")")
            }
        }
    }

    /// Reads lines of JSON, or a JSON text sequence.
    static func lines(_ input: inout FuzzInput) throws {
        let limit = input.choose([1 << 20, 0, 5])
        let bytes = input.bytes
        let whole = read(JSONLineReader(textLimit: limit), [bytes])
        let split = read(JSONLineReader(textLimit: limit), input.pieces(of: bytes))
        try demand(whole.messages == split.messages, "\(whole.messages) whole, \(split.messages) in pieces")
        try check(whole.messages, of: bytes, limit: limit)
        let count = count(.jsonLines, bytes, &input)
        try demand(count == whole.messages.count, "\(whole.messages.count) texts read, \(count) counted")
        for message in whole.messages {
            let range = Int(message.range.lowerBound)..<Int(message.range.upperBound)
            try demand(bytes[range].starts(with: message.payload.readableBytesView), "a text stands elsewhere")
        }
        guard bytes.first != 0x1E else { return }
        let expected = bytes.split(separator: 0x0A, omittingEmptySubsequences: false).compactMap { line in
            let isSpace: (UInt8) -> Bool = { $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }
            let text = Array(line.drop(while: isSpace).reversed().drop(while: isSpace))
            return text.isEmpty ? nil : text.count
        }
        let sizes = whole.messages.map { Int($0.size) }
        try demand(sizes == expected, "the texts have \(sizes) bytes, not \(expected)")
    }

    private static func read(
        _ reader: some StreamReader<StreamedMessage>,
        _ pieces: [[UInt8]]
    ) -> (messages: [StreamedMessage], wholeCount: Int) {
        var messages: [StreamedMessage] = []
        for piece in pieces { reader.feed(ByteBuffer(bytes: piece)) { messages.append($0) } }
        let wholeCount = messages.count
        reader.finish { messages.append($0) }
        return (messages, wholeCount)
    }

    private static func count(_ format: StreamCounter.Format, _ bytes: [UInt8], _ input: inout FuzzInput) -> Int64 {
        var counter = StreamCounter(format)
        for piece in input.pieces(of: bytes) { counter.feed(ByteBuffer(bytes: piece)) }
        counter.finish()
        return counter.count
    }

    private static func check(_ messages: [StreamedMessage], of bytes: [UInt8], limit: Int) throws {
        var end: Int64 = 0
        for (index, message) in messages.enumerated() {
            try demand(message.number == Int64(index + 1), "message \(message.number) at place \(index + 1)")
            try demand(message.range.lowerBound >= end && !message.range.isEmpty, "messages overlap")
            end = message.range.upperBound
            try demand(message.payload.readableBytes <= limit, "a payload beyond the limit")
            try demand(message.size >= message.payload.readableBytes, "a payload larger than its size")
            _ = message.text
        }
        try demand(end <= bytes.count, "a message ends behind the end")
    }

    private struct Event {
        var type = ""
        var id: String?
        var data: [UInt8] = []
        var hasData = false
    }

    /// The events of a stream that is there in whole (WHATWG HTML §9.2.6).
    private static func reference(_ bytes: [UInt8]) -> [Event] {
        let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
        var rest = bytes.starts(with: mark) ? bytes.dropFirst(3) : bytes[...]
        var events: [Event] = []
        var event = Event()
        while let end = rest.firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) {
            let line = rest[..<end]
            let isPair = rest[end] == 0x0D && rest.dropFirst(line.count + 1).first == 0x0A
            rest = rest.dropFirst(line.count + (isPair ? 2 : 1))
            if line.isEmpty {
                if event.hasData {
                    if event.type.isEmpty { event.type = "message" }
                    events.append(event)
                }
                event = Event()
                continue
            }
            let name = line.prefix { $0 != 0x3A }
            var value = line.dropFirst(name.count + 1)
            if value.first == 0x20 { value = value.dropFirst() }
            switch String(decoding: name, as: UTF8.self) {
            case "data":
                if event.hasData { event.data.append(0x0A) }
                event.hasData = true
                event.data += value
            case "event": event.type = String(decoding: value, as: UTF8.self)
            case "id": if !value.contains(0) { event.id = String(decoding: value, as: UTF8.self) }
            default: break
            }
        }
        return events
    }
}
