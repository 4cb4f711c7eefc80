import Content
import Description
import HTTPModel

/// The messages of WebSockets and event streams, as Chrome writes them: `_webSocketMessages` and
/// `_eventSourceMessages`.
///
/// `time` is in seconds since 1970, `opcode` is from RFC 6455, `data` is text, or base64 for other messages. `_leftOut`
/// counts the bytes that are missing in `data`.
extension HAREntry {
    /// Chrome's name for the type of the resource; if it is missing, Chrome takes most types for scripts.
    static func resourceType(_ exchange: RecordedExchange, _ heads: ReadHeads) -> String {
        if exchange.record.kind == .webSocket { return "websocket" }
        guard exchange.record.kind == .http else { return "other" }
        let mediaType = heads.contentType(of: .responseSent).mediaType
        if let mediaType, mediaType.type == "text", mediaType.subtype == "event-stream" { return "eventsource" }
        let asked = heads.fields(of: .requestReceived).value(of: purpose)?.lowercased()
        if let asked, let type = destinations[asked] { return type }
        return switch mediaType?.type {
        case "image": "image"
        case "font": "font"
        case "audio", "video": "media"
        case "text" where mediaType?.subtype == "css": "stylesheet"
        case "text" where mediaType?.subtype == "javascript": "script"
        default: "fetch"
        }
    }

    private static let purpose: FieldName = "sec-fetch-dest"
    /// Resource types by the destination that a browser sends (`Sec-Fetch-Dest`, W3C Fetch Metadata).
    private static let destinations = [
        "document": "document", "iframe": "document", "frame": "document", "script": "script", "worker": "script",
        "serviceworker": "script", "sharedworker": "script", "style": "stylesheet", "image": "image", "font": "font",
        "audio": "media", "video": "media", "track": "texttrack", "manifest": "manifest", "empty": "fetch",
    ]

    func streams(into writer: inout JSONWriter) throws {
        guard resourceType == "websocket" || resourceType == "eventsource" else { return }
        guard let timeline = MessageTimeline(exchange, heads, source, options, .responseSent) else { return }
        // A WebSocket message without a recorded arrival gets the time of the message before, or of the request.
        var time = resourceType == "websocket" ? exchange.record.startedAt : nil
        writer.key(resourceType == "websocket" ? "_webSocketMessages" : "_eventSourceMessages")
        try writer.array { array in
            while let message = try timeline.next() {
                time = message.arrivedAt ?? time
                // Readers take every message in an archive for complete, so incomplete messages are left out.
                guard message.isWhole else { continue }
                try array.object { try HAREntry.member(message, at: time, into: &$0) }
            }
        }
        let remarks = timeline.remarks
        if !remarks.isEmpty { writer.member("comment", remarks.joined(separator: " ")) }
    }

    private static func member(_ message: StreamedMessage, at time: Int64?, into writer: inout JSONWriter) throws {
        switch message.kind {
        case .webSocket(let details):
            writer.member("type", message.direction == .fromClient ? "send" : "receive")
            writer.optionalSeconds("time", time)
            writer.member("opcode", details.opcode.rawValue)
            writer.member("data", message.text ?? message.base64)
        case .event(let details):
            writer.optionalSeconds("time", time)
            writer.member("eventName", details.type)
            writer.member("eventId", details.id ?? "")
            writer.member("data", message.text ?? "")
        case .line: break
        }
        if message.leftOut > 0 { writer.member("_leftOut", message.leftOut) }
    }
}

extension JSONWriter {
    fileprivate mutating func optionalSeconds(_ name: String, _ moment: Int64?) {
        guard let moment else { return }
        key(name)
        seconds(moment)
    }
}
