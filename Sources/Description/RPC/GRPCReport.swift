package import Content
package import HTTPModel
import NIOCore
import Text

/// A gRPC call, maybe still in flight, as lines: its first and last messages, with time and content, and its outcome.
package struct GRPCReport {
    private static let messageLimit = 64 * 1024
    private static let contentLimit = 512 * 1024
    private static let labelWidth = 14

    /// `nil` for a body that is not gRPC: a failed call may have a gateway's error page with the media type of gRPC.
    package var formats: (fromClient: StreamCounter.Format?, fromServer: StreamCounter.Format?) { call.formats }

    private let exchange: RecordedExchange
    private let descriptors: DescriptorSet?
    private var call: GRPCCall
    private var messages = FirstAndLast<GRPCCall.Message>()
    private var firstArrival: Int64?

    /// Reads a call's messages; `nil` if neither body is gRPC. Throws the source's error.
    package init?(_ exchange: RecordedExchange, source: any ExchangeSource, descriptors: DescriptorSet? = nil) throws {
        let limit = GRPCReport.messageLimit
        guard let call = GRPCCall(exchange, source: source, descriptors: descriptors, messageLimit: limit) else {
            return nil
        }
        (self.exchange, self.descriptors, self.call) = (exchange, descriptors, call)
        while let message = try self.call.next() {
            messages.append(message)
            if firstArrival == nil { firstArrival = message.at }
        }
    }

    /// The heading of the lines, for example `gRPC messages (1 from the client, 3 from the server, so far)`.
    package var title: String {
        var facts = call.directions.map { "\($0.messageCount) from the \($0.name)" }
        if exchange.record.state == .inFlight { facts.append("so far") }
        if let firstArrival {
            facts.append("the first after \(Measures.duration(max(0, firstArrival - exchange.record.startedAt)))")
        }
        return "gRPC messages (\(facts.joined(separator: ", ")))"
    }

    /// The method, the messages and the outcome, with hidden characters made visible.
    package var lines: [String] {
        var lines = methodLines
        let limit = GRPCReport.messageLimit
        var contentLeft = GRPCReport.contentLimit
        for message in messages.first { lines += call.lines(message, limit: limit, &contentLeft) }
        if messages.leftOut > 0 {
            let hint = "`sluice show SESSION \(exchange.record.id) --message N` prints each"
            lines.append("… \(messages.leftOut) more; \(hint)")
        }
        for message in messages.last { lines += call.lines(message, limit: limit, &contentLeft) }
        for index in call.directions.indices { lines += endLines(index, &contentLeft) }
        return (lines + outcomeLines).map(VisibleText.of)
    }

    private func labelled(_ label: String, _ value: String) -> String {
        label.filled(to: GRPCReport.labelWidth) + value
    }

    private var methodLines: [String] {
        var lines: [String] = []
        let segments = exchange.record.url.path.split(separator: "/").suffix(2)
        if segments.count == 2 { lines.append(labelled("method", segments.joined(separator: "/"))) }
        switch call.lookup {
        case nil:
            guard call.directions.contains(where: { $0.text.form == .protobuf }) else { break }
            let way = "--proto-descriptor FILE, in the console descriptor FILE"
            lines.append(labelled("read as", "numbered fields; a descriptor file names them: \(way)"))
        case .unknown(let reason): lines.append(labelled("read as", "numbered fields; \(reason)"))
        case .found(let method):
            let input = (method.isClientStreaming ? "stream " : "") + method.input
            let output = (method.isServerStreaming ? "stream " : "") + method.output
            lines.append(labelled("read as", "\(input) → \(output)"))
        }
        return lines
    }

    private func endLines(_ index: Int, _ contentLeft: inout Int) -> [String] {
        let direction = call.directions[index]
        let isInFlight = exchange.record.state == .inFlight
        var lines: [String] = []
        if let frame = direction.reader.unfinished {
            let at = direction.cursor.arrival
            let gap = at.flatMap { at in direction.lastArrival.map { max(0, at - $0) } }
            let part = "\(frame.kind == .trailers ? "the trailers, " : "")\(frame.received) of \(frame.size) bytes"
            let note = part + (isInFlight ? " so far" : ", its end is missing")
            let number = messages.count + call.directions[..<index].count { $0.reader.unfinished != nil } + 1
            let message = GRPCCall.Message(number: number, frame: frame, direction: index, at: at, gap: gap)
            lines.append(call.line(message, [note]))
            if frame.kind == .message, contentLeft > 0 {
                let limit = min(GRPCReport.messageLimit, contentLeft)
                lines += direction.text.lines(frame, limit: limit).lines.map { GRPCCall.indent + $0 }
            }
        } else if let problem = direction.reader.problem, problem.kind == .malformed || !isInFlight {
            lines.append("What follows from the \(direction.name) cannot be read: \(problem).")
        }
        if let problem = direction.cursor.codingProblem {
            lines.append("The \(direction.name)'s body was not decoded in whole: \(problem).")
        }
        let flags = exchange.record.flags
        if flags.contains(direction.isServer ? .responseBodyIncomplete : .requestBodyIncomplete) {
            lines.append("The recorder dropped bytes from the \(direction.name).")
        }
        if flags.contains(direction.isServer ? .responseBodyChanged : .requestBodyChanged) {
            lines.append("These are the \(direction.name)'s messages as received; a stage changed what was sent on.")
        }
        return lines
    }

    private var outcomeLines: [String] {
        let messages = exchange.messages
        let sections = [
            messages.responseTrailers.map { StoredHead.fields($0) }, call.webTrailers,
            messages.fields(of: .responseReceived),
        ].compactMap { $0 }
        guard let outcome = sections.lazy.compactMap({ GRPCOutcome($0) }).first ?? exchange.record.grpc else {
            let isInFlight = exchange.record.state == .inFlight
            return [labelled("grpc-status", isInFlight ? "not there yet" : "none: the call ended without one")]
        }
        let name = outcome.name ?? "(no status of this number is defined)"
        var lines = [labelled("grpc-status", "\(outcome.status) \(name)")]
        if !outcome.message.isEmpty { lines.append(labelled("grpc-message", outcome.message)) }
        guard let details = sections.lazy.compactMap({ GRPCOutcome.details($0) }).first else { return lines }
        let content = descriptors?.decode(details, as: GRPCOutcome.detailsType) ?? ProtobufContent.schemaless(details)
        lines.append(labelled("details", "\(GRPCOutcome.detailsType), \(Measures.size(Int64(details.readableBytes)))"))
        return lines + content.lines.map { labelled("", $0) }
    }
}
