package import Content
package import Description
package import HTTPModel
import NIOCore

/// Exports requests as one program that sends them one after another: HTTPie for `sh`, `fetch` for Node, or Python's
/// requests. The last two print the number and status of each request, or its error, and end with exit code 1 after
/// errors. Exchanges that are not requests become comments.
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
        let text: String
        do {
            text = try self.text(exchange)
        } catch let refusal as CurlError {
            let id = exchange.record.id
            skipped.append((id, refusal.description))
            return try write("\n\(comment("\(id) left out: \(refusal.description)"))")
        }
        try write("\n\(comment(exchange.title))\(text)\n")
    }

    package mutating func finish() throws {
        try files.finish()
        try write(language == .python ? "\nif failed: sys.exit(1)\n" : "")
    }

    private func text(_ exchange: RecordedExchange) throws -> String {
        let (request, number) = (try RequestToRepeat(exchange, source: source), "\(exchange.record.id)")
        let title = "\(exchange.record.method) \(exchange.record.url)"
        switch language {
        case .httpie: return try HTTPieCommand(request).text(files)
        case .fetch:
            let (comments, expression) = try FetchCall(request).parts()
            return comments + FetchCall.attempt(expression, number, title)
        case .python:
            let (comments, statements, _) = PythonCall(request: request).parts(streams: true)
            return comments + PythonCall.attempt(statements, number, title)
        }
    }

    private mutating func write(_ text: String) throws {
        if !hasHeader {
            hasHeader = true
            try sink(ByteBuffer(bytes: header))
        }
        if !text.isEmpty { try sink(ByteBuffer(string: text)) }
    }

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
