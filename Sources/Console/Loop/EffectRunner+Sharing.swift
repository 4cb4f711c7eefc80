import Content
import Files
import Foundation
import HTTPModel
import NIOCore
import Recording
import Rules
import Runner
import Sharing
import Synchronization
import Tools

extension EffectRunner {
    func explain(_ id: ExchangeID) {
        guard let session = services?.session else { return }
        onReader { [inbox] _ in
            let text = try RecordedWhy.text(session: session, id: id.number, profiles: [], isWhole: false)
            inbox.send(.report(title: "Why: exchange \(id)", DetailDocument(text)))
        }
    }

    /// Copies something of exchanges, one after the other, or only returns it as text.
    func copy(_ form: CopyForm, _ ids: [ExchangeID], asText: Bool = false) {
        onReader { [self] reader in
            let files = CopiedBodies()
            let texts = try ids.map { try CopyText.text(form, reader.recorded($0), reader, files) }
            let isLine = [.url, .curl, .httpie].contains(form)
            let text = texts.joined(separator: isLine ? "\n" : "\n\n")
            let count = ids.count > 1 ? "\(ids.count) × " : ""
            try hand(over: text, count + form.noun, files.note, asText: asText)
        }
    }

    func copyPart(_ form: CopyForm, _ name: String, _ id: ExchangeID, _ options: DetailOptions, asText: Bool = false) {
        onReader { [self] reader in
            let text = try CopyPart.text(form, name, reader.recorded(id), source: reader, options)
            try hand(over: text, form.noun, asText: asText)
        }
    }

    /// Copies a text that is at hand.
    func copy(_ text: String, as name: String) {
        start(on: passes) { [self] in
            do { try hand(over: text, name) } catch { report(error) }
        }
    }

    /// Gives a text to the clipboard, and says where it is.
    func hand(over text: String, _ noun: String, _ note: String = "", asText: Bool = false) throws {
        if asText { return inbox.send(.copied(text, "")) }
        switch try SystemClipboard.copy(text) {
        case .tool(let name): say("\(noun) copied with \(name)\(note).")
        case .terminal: inbox.send(.copied(text, "\(noun) handed to the terminal's clipboard\(note)."))
        case .file(let path, let reason): say("\(noun) is in \(path), as \(reason)\(note).")
        }
    }

    /// Reads what gRPC messages mean.
    func loadDescriptor(_ path: String) {
        onReader { [self] _ in
            let set = try DescriptorFile.read([ExportFile.expanded(path)])
            descriptors.withLock { $0.set = set }
            say("Messages of gRPC have the names of \(path).")
        }
    }

    /// Reads the descriptor files that a profile names, where they are other ones than before.
    func loadDescriptors(of texts: [ProfileSource]) {
        guard let paths = try? RuleProfile(sources: texts, tools: .standard).protobuf else { return }
        let isKnown = descriptors.withLock { known in
            defer { known.paths = paths }
            return known.paths == paths
        }
        guard !isKnown, !paths.isEmpty else { return }
        start(on: passes) { [self] in
            do {
                let set = try DescriptorFile.read(paths)
                descriptors.withLock { $0.set = set }
            } catch {
                inbox.send(.said("\(error)", .error))
            }
        }
    }

    func saveBody(_ id: ExchangeID, _ path: String) {
        // A long body must not delay pages.
        onReader(passes) { [self] reader in
            let exchange = try reader.recorded(id)
            let hasResponse = exchange.record.sizes.responseBody > 0 || exchange.record.sizes.requestBody == 0
            let side: BodySide = hasResponse ? .responseReceived : .requestReceived
            let file = try ExportFile.open(path)
            let problem = try BodyExport.write(exchange, side: side, from: reader, raw: false, sink: file.write)
            try file.finish()
            let name = hasResponse ? "response" : "request"
            let note = problem.map { "; it could not be decoded to its end: \($0)" } ?? ""
            say("The \(name)'s body is in \(path), \(Measures.size(Int64(file.count)))\(note).")
        }
    }

    func export(_ request: ExportRequest) {
        let begun = cancellations.load(ordering: .relaxed)
        onReader(passes) { [self] reader in
            defer { inbox.send(.jobEnded(.export)) }
            if !request.isForced, OutputFile.isThere(ExportFile.expanded(request.path)) {
                return inbox.send(.exportConflict(request))
            }
            let file = try ExportFile.open(request.path)
            let count = try write(request, reader, file) { self.cancellations.load(ordering: .relaxed) != begun }
            try file.finish()
            let size = Measures.size(Int64(file.count))
            say("\(count) \(count == 1 ? "exchange is" : "exchanges are") in \(request.path), \(size).")
        }
    }

    private func write(
        _ request: ExportRequest,
        _ reader: SessionReader,
        _ file: OutputFile,
        _ isStopped: () -> Bool
    ) throws -> Int {
        var export: any ExchangeExport =
            switch request.form {
            case .har: HARExport(source: reader, sink: file.write)
            case .json: JSONExport(source: reader, sink: file.write)
            case .curl:
                CurlExport(
                    source: reader,
                    form: .scriptFile,
                    files: BodyDirectory(
                        path: ExportFile.expanded(request.path) + ".bodies",
                        referredToAs: (request.path as NSString).lastPathComponent + ".bodies"
                    ),
                    sink: file.write
                )
            }
        var count = 0
        let ids =
            try request.ids ?? reader.numbers(matching: request.query, until: isStopped).map { ExchangeID($0) }
        for id in ids where !isStopped() {
            guard let exchange = try reader.exchange(id) else { continue }
            try export.add(exchange)
            count += 1
            if count % 200 == 0 {
                let progress = Double(count) / Double(max(1, ids.count))
                inbox.send(.job(Job(id: .export, title: "exporting", progress: progress, startedAt: 0)))
            }
        }
        try export.finish()
        return count
    }
}

extension SessionReader {
    /// The numbers of all exchanges that a query leaves, lowest first.
    func numbers(matching query: ListQuery, until isStopped: () -> Bool = { false }) throws -> [Int64] {
        guard let range = try bounds() else { return [] }
        var found: [Int64] = []
        let filter = query.wholeFilter
        if let only = query.only { return try numbers(of: .numbers(only), matching: filter) }
        try forEachBlock(of: range, for: filter) { block in
            found += try numbers(of: .range(block), matching: filter)
            return !isStopped()
        }
        return found
    }
}

enum ExportFile {
    static func write(_ text: String, to path: String) throws {
        let file = try open(path)
        try file.write(ByteBuffer(string: text))
        try file.finish()
    }

    /// Opens the file, readable only by the user, as it may hold secrets.
    static func open(_ path: String) throws -> OutputFile {
        guard !path.trimmingCharacters(in: .whitespaces).isEmpty else {
            throw ConsoleError("A file's name is needed.")
        }
        guard path != "-", !path.hasPrefix("--") else {
            throw ConsoleError("'\(path)' is no name of a file here; ./\(path) would be one.")
        }
        let path = expanded(path)
        let folder = (path as NSString).deletingLastPathComponent
        if !folder.isEmpty {
            try? FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        }
        return try OutputFile(path, isSecret: true, waits: false)
    }

    /// Replaces `~` by the user's home folder.
    static func expanded(_ path: String) -> String {
        guard path == "~" || path.hasPrefix("~/"), let home = ProcessInfo.processInfo.environment["HOME"] else {
            return (path as NSString).expandingTildeInPath
        }
        return home + path.dropFirst()
    }
}
