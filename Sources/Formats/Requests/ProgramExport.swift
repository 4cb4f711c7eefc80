package import Content
package import Description
package import HTTPModel
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
    package private(set) var skipped: [(id: ExchangeID, reason: String)] = []

    package init(_ language: Language, source: any ExchangeSource, files: any BodyFiles, sink: @escaping ExportSink) {
        (self.language, self.source, self.files, self.sink) = (language, source, files, sink)
    }

    package var isForShell: Bool { language == .httpie }

    package mutating func add(_ exchange: RecordedExchange) throws {
        let id = exchange.record.id
        let text: String
        do {
            let title = "\(exchange.record.method) \(exchange.record.url)"
            text = try self.text(RequestToRepeat(exchange, source: source), id, title)
        } catch let refusal as CurlError {
            skipped.append((id, refusal.description))
            return try write("\n\(comment("\(id) left out: \(refusal.description)"))")
        }
        try write("\n\(comment(exchange.title))\(text)\n")
    }

    package mutating func finish() throws {
        try files.finish()
        try write(language == .python ? "\nif failed: sys.exit(1)\n" : "")
    }

    private mutating func text(_ request: RequestToRepeat, _ id: ExchangeID, _ title: String) throws -> String {
        switch language {
        case .httpie: return try HTTPieCommand(request).text(files)
        case .fetch:
            let (comments, expression) = try FetchCall(request).parts()
            return comments + FetchCall.attempt(expression, "\(id)", title)
        case .python:
            let (comments, statements, _) = PythonCall(request).parts(streams: true)
            return comments + PythonCall.attempt(statements, "\(id)", title)
        }
    }

    private mutating func write(_ text: String) throws {
        if !hasHeader {
            hasHeader = true
            try sink(ByteBuffer(bytes: header))
        }
        if !text.isEmpty { try sink(ByteBuffer(string: text)) }
    }

    /// The beginning of the program, which says how it is run.
    private var header: [UInt8] {
        switch language {
        case .httpie: CurlExport.header
        case .fetch: Array("// Requests recorded by Sluice, for Node from version 18 on.\n".utf8)
        case .python:
            Array(
                """
                # Requests recorded by Sluice, for Python with the package requests.
                import sys
                \(PythonCall.imports(skipsFields: true))failed = False

                """.utf8
            )
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
