import ArgumentParser
import Content
import Description
import Files
import Formats
import Foundation
import HTTPModel
import Jobs
import NIOCore
import Recording
import Text

extension Show {
    func show(
        _ number: Int,
        of exchange: RecordedExchange,
        _ reader: SessionReader,
        _ descriptors: DescriptorSet?,
        _ output: OutputFile
    ) throws {
        let found: MessageExport.Message
        switch try MessageExport.message(number, of: exchange, from: reader, descriptors: descriptors) {
        case .found(let message): found = message
        case .missing(let count):
            let soFar = exchange.record.state == .inFlight ? " so far" : ""
            throw StartError("Exchange \(id) has \(count.of("message"))\(soFar).")
        case .dropped(let reason): throw StartError("The messages of exchange \(id) are no longer stored: \(reason).")
        case .noStream:
            throw StartError(
                "Exchange \(id) carries no messages.",
                hint: "For its body: sluice show \(session) \(id) --body response"
            )
        }
        let bytes = raw ? found.bytes : found.text.map { ByteBuffer(string: $0) } ?? found.bytes
        let way = "For the bytes: sluice show \(session) \(id) --message \(number)\(options) > file"
        if isatty(STDOUT_FILENO) == 1 {
            guard bytes.readableBytes == 0 || TextDecoder.isText(bytes) else {
                throw StartError("The message is not text and would garble the terminal.", hint: way)
            }
            var visible = VisiblePieces()
            try output.write(visible.add(bytes))
            try output.write(visible.finish())
            if visible.hasChanged { StandardStreams.error(Self.escapeRemark + way + "\n") }
        } else {
            try output.write(bytes)
        }
        for remark in found.remarks { StandardStreams.error("sluice: message \(number): \(remark)\n") }
    }

    /// The pause between two reads of the session, in milliseconds.
    private static let interval = 100
    /// The number of reads between two checks whether a process still records the session.
    private static let readsBetweenChecks = 20

    func follow(
        _ exchange: RecordedExchange,
        _ reader: SessionReader,
        _ descriptors: DescriptorSet?,
        _ output: OutputFile
    ) throws {
        StopSignals.prepare()
        let recording = RecordingWatch(path: reader.path)
        var exchange = exchange
        var follower: ExchangeFollower?
        var visible = isatty(STDOUT_FILENO) == 1 ? VisiblePieces() : nil
        var isChecked = visible == nil
        var reads = 0
        func write(_ piece: ByteBuffer) throws {
            if !isChecked, follower?.writesLines == false {
                isChecked = true
                guard TextDecoder.isText(piece) else {
                    throw StartError(
                        "The body is not text and would garble the terminal.",
                        hint: "For the bytes: sluice show \(session) \(id) --follow > file"
                    )
                }
            }
            try output.write(visible?.add(piece) ?? piece)
        }
        while true {
            // The state is read before the bytes: if the exchange is over, all of its bytes are there.
            guard let now = try reader.exchange(exchange.record.id) else { return }
            exchange = now
            let isOver = now.record.state != .inFlight
            if follower == nil, isOver || now.messages.responseHead != nil || body == .request {
                follower = ExchangeFollower(now, source: reader, side: body?.side, raw: raw, descriptors: descriptors)
            }
            try follower?.advance(now.record.state, write)
            if isOver { break }
            guard !StopSignals.hasCome(within: Show.interval) else { break }
            reads += 1
            if reads % Show.readsBetweenChecks == 0, recording?.isRecorded == false,
                try reader.record(exchange.record.id)?.state == .inFlight
            {
                StandardStreams.error("sluice: \(reader.path) is no longer recorded; the exchange ends there.\n")
                break
            }
        }
        if let end = visible?.finish() { try output.write(end) }
        if let problem = follower?.problem {
            StandardStreams.error("sluice: the body could not be decoded further: \(problem)\n")
        }
    }
}
