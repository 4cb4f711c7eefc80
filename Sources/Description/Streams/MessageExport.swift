package import Content
package import HTTPModel
package import NIOCore

/// One message of a stream by itself: what `sluice show --message` prints.
package enum MessageExport {
    /// The most bytes that are read of a message.
    package static let longest = 256 << 20

    package struct Message: Sendable {
        /// The payload, without framing and compression.
        package var bytes: ByteBuffer
        /// A gRPC message as lines of text; `nil` for other messages.
        package var text: String?
        package var isText: Bool
        /// What is wrong with the message, or missing in it.
        package var remarks: [String] = []
    }

    package enum Outcome: Sendable {
        case found(Message)
        case missing(count: Int)
        /// The session no longer has the bodies; the value is the reason, without a full stop.
        case dropped(String)
        case noStream
    }

    /// Reads a message by its number among the messages of both directions, from 1. Throws the source's error.
    package static func message(
        _ number: Int,
        of exchange: RecordedExchange,
        from source: any ExchangeSource,
        descriptors: DescriptorSet? = nil,
        limit: Int = longest
    ) throws -> Outcome {
        var count = 0
        if var call = GRPCCall(exchange, source: source, descriptors: descriptors, messageLimit: limit) {
            while let message = try call.next() {
                count = message.number
                guard count == number else { continue }
                return .found(describe(message.frame, call.directions[message.direction].text, limit))
            }
            return missing(count, in: exchange)
        }
        guard let timeline = MessageTimeline(exchange, source: source, payloadLimit: limit, decodedLimit: .max) else {
            return .noStream
        }
        while let message = try timeline.next() {
            count += 1
            guard count == number else { continue }
            var remarks = message.notes
            let soFar = exchange.record.state == .inFlight
            if !message.isWhole { remarks.append(soFar ? "it is not whole yet" : "its end is missing") }
            if message.leftOut > 0 { remarks.append("its last \(message.leftOut) bytes are left out") }
            return .found(Message(bytes: message.payload, isText: message.isText, remarks: remarks))
        }
        return missing(count, in: exchange)
    }

    private static func missing(_ count: Int, in exchange: RecordedExchange) -> Outcome {
        exchange.wordsOfDroppedBodies.map { .dropped($0) } ?? .missing(count: count)
    }

    private static func describe(_ frame: GRPCFrame, _ text: GRPCMessageText, _ limit: Int) -> Message {
        let content = frame.content(encoding: text.encoding, limit: limit)
        let lines = text.lines(frame, limit: limit).lines
        var message = Message(bytes: content.bytes, text: lines.joined(separator: "\n") + "\n", isText: true)
        if let problem = content.problem { message.remarks.append("\(problem)") }
        if frame.leftOut > 0 { message.remarks.append("its last \(frame.leftOut) bytes are left out") }
        return message
    }
}
