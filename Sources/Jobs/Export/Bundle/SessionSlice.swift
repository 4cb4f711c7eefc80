import Content
import Description
import Formats
import HTTPModel
import Masking
import NIOCore
import Recording

/// A new session with some exchanges of another session.
final class SessionSlice {
    private let recorder: Recorder
    private let output: RecorderOutput
    private let replay: ExchangeReplay

    init(_ path: String, of reader: SessionReader, _ masked: MaskedSource?) throws {
        var configuration = RecorderConfiguration(path: path, sluiceVersion: SluiceVersion.current)
        configuration.isTraffic = false
        if masked == nil { configuration.labels = try reader.identity().labels }
        recorder = try Recorder(configuration)
        output = RecorderOutput(recorder)
        replay = ExchangeReplay(BodyCopy(reader: reader, output: output), masked)
    }

    func add(_ recorded: RecordedExchange) throws {
        try replay.add(recorded)
        output.send()
    }

    /// Writes the rules that were in force, and closes the file. Throws `SessionError` if the session is incomplete.
    func finish(_ rules: [StoredRules]) throws {
        for set in rules { recorder.noteRules(sources: set.sources, switchedOff: set.switchedOff, at: set.at) }
        recorder.flush()
        if let error = recorder.close().error { throw error }
    }
}

/// Gives a sink the events of recorded exchanges; numbers, connections, times and sizes are kept. A masked body is
/// encoded again, or the head loses its Content-Encoding. Masked WebSocket messages are not compressed.
final class ExchangeReplay {
    private let masked: MaskedSource?
    private let copy: BodyCopy
    private var source: any ExchangeSource { copy.source }
    private var output: any RecordSink { copy.output }
    private var connections: Set<ConnectionID> = []

    init(_ copy: BodyCopy, _ masked: MaskedSource?) { (self.copy, self.masked) = (copy, masked) }

    func add(_ recorded: RecordedExchange) throws {
        var exchange = masked?.masked(recorded) ?? recorded
        var opened = exchange.record
        opened.state = .inFlight
        output.record(.opened(opened, exchange.messages))
        for connection in [exchange.client, exchange.upstream].compactMap({ $0 })
        where connections.insert(connection.id).inserted {
            output.record(.connection(connection))
        }
        if let masked {
            try addBodies(&exchange, masked)
            exchange.record.extras.masked = masked.maskedParts(of: recorded.record)
        } else {
            for side in BodySide.allCases { try copy.copy(side, of: recorded.record.id, to: recorded.record.id) }
        }
        if exchange.record.state == .inFlight { exchange.record.state = .interrupted }
        output.record(.finished(exchange.record, exchange.messages))
    }

    private func addBodies(_ exchange: inout RecordedExchange, _ masked: MaskedSource) throws {
        if exchange.record.kind == .webSocket { return try addMessages(&exchange, masked) }
        for side in BodySide.allCases where try copy.hasBody(exchange.record.id, side) {
            try add(side, &exchange, masked)
        }
    }

    private func add(_ side: BodySide, _ exchange: inout RecordedExchange, _ masked: MaskedSource) throws {
        let id = exchange.record.id
        if masked.hasNoSecret(id, side: side) { return try copy.copy(side, of: id, to: id) }
        let body = try TransferredBody(exchange, side, from: masked)
        if body.isAsRecorded { return try copy.copy(side, of: id, to: id) }
        // A copy, because a buffer slice would keep the whole read buffer in memory.
        try body.forEachPiece { output.record(.body(id, side, ByteBuffer(bytes: $0.readableBytesView))) }
        let codings = exchange.messages.fields(of: side).values(of: .contentEncoding)
            .flatMap { ContentCoding.list($0) }.filter { $0 != .identity }
        if body.lacksCoding { exchange.messages.removeCoding(of: side) }
        try addArrivals(side, id, masked, isText: codings.isEmpty)
    }

    /// Writes when the lines of a masked body arrived. Masking keeps the lines but may change their lengths.
    private func addArrivals(_ side: BodySide, _ id: ExchangeID, _ masked: MaskedSource, isText: Bool) throws {
        var arrivals: [Arrival] = []
        try source.forEachArrival(of: id, side: side) { arrivals.append($0) }
        guard !arrivals.isEmpty, isText else { return }
        // The number of line feeds before each arrival.
        var lines: [Int] = []
        var (count, offset) = (0, Int64(0))
        try RecordedBody(source: source, id: id, side: side).forEachPiece { piece in
            for byte in piece.readableBytesView {
                while lines.count < arrivals.count, arrivals[lines.count].offset <= offset { lines.append(count) }
                if byte == 0x0A { count += 1 }
                offset += 1
            }
        }
        while lines.count < arrivals.count { lines.append(count) }
        // Of several arrivals in one line, the last one is when the line was complete.
        var (next, line, place) = (0, 0, Int64(0))
        func take(_ start: Int64) {
            var last: Arrival?
            while next < arrivals.count, lines[next] <= line {
                last = arrivals[next]
                next += 1
            }
            if let last { output.record(.arrival(id, side, offset: start, at: last.at)) }
        }
        take(0)
        try RecordedBody(source: masked, id: id, side: side).forEachPiece { piece in
            for byte in piece.readableBytesView {
                place += 1
                guard byte == 0x0A else { continue }
                line += 1
                take(place)
            }
        }
    }

    private func addMessages(_ exchange: inout RecordedExchange, _ masked: MaskedSource) throws {
        let id = exchange.record.id
        var offsets: [BodySide: Int64] = [:]
        let notes = try SocketFrames.forEach(of: exchange, from: masked) { isSent, frame, at in
            let side = isSent ? BodySide.requestReceived : .responseReceived
            let offset = offsets[side, default: 0]
            output.record(.body(id, side, frame))
            if let at { output.record(.arrival(id, side, offset: offset, at: at)) }
            offsets[side] = offset + Int64(frame.readableBytes)
        }
        for note in notes {
            exchange.messages.trace.append(TraceEntry(stage: "sluice", outcome: .note, text: note))
        }
    }
}

extension ExchangeMessages {
    fileprivate mutating func removeCoding(of side: BodySide) {
        switch side {
        case .requestReceived: requestHead = requestHead.map(ExchangeMessages.withoutCoding)
        case .requestSent: requestHeadSent = (requestHeadSent ?? requestHead).map(ExchangeMessages.withoutCoding)
        case .responseReceived: responseHead = responseHead.map(ExchangeMessages.withoutCoding)
        case .responseSent: responseHeadSent = (responseHeadSent ?? responseHead).map(ExchangeMessages.withoutCoding)
        }
    }

    private static func withoutCoding(_ head: ByteBuffer) -> ByteBuffer {
        var kept = ByteBuffer()
        for line in head.readableBytesView.split(separator: 0x0A, omittingEmptySubsequences: false) {
            let name = String(decoding: line.prefix { $0 != UInt8(ascii: ":") }, as: UTF8.self).lowercased()
            guard name != "content-encoding" else { continue }
            if kept.readableBytes > 0 { kept.writeInteger(UInt8(0x0A)) }
            kept.writeBytes(line)
        }
        return kept
    }
}
