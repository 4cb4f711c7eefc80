package import HTTPModel
import Masking
import NIOCore
import Text

/// Exports requests as one program that sends them again in turn: commands of HTTPie for `sh`, calls of `fetch` for Node, or
/// calls of Python's requests. It prints the number of each and the status that it is answered with; HTTPie prints what
/// it prints. Where a request fails, a program of `fetch` or Python prints the error, goes on, and ends with 1. Exchanges that are not requests stay out, and a comment says so.
package struct ProgramExport: ScriptExport {
    package enum Language: Sendable { case httpie, fetch, python }

    private let language: Language
    private let source: any ExchangeSource
    private let files: any BodyFiles
    private let sink: ExportSink
    private var hasHeader = false
    /// The masked secrets whose variables the program needs.
    private var placeholders = NeededPlaceholders()
    /// Whether the program reads bodies from files that variables name.
    private var readsBodies = false
    package private(set) var skipped: [(id: ExchangeID, reason: String)] = []

    package init(
        _ language: Language,
        source: any ExchangeSource,
        files: any BodyFiles,
        sink: @escaping ExportSink
    ) {
        (self.language, self.source, self.files, self.sink) = (language, source, files, sink)
    }

    package var rehearsal: ProgramExport {
        ProgramExport(language, source: source, files: NamedBodies()) { _ in }
    }

    package mutating func begin(after rehearsal: ProgramExport) {
        (placeholders, readsBodies) = (rehearsal.placeholders, rehearsal.readsBodies)
    }

    package mutating func add(_ exchange: RecordedExchange) throws {
        let id = exchange.record.id
        let text: String
        do {
            let title = "\(exchange.record.method) \(exchange.record.url)"
            text = try self.text(RequestToRepeat(exchange, source: source), id, title)
        } catch let refusal as CurlError {
            skipped.append((id, unmarked(refusal.description)))
            return try write("\n\(comment("\(id) left out: \(refusal.description)"))")
        }
        try write("\n\(comment(exchange.title))\(text)\n")
    }

    package mutating func finish() throws {
        try files.finish()
        try write(language == .python ? "\nif failed: sys.exit(1)\n" : "")
    }

    private mutating func text(_ request: RequestToRepeat, _ id: ExchangeID, _ title: String) throws -> String {
        if request.heldBody != nil { readsBodies = true }
        switch language {
        case .httpie:
            var command = try HTTPieCommand(request)
            let text = try command.text(files)
            need(command.variables)
            return text
        case .fetch:
            var call = try FetchCall(request)
            let (comments, expression) = call.parts()
            need(call.variables)
            return comments + FetchCall.attempt(expression, "\(id)", title)
        case .python:
            var call = PythonCall(request)
            let (comments, statements, _) = call.parts(streams: true)
            need(call.variables)
            return comments + PythonCall.attempt(statements, "\(id)", title)
        }
    }

    private mutating func need(_ variables: ShellVariables?) {
        for placeholder in variables?.used ?? [] { placeholders.add(placeholder) }
    }

    private mutating func write(_ text: String) throws {
        if !hasHeader {
            hasHeader = true
            try sink(ByteBuffer(bytes: header))
        }
        if !text.isEmpty { try sink(ByteBuffer(string: unmarked(text))) }
    }

    /// A text in which placeholders that have no variable, as in a comment, are as anyone reads them.
    private func unmarked(_ text: String) -> String { masked?.mask.book.unmarked(text) ?? text }

    private var masked: MaskedSource? { source as? MaskedSource }

    /// What the program begins with: how it is run, and that it ends where a variable is not set.
    private var header: [UInt8] {
        let meanings = masked.map { ShellVariables.meanings(placeholders.inOrder, $0.mask.book) } ?? []
        switch language {
        case .httpie:
            return CurlExport.header + (masked.map { ShellVariables.guards(placeholders.inOrder, $0.mask.book) } ?? [])
        case .fetch:
            let first = "// Requests recorded by Sluice, for Node from version 18 on.\n"
            return Array((first + FetchCall.guards(meanings)).utf8)
        case .python:
            var text = "# Requests recorded by Sluice, for Python with the package requests.\nimport sys\n"
            text += PythonCall.imports(readsVariables: !meanings.isEmpty || readsBodies, skipsFields: true)
            for (name, meaning) in meanings {
                let words = PythonCall.literal("set \(name) to the \(meaning)")
                text += "if not os.environ.get(\"\(name)\"): raise SystemExit(\(words))\n"
            }
            text += "failed = False\n"
            return Array(text.utf8)
        }
    }

    private func comment(_ text: String) -> String {
        switch language {
        case .httpie: ShellWord.comment(text)
        case .fetch: FetchCall.comment(text)
        case .python: PythonCall.comment(text)
        }
    }
}
