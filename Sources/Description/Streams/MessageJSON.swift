package import Content
import Foundation
import HTTPModel
import NIOCore

extension JSONWriter {
    /// Writes the members of a streamed message, as `JSONExport` documents them.
    package mutating func streamedMessage(_ message: StreamedMessage) throws {
        member("direction", message.direction == .fromClient ? "send" : "receive")
        optionalMember("time", message.arrivedAt.map { Timestamp.iso8601($0) })
        switch message.kind {
        case .webSocket(let details):
            member("kind", details.opcode.name)
            if details.isCompressed || details.frameCount > 1 {
                member("frames", details.frameCount)
                member("wireSize", details.wireSize)
            }
            if details.isCompressed { member("compressed", true) }
            if let close = details.close {
                member("code", close.code)
                member("reason", close.reason)
            }
        case .event(let event):
            member("kind", "event")
            member("event", event.type)
            optionalMember("eventId", event.id)
            if let retry = event.retry { member("retry", retry) }
        case .line: member("kind", "line")
        }
        member("size", message.size)
        if let text = message.text {
            member("text", text)
        } else {
            member("base64", message.base64)
        }
        if message.leftOut > 0 { member("leftOut", message.leftOut) }
        if !message.isWhole { member("incomplete", true) }
        if !message.notes.isEmpty { try strings("notes", message.notes) }
    }
}

extension StreamedMessage {
    package var base64: String { Data(payload.readableBytesView).base64EncodedString() }
}
