import ArgumentParser
import Foundation
import HTTPModel
import Recording
import Runner
import Sharing

struct List: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the exchanges of a session.",
        discussion: FilterHelp.text
    )

    @Argument(help: "The session file, or 'last' for the newest one.")
    var session: String

    @Argument(help: ArgumentHelp("Which exchanges.", valueName: "filter"))
    var filter: [String] = []

    @Flag(help: "Print one JSON object for each exchange.")
    var json = false

    func run() throws {
        let query = try SessionQuery(session: session, filter: filter)
        if !json { StandardStreams.out(ExchangeLine.header + "\n") }
        var text = ""
        try query.forEachMatch { record in
            text += (json ? ExchangeLine.json(record) : ExchangeLine.human(record)) + "\n"
            if text.utf8.count > 1 << 16 {
                StandardStreams.out(text)
                text = ""
            }
        }
        StandardStreams.out(text)
    }
}

struct Show: ParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Show everything about one exchange.")

    enum Message: String, ExpressibleByArgument, CaseIterable {
        case request
        case response
    }

    @Argument(help: "The session file, or 'last' for the newest one.")
    var session: String

    @Argument(help: "The exchange's number.")
    var id: Int64

    @Option(help: "Print only this message's body, decoded.")
    var body: Message?

    @Flag(help: "With --body: the bytes as received, without undoing the content coding.")
    var raw = false

    func validate() throws {
        if raw, body == nil { throw ValidationError("--raw goes with --body request or --body response.") }
    }

    func run() throws {
        let reader = try SessionQuery.open(session)
        guard let exchange = try reader.exchange(ExchangeID(id)) else {
            throw StartFailure(
                "The session has no exchange \(id).",
                hint: "sluice list \(session) prints the numbers there are."
            )
        }
        guard let body else {
            StandardStreams.out(try ExchangeReport.text(exchange, source: reader))
            return
        }
        let side: BodySide = body == .request ? .requestReceived : .responseReceived
        let output = try OutputFile(path: nil)
        if let problem = try BodyExport.write(exchange, side: side, from: reader, raw: raw, sink: output.write) {
            StandardStreams.error("sluice: the body could not be decoded further: \(problem)\n")
        }
    }
}

struct Export: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Export exchanges of a session, for a bug report or to send them again.",
        discussion: FilterHelp.text
    )

    enum Format: String, ExpressibleByArgument, CaseIterable {
        case curl
        case har
        case json
    }

    @Argument(help: "The session file, or 'last' for the newest one.")
    var session: String

    @Argument(help: ArgumentHelp("Which exchanges.", valueName: "filter"))
    var filter: [String] = []

    @Option(help: "The form: curl commands, HAR 1.2, or JSON.")
    var format: Format

    @Option(name: .shortAndLong, help: "The file to write. (default: standard output)")
    var output: String?

    @Flag(name: .customLong("print0"), help: "With curl: commands separated by NUL in place of a script.")
    var nulSeparated = false

    func validate() throws {
        if nulSeparated, format != .curl { throw ValidationError("--print0 goes with --format curl.") }
    }

    func run() throws {
        let query = try SessionQuery(session: session, filter: filter)
        let file = try OutputFile(path: output)
        var export: any ExchangeExport
        switch format {
        case .har: export = HARExport(source: query.reader, sink: file.write)
        case .json: export = JSONExport(source: query.reader, sink: file.write)
        case .curl:
            export = CurlExport(
                source: query.reader,
                form: nulSeparated ? .nulSeparated : output == nil ? .script : .scriptFile,
                files: bodyFiles(query.reader.path),
                sink: file.write
            )
        }
        try query.forEachMatch { record in
            if let exchange = try query.reader.exchange(record.id) { try export.add(exchange) }
        }
        try export.finish()
        try file.finish()
        if let curl = export as? CurlExport {
            for (id, reason) in curl.skipped { StandardStreams.error("sluice: \(id) left out: \(reason)\n") }
        }
    }

    /// Where bodies go that no command line can carry: beside the script, which names them relative to itself; or, for
    /// commands that may be run from anywhere, beside the output or the session, named absolutely.
    private func bodyFiles(_ session: String) -> BodyDirectory {
        let path = (output ?? session) + ".bodies"
        if output != nil, !nulSeparated {
            return BodyDirectory(path: path, referredToAs: (path as NSString).lastPathComponent)
        }
        return BodyDirectory(path: path, referredToAs: URL(fileURLWithPath: path).path)
    }
}

enum FilterHelp {
    static var text: String {
        let width = Filter.reference.map { $0.name.count + $0.argument.count }.max() ?? 0
        let keys = Filter.reference.map { key in
            let name = key.name + key.argument
            return "  " + name + String(repeating: " ", count: max(0, width - name.count + 2)) + key.summary
        }
        return """
            A filter is terms side by side, all of which must hold, with 'or', 'not' and parentheses where needed; a bare \
            word is looked for in the URL. For example: host:*.example.com status:5xx time:>500ms

            \(keys.joined(separator: "\n"))
            """
    }
}
