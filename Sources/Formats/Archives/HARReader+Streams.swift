import Content
import HTTPModel

/// The messages of WebSockets and event streams, as Chrome and Playwright write them.
extension HARReader {
    private static let mostMessageBytes = 1 << 30
    private static let mostEvents = 100_000
    private static let seconds =
        Double(RecordedRange.moments.lowerBound) / 1_000_000...Double(RecordedRange.moments.upperBound) / 1_000_000

    mutating func messages(_ entry: inout ArchiveEntry) throws {
        var bytes = 0
        try elements { reader in
            var (message, isError) = (ArchiveEntry.SocketMessage(), false)
            // A message without a readable time gets the time of the message before it.
            message.time = entry.messages.last?.time ?? 0
            try reader.members { reader, name, first in
                switch (name, first.kind) {
                case ("type", .string):
                    let type = reader.json.string(first)
                    (message.isSent, isError) = (type == "send", type == "error")
                case ("time", .number): message.time = reader.moment(first) ?? message.time
                case ("opcode", .number), ("opcode", .string):
                    // A number with a fraction is not an opcode.
                    let opcode = reader.number(name, first, HARReader.amounts) ?? -1
                    message.opcode = Int(exactly: opcode) ?? .max
                case ("data", .string): message.data = reader.json.string(first)
                default: try reader.pass(name, first)
                }
            }
            // Chrome writes errors among the messages.
            if isError || message.opcode < 0 { return entry.addNote(ofSocket: message.data) }
            bytes += message.data.utf8.count
            let isTooLong = bytes > HARReader.mostMessageBytes
            if isTooLong { throw reader.json.error("a WebSocket has more than 1 GiB of messages") }
            entry.add(message, reader.losses)
        }
    }

    mutating func eventTimes() throws -> [Double?] {
        var times: [Double?] = []
        try elements { reader in
            var time: Double?
            try reader.members { reader, name, first in
                guard name == "time", first.kind == .number else { return try reader.json.skip(first) }
                time = reader.moment(first)
            }
            if times.count < HARReader.mostEvents { times.append(time) }
        }
        return times
    }

    /// The time of a message, in seconds since 1970; Playwright writes milliseconds.
    private func moment(_ token: JSONToken) -> Double? {
        let number = Double(json.text(token)) ?? 0
        if number > HARReader.seconds.upperBound, HARReader.seconds.contains(number / 1_000) { return number / 1_000 }
        return self.number("time", token, HARReader.seconds)
    }
}
