package import Content
package import HTTPModel
import Masking
import NIOCore
import Text

/// A gRPC call as lines for people: its first and last messages, each with its time and what it says, and its outcome.
/// The messages of both directions stand in the order in which they arrived; without recorded arrivals the client's
/// come first. Works on a call that is still in flight: what is there by now is shown.
package struct GRPCReport {
    /// How many bytes of a message are read.
    private static let messageLimit = 64 * 1024
    /// How many bytes of all messages are read.
    private static let contentLimit = 512 * 1024
    private static let labelWidth = 14
    /// What a message says stands under its arrow.
    private static let indent = String(repeating: " ", count: 13)

    /// How the bodies are framed; `nil` where one is not gRPC, so that it is better seen as it is. A call that failed
    /// on its way may have a gateway's error page, even under the media type of gRPC.
    package private(set) var framings: (fromClient: GRPCFraming?, fromServer: GRPCFraming?)

    private let exchange: RecordedExchange
    private let lookup: DescriptorSet.Lookup?
    private let descriptors: DescriptorSet?
    private var directions: [Direction] = []
    private var messages = FirstAndLast<Shown>()
    private var firstArrival: Int64?
    private var webTrailers: FieldSection?

    private struct Direction {
        let isServer: Bool
        let cursor: GRPCCursor
        let text: GRPCMessageText
        var messageCount = 0
        var lastArrival: Int64?

        var arrow: String { isServer ? "←" : "→" }
        var name: String { isServer ? "server" : "client" }
    }

    private struct Shown {
        var frame: GRPCFrame
        var direction: Int
        var at: Int64?
        /// The time since the message before it from the same side.
        var gap: Int64?
    }

    /// Reads a call's messages; `nil` where neither body is gRPC. Throws the source's error.
    package init?(_ exchange: RecordedExchange, source: any ExchangeSource, descriptors: DescriptorSet? = nil) throws {
        guard exchange.record.kind == .http else { return nil }
        self.exchange = exchange
        self.descriptors = descriptors
        lookup = descriptors?.method(path: exchange.record.url.path)
        framings = (nil, nil)
        framings.fromClient = open(.requestReceived, source)
        framings.fromServer = open(.responseReceived, source)
        guard !directions.isEmpty else { return nil }
        try readMessages()
    }

    // MARK: Reading

    private mutating func open(_ side: BodySide, _ source: any ExchangeSource) -> GRPCFraming? {
        let fields = exchange.messages.fields(of: side)
        guard let mediaType = fields.value(of: .contentType).flatMap({ MediaType($0) }),
            let framing = GRPCFraming(mediaType)
        else { return nil }
        let isServer = side == .responseReceived
        var type: String?
        if case .found(let method) = lookup { type = isServer ? method.output : method.input }
        let cursor = GRPCCursor(
            RecordedBody(source: source, id: exchange.record.id, side: side),
            framing,
            codings: source is MaskedSource
                ? [] : fields.combinedValue(of: .contentEncoding).map { ContentCoding.list($0) } ?? [],
            payloadLimit: GRPCReport.messageLimit
        )
        let text = GRPCMessageText(
            encoding: fields.value(of: "grpc-encoding"),
            form: GRPCMessageForm(mediaType),
            type: type,
            descriptors: descriptors
        )
        directions.append(Direction(isServer: isServer, cursor: cursor, text: text))
        return framing
    }

    private mutating func readMessages() throws {
        while let index = try earliest(), let (frame, at) = directions[index].cursor.take() {
            if frame.kind == .trailers {
                let encoding = directions[index].text.encoding
                webTrailers = StoredHead.fields(frame.content(encoding: encoding, limit: GRPCReport.messageLimit).bytes)
                continue
            }
            let gap = at.flatMap { at in directions[index].lastArrival.map { max(0, at - $0) } }
            messages.append(Shown(frame: frame, direction: index, at: at, gap: gap))
            directions[index].messageCount += 1
            directions[index].lastArrival = at
            if firstArrival == nil { firstArrival = at }
        }
        for direction in directions where direction.messageCount == 0 && direction.cursor.problem?.kind == .malformed {
            if direction.isServer { framings.fromServer = nil } else { framings.fromClient = nil }
        }
    }

    /// The direction whose next frame arrived first.
    private func earliest() throws -> Int? {
        var earliest: (index: Int, moment: Int64)?
        for index in directions.indices {
            guard let (_, at) = try directions[index].cursor.peek() else { continue }
            let moment = at ?? .min
            if earliest.map({ moment < $0.moment }) ?? true { earliest = (index, moment) }
        }
        return earliest?.index
    }

    // MARK: Lines

    /// What the lines are headed by, for example `gRPC messages (1 from the client, 3 from the server, so far)`.
    package var title: String {
        var facts = directions.map { "\($0.messageCount) from the \($0.name)" }
        if exchange.record.state == .inFlight { facts.append("so far") }
        if let firstArrival {
            facts.append("the first after \(Measures.duration(max(0, firstArrival - exchange.record.startedAt)))")
        }
        return "gRPC messages (\(facts.joined(separator: ", ")))"
    }

    /// The method, the messages and the outcome, as ``VisibleText`` has them.
    package var lines: [String] {
        var lines = methodLines
        var contentLeft = GRPCReport.contentLimit
        for message in messages.first { lines += self.lines(message, &contentLeft) }
        if messages.leftOut > 0 {
            let hint = "`sluice show SESSION \(exchange.record.id) --body response --raw` has all"
            lines.append("… \(messages.leftOut) more; \(hint)")
        }
        for message in messages.last { lines += self.lines(message, &contentLeft) }
        for index in directions.indices { lines += endLines(index, &contentLeft) }
        return (lines + outcomeLines).map(VisibleText.of)
    }

    private func labelled(_ label: String, _ value: String) -> String {
        label.filled(to: GRPCReport.labelWidth) + value
    }

    private var methodLines: [String] {
        var lines: [String] = []
        let segments = exchange.record.url.path.split(separator: "/").suffix(2)
        if segments.count == 2 { lines.append(labelled("method", segments.joined(separator: "/"))) }
        switch lookup {
        case nil:
            guard directions.contains(where: { $0.text.form == .protobuf }) else { break }
            lines.append(
                labelled(
                    "read as",
                    "numbered fields; a descriptor file names them: --proto-descriptor FILE, in the console descriptor FILE"
                )
            )
        case .unknown(let reason): lines.append(labelled("read as", "numbered fields; \(reason)"))
        case .found(let method):
            let input = (method.isClientStreaming ? "stream " : "") + method.input
            let output = (method.isServerStreaming ? "stream " : "") + method.output
            lines.append(labelled("read as", "\(input) → \(output)"))
        }
        return lines
    }

    private func lines(_ message: Shown, _ contentLeft: inout Int) -> [String] {
        let frame = message.frame
        let direction = directions[message.direction]
        var notes: [String] = []
        var content: [String] = []
        if contentLeft > 0 || frame.size == 0 {
            let (lines, size) = direction.text.lines(frame, limit: min(GRPCReport.messageLimit, max(contentLeft, 1)))
            content = lines
            contentLeft -= min(contentLeft, size)
            let sizes = size > 0 ? ", \(Measures.size(Int64(size))) decoded" : ""
            if frame.isCompressed { notes.append((direction.text.encoding ?? "compressed") + sizes) }
        } else {
            if frame.isCompressed { notes.append(direction.text.encoding ?? "compressed") }
            notes.append("not shown, as so many others are long")
        }
        return [line(message, notes)] + content.map { GRPCReport.indent + $0 }
    }

    /// Time, direction, gap, size and number of a message, in columns.
    private func line(_ message: Shown, _ notes: [String]) -> String {
        let direction = directions[message.direction]
        let time = message.at.map { Measures.elapsed(from: exchange.record.startedAt, to: $0) } ?? "-"
        let gap = message.gap.map { "+" + Measures.duration($0) } ?? ""
        let size = Measures.size(Int64(message.frame.size))
        let columns = [
            time.aligned(to: 11), direction.arrow, gap.aligned(to: 9), size.aligned(to: 7),
            "message \(message.frame.number)",
        ]
        return (columns + (notes.isEmpty ? [] : ["[\(notes.joined(separator: "; "))]"])).joined(separator: "  ")
    }

    /// What there is to say of a direction at its end.
    private func endLines(_ index: Int, _ contentLeft: inout Int) -> [String] {
        let direction = directions[index]
        let isInFlight = exchange.record.state == .inFlight
        var lines: [String] = []
        if let (frame, at) = direction.cursor.unfinished {
            let gap = at.flatMap { at in direction.lastArrival.map { max(0, at - $0) } }
            let part = "\(frame.received) of \(frame.size) bytes"
            let note =
                "\(frame.kind == .trailers ? "the trailers, " : "")\(part)\(isInFlight ? " so far" : ", its end is missing")"
            lines.append(line(Shown(frame: frame, direction: index, at: at, gap: gap), [note]))
            if frame.kind == .message, contentLeft > 0 {
                let limit = min(GRPCReport.messageLimit, contentLeft)
                lines += direction.text.lines(frame, limit: limit).lines.map { GRPCReport.indent + $0 }
            }
        } else if let problem = direction.cursor.problem, problem.kind == .malformed || !isInFlight {
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

    // MARK: Outcome

    private var outcomeLines: [String] {
        let messages = exchange.messages
        let sections = [
            messages.responseTrailers.map { StoredHead.fields($0) }, webTrailers,
            messages.fields(of: .responseReceived),
        ].compactMap { $0 }
        guard let outcome = sections.lazy.compactMap({ GRPCOutcome($0) }).first ?? exchange.record.grpc else {
            let isInFlight = exchange.record.state == .inFlight
            return [labelled("grpc-status", isInFlight ? "not there yet" : "none: the call ended without one")]
        }
        let name = outcome.name ?? "(no status of this number is defined)"
        var lines = [labelled("grpc-status", "\(outcome.status) \(name)")]
        if !outcome.message.isEmpty { lines.append(labelled("grpc-message", outcome.message)) }
        guard let details = sections.lazy.compactMap({ GRPCStatusDetails.read($0) }).first else { return lines }
        let content = descriptors?.decode(details, as: GRPCStatusDetails.type) ?? ProtobufContent.schemaless(details)
        lines.append(labelled("details", "\(GRPCStatusDetails.type), \(Measures.size(Int64(details.readableBytes)))"))
        return lines + content.lines.map { labelled("", $0) }
    }
}
