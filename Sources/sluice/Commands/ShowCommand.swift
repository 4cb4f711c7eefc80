import ArgumentParser
import Content
import Description
import Files
import Formats
import Foundation
import HTTPModel
import Jobs
import Masking
import NIOCore
import Recording
import Rules
import Text
import Tools

struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Show one exchange, or follow it while it runs.",
        discussion: """
              sluice show last 8
              sluice show last 5 --body response > body.json
              sluice show last 15 --follow
              sluice show last 1 --get res.json.products[0].name

            Messages of a stream are numbered from 1, in one order for both sides. --follow ends with the exchange or at Ctrl-C.

            Exit codes: 0 shown, also if Ctrl-C ended --follow, 1 it could not be shown or has no such value, 2 wrong usage.
            """
    )

    enum Message: String, ExpressibleByArgument, CaseIterable {
        case request, response

        var side: BodySide { self == .request ? .requestReceived : .responseReceived }
    }

    @Argument(help: .session, completion: .session) var session: String
    @Argument(help: .number) var id: Int64
    @Option(help: "Print only this message's body, decoded.") var body: Message?
    @Option(help: .value("number", "Print only this message of a stream, in full."))
    var message: Int?
    @Option(help: .value("place", "Print only the value at a place ('sluice guide places')."))
    var get: String?
    @Flag(help: "With --body or --message: the bytes as received.") var raw = false
    @Flag(name: .shortAndLong, help: "Print messages, or the response's body, as they arrive.") var follow = false
    @Option(help: .value("file", "A descriptor set of protoc for gRPC messages."), completion: .file())
    var protoDescriptor: String?
    @Flag(help: "Mask passwords, tokens, cookies and keys.") var mask = false

    func validate() throws {
        if id < 1 { throw ValidationError("Exchanges are counted from 1.") }
        if body != nil, message != nil { throw ValidationError("--body and --message exclude each other.") }
        if get != nil, body != nil || message != nil || follow {
            throw ValidationError("--get excludes --body, --message and --follow.")
        }
        do {
            _ = try get.map { try Place($0) }
        } catch {
            throw ValidationError("--get: \(error).")
        }
        if follow, message != nil { throw ValidationError("--follow and --message exclude each other.") }
        if mask, follow { throw ValidationError("--mask and --follow exclude each other.") }
        if protoDescriptor != nil, body != nil {
            throw ValidationError("--proto-descriptor and --body exclude each other.")
        }
        if raw, body == nil, message == nil {
            throw ValidationError("--raw needs --body request, --body response or --message.")
        }
        if let message, message < 1 { throw ValidationError("--message counts from 1.") }
    }

    func run() throws {
        let descriptors = try protoDescriptor.map { try DescriptorFile.read([$0]) }
        let reader = try SessionQuery.open(session)
        guard let exchange = try reader.exchange(ExchangeID(id)) else {
            throw StartError("The session has no exchange \(id).", hint: "To list them: sluice list \(session)")
        }
        let output = try OutputFile(nil)
        if follow { return try self.follow(exchange, reader, descriptors, output) }
        guard mask else { return try show(exchange, reader, descriptors, output) }
        let copy = try LongWork.run("finding secrets", .things("exchange"), consequence: "Nothing was shown.") { work in
            try MaskedCopy(of: exchange, in: reader) { try work.add($0) }
        }
        // The copy removes its files when it is released.
        try withExtendedLifetime(copy) { try show(copy.exchange, copy.reader, descriptors, output) }
    }

    private func show(
        _ exchange: RecordedExchange,
        _ reader: SessionReader,
        _ descriptors: DescriptorSet?,
        _ output: OutputFile
    ) throws {
        if let message { return try show(message, of: exchange, reader, descriptors, output) }
        if let get { return try show(try Place(get), of: exchange, reader, descriptors, output) }
        guard let body else {
            let report = ExchangeReport.text(exchange, source: reader, descriptors: descriptors) {
                ToolRegistry.standard[key: $0]?.change
            }
            return try output.write(report)
        }
        try refuseBinary(exchange, body, reader)
        var visible = isatty(STDOUT_FILENO) == 1 ? VisiblePieces() : nil
        let problem = try BodyExport.write(exchange, side: body.side, from: reader, raw: raw) { piece in
            try output.write(visible?.add(piece) ?? piece)
        }
        if let end = visible?.finish() { try output.write(end) }
        if visible?.hasChanged == true {
            StandardStreams.error(Self.escapeRemark + redirection(body) + "\n")
        }
        if let problem {
            let advice = "--raw prints it as received."
            StandardStreams.error("sluice: the body could not be decoded further: \(problem)\n\(advice)\n")
        }
    }

    /// Prints the values at a place, a line each.
    private func show(
        _ place: Place,
        of exchange: RecordedExchange,
        _ reader: SessionReader,
        _ descriptors: DescriptorSet?,
        _ output: OutputFile
    ) throws {
        let places = ExchangePlaces(exchange, source: reader, descriptors: descriptors)
        let values = try places.values(at: place)
        guard !values.isEmpty else {
            let needsDescriptors = place.root == .grpc && descriptors == nil
            let hint = needsDescriptors ? "To read gRPC messages: --proto-descriptor FILE" : ""
            let reason = places.problem.map { ": \($0)" } ?? ""
            throw StartError("Exchange \(id) has no \(place)\(reason).", hint: hint)
        }
        let isTerminal = isatty(STDOUT_FILENO) == 1
        for value in values {
            let bytes = isTerminal ? Array(VisibleText.lines(value.text).utf8) : value.bytes
            try output.write(ByteBuffer(bytes: bytes + [0x0A]))
        }
    }

    static let escapeRemark = "\nsluice: Control and invisible characters are shown as ^[ or <U+202E>. "

    /// The options for a command that prints the same into a file.
    var options: String { (raw ? " --raw" : "") + (mask ? " --mask" : "") }

    private func redirection(_ message: Message) -> String {
        "For the bytes: sluice show \(session) \(id) --body \(message.rawValue)\(options) > file"
    }

    /// Refuses to write bytes that are not text to a terminal.
    private func refuseBinary(_ exchange: RecordedExchange, _ message: Message, _ reader: SessionReader) throws {
        let size = message == .request ? exchange.record.sizes.requestBody : exchange.record.sizes.responseBody
        if exchange.record.flags.contains(.tunnelledTLS), size > 0 {
            throw StartError("Exchange \(id) is TLS that was not decrypted; its bytes are not recorded.")
        }
        guard isatty(1) == 1 else { return }
        var beginning = ByteBuffer()
        _ = try BodyExport.write(exchange, side: message.side, from: reader, raw: raw) { piece in
            if beginning.readableBytes < 4_096 { beginning.writeBytes(piece.readableBytesView.prefix(4_096)) }
        }
        guard beginning.readableBytes > 0, !TextDecoder.isText(beginning) else { return }
        throw StartError("The body is not text and would garble the terminal.", hint: redirection(message))
    }
}
