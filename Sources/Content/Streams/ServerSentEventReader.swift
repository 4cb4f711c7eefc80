import NIOCore

/// Reads the events of a `text/event-stream` (WHATWG HTML §9.2.6), whose lines end with CR, LF or both. Comments are
/// only counted, and unknown fields skipped; without a `data` line there is no event.
package final class ServerSentEventReader: StreamReader {
    private static let longestName = 16
    private static let longestShortValue = 1024

    /// How many comment lines were read; most are keep-alives.
    package private(set) var commentCount: Int64 = 0

    private let direction: StreamedMessage.Direction
    private let dataLimit: Int
    private var offset: Int64 = 0
    private var count: Int64 = 0
    private var event: OpenEvent?

    /// The beginning of the current line, as much as the reader may need.
    private var line = ByteBuffer()
    private var lineStart: Int64 = 0
    private var lineLength: Int64 = 0
    private var afterReturn = false
    private var isFirstLine = true

    package init(direction: StreamedMessage.Direction = .fromServer, dataLimit: Int = 4096) {
        self.direction = direction
        self.dataLimit = max(dataLimit, 0)
    }

    package func feed(_ bytes: UnsafeRawBufferPointer, _ emit: (StreamedMessage) throws -> Void) rethrows {
        var position = 0
        while position < bytes.count {
            if afterReturn {
                afterReturn = false
                if bytes[position] == 0x0A {
                    position += 1
                    offset += 1
                    lineStart = offset
                    continue
                }
            }
            let end = bytes[position...].firstIndex { $0 == 0x0A || $0 == 0x0D }
            take(UnsafeRawBufferPointer(rebasing: bytes[position..<(end ?? bytes.count)]))
            guard let end else { return }
            afterReturn = bytes[end] == 0x0D
            position = end + 1
            offset += 1
            try endLine(emit)
        }
    }

    package func finish(_ emit: (StreamedMessage) throws -> Void) rethrows {
        if lineLength > 0 { readLine() }
        if let event, event.hasData { try emit(describe(event, isWhole: false)) }
        event = nil
        beginLine()
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
        offset += Int64(bytes.count)
        lineLength += Int64(bytes.count)
        let limit = max(dataLimit, ServerSentEventReader.longestShortValue) + ServerSentEventReader.longestName
        let room = limit - line.readableBytes
        if room > 0 { line.writeBytes(UnsafeRawBufferPointer(rebasing: bytes.prefix(room))) }
    }

    private func endLine(_ emit: (StreamedMessage) throws -> Void) rethrows {
        defer { beginLine() }
        readLine()
        guard lineLength == 0, let event else { return }
        self.event = nil
        if event.hasData { try emit(describe(event, isWhole: true)) }
    }

    private func beginLine() {
        line.clear()
        lineLength = 0
        lineStart = offset
    }

    private func readLine() {
        if isFirstLine {
            isFirstLine = false
            let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
            if line.readableBytesView.starts(with: mark) {
                line.moveReaderIndex(forwardBy: mark.count)
                lineLength -= Int64(mark.count)
            }
        }
        guard lineLength > 0 else { return }
        let view = line.readableBytesView
        let colon = view.firstIndex(of: UInt8(ascii: ":"))
        if colon == view.startIndex {
            commentCount += 1
            return
        }
        var value = view[(colon.map { $0 + 1 } ?? view.endIndex)...]
        if value.first == 0x20 { value = value.dropFirst() }
        var event = event ?? OpenEvent(start: lineStart)
        self.event = nil
        switch view[..<(colon ?? view.endIndex)] {
        case let name where name.elementsEqual("data".utf8):
            let valueLength = lineLength - Int64(value.startIndex - view.startIndex)
            event.add(data: value, length: valueLength, limit: dataLimit)
        case let name where name.elementsEqual("event".utf8): event.details.type = text(value)
        case let name where name.elementsEqual("id".utf8):
            if !value.contains(0) { event.details.id = text(value) }
        case let name where name.elementsEqual("retry".utf8):
            if !value.isEmpty, value.allSatisfy({ $0 &- 0x30 < 10 }) {
                event.details.retry = Int64(text(value)) ?? .max
            }
        default: break
        }
        self.event = event
    }

    private func text(_ value: some Collection<UInt8>) -> String {
        let isCut = value.count > ServerSentEventReader.longestShortValue
        return String(decoding: value.prefix(ServerSentEventReader.longestShortValue), as: UTF8.self)
            + (isCut ? "…" : "")
    }

    private func describe(_ event: OpenEvent, isWhole: Bool) -> StreamedMessage {
        count += 1
        var details = event.details
        if details.type.isEmpty { details.type = "message" }
        let range = event.start..<offset
        var message = StreamedMessage(number: count, direction: direction, kind: .event(details), range: range)
        message.size = event.size
        message.payload = event.data
        message.isText = true
        message.isWhole = isWhole
        return message
    }

    private struct OpenEvent {
        let start: Int64
        var details = ServerSentEventDetails()
        private(set) var data = ByteBuffer()
        private(set) var size: Int64 = 0
        private(set) var hasData = false

        init(start: Int64) {
            self.start = start
            details.type = ""
        }

        /// Adds a line of data; lines are joined by line feeds.
        mutating func add(data line: some Collection<UInt8>, length: Int64, limit: Int) {
            if hasData {
                if data.readableBytes == Int(clamping: size), data.readableBytes < limit {
                    data.writeInteger(UInt8(0x0A))
                }
                size += 1
            }
            hasData = true
            // After bytes were left out, later lines are not kept, because `data` must have no gap.
            if data.readableBytes == Int(clamping: size) {
                data.writeBytes(line.prefix(limit - data.readableBytes))
            }
            size += length
        }
    }
}
