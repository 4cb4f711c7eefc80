import ArgumentParser
import Console
import Content
import Files
import Foundation
import HTTPModel
import Masking
import NIOCore
import Recording
import Rules
import Runner
import Sharing
import Tools

struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the exchanges of a session.",
        discussion: FilterHelp.text
    )

    @Argument(help: "The session file, 'last' for the newest one, or a HAR.") var session: String
    @Argument(help: .value("filter", "Which exchanges.")) var filter: [String] = []
    @Flag(help: "Print one JSON object for each exchange, with its secrets masked.") var json = false
    @Flag(help: "With --json: keep secrets as they were recorded.") var secrets = false

    func validate() throws {
        if secrets, !json { throw ValidationError("--secrets goes with --json; lines for people are never masked.") }
    }

    func run() throws {
        let query = try SessionQuery(session: session, filter: filter)
        let output = try OutputFile(nil)
        let mask = try json && !secrets ? RecordMask(SessionMask.rules(of: query.reader)) : nil
        var text = json ? "" : ExchangeLine.header + "\n"
        try query.forEachMatch { record in
            text += (json ? ExchangeLine.json(mask?.masked(record) ?? record) : ExchangeLine.human(record)) + "\n"
            if text.utf8.count > 1 << 16 {
                try output.write(text)
                text = ""
            }
        }
        try output.write(text)
    }
}

struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show everything about one exchange.")

    enum Message: String, ExpressibleByArgument, CaseIterable {
        case request, response

        var side: BodySide { self == .request ? .requestReceived : .responseReceived }
    }

    @Argument(help: "The session file, 'last' for the newest one, or a HAR.") var session: String
    @Argument(help: "The exchange's number.") var id: Int64
    @Option(help: "Print only this message's body, decoded.") var body: Message?
    @Flag(help: "With --body: the bytes as received, without undoing the content coding.") var raw = false

    @Option(
        help: .value(
            "file",
            "Names and types for gRPC messages: what protoc writes with --descriptor_set_out and --include_imports."
        )
    )
    var protoDescriptor: String?

    @Flag(help: "Replace passwords, tokens, cookies and keys.") var mask = false

    func validate() throws {
        if mask, body != nil { throw ValidationError("--mask and --body exclude each other.") }
        if protoDescriptor != nil, body != nil {
            throw ValidationError("--proto-descriptor and --body exclude each other.")
        }
        if raw, body == nil { throw ValidationError("--raw goes with --body request or --body response.") }
    }

    func run() throws {
        let descriptors = try protoDescriptor.map { try DescriptorFile.read([$0]) }
        let reader = try SessionQuery.open(session)
        guard let exchange = try reader.exchange(ExchangeID(id)) else {
            throw StartError(
                "The session has no exchange \(id).",
                hint: "sluice list \(session) prints the numbers there are."
            )
        }
        let output = try OutputFile(nil)
        guard let body else {
            var (shown, source): (RecordedExchange, any ExchangeSource) = (exchange, reader)
            if mask {
                let masked = try SessionMask.source(reader, SessionMask.rules(of: reader)) { try $0(exchange) }
                (shown, source) = (masked.masked(exchange), masked)
            }
            let report = ExchangeReport.text(shown, source: source, descriptors: descriptors) {
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
            StandardStreams.error(
                """

                sluice: What a terminal would obey or hide is shown as ^[ or <U+202E>. \(redirection(body))

                """
            )
        }
        if let problem {
            StandardStreams.error(
                "sluice: the body could not be decoded further: \(problem)\n--raw prints it as received.\n"
            )
        }
    }

    private func redirection(_ message: Message) -> String {
        "For the bytes: sluice show \(session) \(id) --body \(message.rawValue)\(raw ? " --raw" : "") > file"
    }

    /// Refuses to write bytes that are not text to a terminal.
    private func refuseBinary(_ exchange: RecordedExchange, _ message: Message, _ reader: SessionReader) throws {
        let size = message == .request ? exchange.record.sizes.requestBody : exchange.record.sizes.responseBody
        if exchange.record.flags.contains(.tunnelledTLS), size > 0 {
            throw StartError("The bytes of exchange \(id) were TLS that was not decrypted; they are not recorded.")
        }
        guard isatty(1) == 1 else { return }
        var beginning = ByteBuffer()
        _ = try BodyExport.write(exchange, side: message.side, from: reader, raw: raw) { piece in
            if beginning.readableBytes < 4_096 {
                beginning.writeImmutableBuffer(
                    piece.getSlice(at: piece.readerIndex, length: min(piece.readableBytes, 4_096)) ?? ByteBuffer()
                )
            }
        }
        guard beginning.readableBytes > 0, !TextDecoder.isText(beginning) else { return }
        throw StartError("The body is no text, and would garble the terminal.", hint: redirection(message))
    }
}

struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Export exchanges of a session, for a bug report or to send them again.",
        discussion: """
            Passwords, tokens, cookies and keys are masked: each secret is one word, such as sluice-token-1, wherever it \
            stands; in a cURL script it is a variable of the shell. 'mask:' of the profile that was in force, or of \
            --profile, says what is masked besides and what is not.

            \(FilterHelp.text)
            """
    )

    @Argument(help: "The session file, 'last' for the newest one, or a HAR.") var session: String
    @Argument(help: .value("filter", "Which exchanges.")) var filter: [String] = []
    @Option(help: "The form: curl commands, HAR 1.2, or JSON.") var format: ExportRequest.Form
    @Option(name: .shortAndLong, help: "The file to write. (default: standard output)") var output: String?

    @Flag(name: .customLong("print0"), help: "With curl: commands separated by NUL in place of a script.")
    var nulSeparated = false

    @Flag(help: "Keep passwords, tokens, cookies and keys as they were recorded.") var secrets = false
    @Flag(help: "Where a text looks like a secret and is not known as one: write nothing, end with exit code 1.")
    var strict = false
    @Option(help: .value("file", "A profile whose 'mask:' says what is masked. Repeatable."))
    var profile: [String] = []

    func validate() throws {
        if secrets, strict || !profile.isEmpty {
            throw ValidationError("--secrets masks nothing, so --strict and --profile do not go with it.")
        }
        if nulSeparated, format != .curl { throw ValidationError("--print0 goes with --format curl.") }
    }

    func run() throws {
        let query = try SessionQuery(session: session, filter: filter)
        let masked = try secrets ? nil : masked(query)
        // Recorded traffic may hold secrets.
        let file = try OutputFile(output, isSecret: true)
        var export = export(masked ?? query.reader, file.write, bodyFiles(query.path))
        try SessionMask.write(&export, masked) { add in try forEach(query, add) }
        try file.finish()
        let summary = masked.flatMap { SessionMask.summary($0, keeping: "--secrets keeps them.") }
        if let summary { StandardStreams.error("sluice: \(summary)\n") }
        if let curl = export as? CurlExport {
            let bodies = query.path + ".bodies"
            if output == nil, FileManager.default.fileExists(atPath: bodies) {
                StandardStreams.error("sluice: bodies that no command line can carry are in \(bodies)\n")
            }
            for (id, reason) in curl.skipped { StandardStreams.error("sluice: \(id) left out: \(reason)\n") }
        }
    }

    private func export(
        _ source: any ExchangeSource,
        _ sink: @escaping ExportSink,
        _ files: any BodyFiles
    ) -> any ExchangeExport {
        switch format {
        case .har: return HARExport(source: source, sink: sink)
        case .json: return JSONExport(source: source, sink: sink)
        case .curl:
            let form = nulSeparated ? CurlExport.Form.nulSeparated : output == nil ? .script : .scriptFile
            return CurlExport(source: source, form: form, files: files, sink: sink)
        }
    }

    private func forEach(_ query: SessionQuery, _ body: (RecordedExchange) throws -> Void) throws {
        try query.forEachMatch { record in
            if let exchange = try query.reader.exchange(record.id) { try body(exchange) }
        }
    }

    /// The session without its secrets. Throws where --strict refuses what looks like one.
    private func masked(_ query: SessionQuery) throws -> MaskedSource {
        let rules = try SessionMask.rules(of: query.reader, profiles: profile)
        let masked = try SessionMask.source(query.reader, rules) { collect in try forEach(query, collect) }
        let suspicions = SessionMask.suspicions(masked)
        for line in suspicions { StandardStreams.error("sluice: \(line)\n") }
        if strict, !suspicions.isEmpty {
            throw StartError(
                "Nothing is exported, as --strict was given.",
                hint: "Mask them by their names in a profile, or leave --strict out."
            )
        }
        return masked
    }

    /// Where bodies go that no command line can hold: beside the script, which names them relative to itself; or, for
    /// commands that may be run from anywhere, beside the output or the session, named absolutely.
    private func bodyFiles(_ session: String) -> BodyDirectory {
        let path = (output ?? session) + ".bodies"
        if output != nil, !nulSeparated {
            return BodyDirectory(path: path, referredToAs: (path as NSString).lastPathComponent)
        }
        return BodyDirectory(path: path, referredToAs: URL(fileURLWithPath: path).path)
    }
}

extension ExportRequest.Form: ExpressibleByArgument {}

enum FilterHelp {
    static var text: String {
        let keys = Filter.reference.map { row($0.argument.isEmpty ? $0.name : "\($0.name):\($0.argument)", $0.summary) }
        let facts = Filter.properties.map { row("is:\($0.name)", $0.summary) }
        return """
            A filter is terms side by side, all of which must hold, with 'or', 'not' and parentheses where needed; a bare \
            word is looked for in the URL. For example: host:*.example.com status:5xx time:>500ms

            \((keys + facts).joined(separator: "\n"))

            \(wrapped(Filter.expressionNote, to: 78).joined(separator: "\n"))
            """
    }

    private static func row(_ term: String, _ summary: String) -> String {
        let gap = String(repeating: " ", count: max(2, 24 - term.count))
        let indent = "\n" + String(repeating: " ", count: 26)
        return "  " + term + gap + wrapped(summary, to: 52).joined(separator: indent)
    }

    private static func wrapped(_ text: String, to width: Int) -> [String] {
        var lines = [""]
        for word in text.split(separator: " ") {
            if lines[lines.count - 1].count + word.count >= width, !lines[lines.count - 1].isEmpty { lines.append("") }
            lines[lines.count - 1] += (lines[lines.count - 1].isEmpty ? "" : " ") + word
        }
        return lines
    }
}
