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
import Runner
import Synchronization
import Tools

extension EffectRunner {
    func export(_ request: ExportRequest) {
        let begun = cancellations.load(ordering: .relaxed)
        onReader(passes) { [self] reader in
            defer { end(.export) }
            try requireOther(request.path)
            if !request.isForced, OutputFile.isThere(HomeDirectory.expanding(request.path)) {
                return inbox.answer { $0.askToOverwrite(request) }
            }
            let isStopped = { [self] in cancellations.load(ordering: .relaxed) != begun }
            let check = {
                if isStopped() { throw ConsoleError("The export was stopped; \(request.path) is not written.") }
            }
            let file = try ExportFile.open(request.path)
            let numbers = try request.ids?.map(\.number) ?? reader.numbers(matching: request.query, until: isStopped)
            // A masked export first reads everything once to find the secrets.
            let passes = request.keepsSecrets ? 1 : 2
            var done = 0
            func proceed(_ count: Int) throws {
                try check()
                guard count > 0 else { return }
                done += count
                let progress = Double(done) / Double(max(1, numbers.count * passes))
                tell(Job(id: .export, title: "exporting", progress: progress, startedAt: 0))
            }
            let pipeline = ExportPipeline(reader, onProgress: proceed, numbers: { try $0(numbers) })
            try check()
            let masked = request.keepsSecrets ? nil : try SessionMask.source(pipeline, maskRules(reader))
            var destination = ExportDestination(file, path: HomeDirectory.expanding(request.path))
            destination.onPacking = { _ in try check() }
            var export = try request.format.export(masked ?? pipeline.pages, of: reader, to: destination)
            let count = try SessionMask.write(&export, masked, pipeline)
            try check()
            try file.finish()
            say(request, count, file.count, masked, export.remark)
        }
    }

    private func say(_ request: ExportRequest, _ count: Int, _ size: Int, _ masked: MaskedSource?, _ remark: String?) {
        let verb = count == 1 ? "exchange is" : "exchanges are"
        let secrets = request.keepsSecrets ? ", with \(count == 1 ? "its" : "their") secrets" : ""
        var words = ["\(count) \(verb) in \(request.path), \(Measures.size(Int64(size)))\(secrets)."]
        if let masked {
            words += [SessionMask.summary(masked, keeping: "'secrets' before the file keeps them.")].compactMap(\.self)
            let suspicions = SessionMask.suspicions(masked)
            // The status line has room for one sentence; the message before it names all suspicions.
            if !suspicions.isEmpty { say(suspicions.joined(separator: "\n")) }
            if let suspicion = SessionMask.suspicion(masked) {
                words.append("\(suspicion): the message before names them.")
            }
        }
        if let remark { words.append("\(remark).") }
        say(words.joined(separator: " "))
    }

    /// The mask rules of the active profile; without a profile, the mask rules of the shown session.
    func maskRules(_ reader: SessionReader) throws -> MaskRules {
        let sources = rulesInForce.withLock { $0 }
        return try sources.isEmpty ? SessionMask.rules(of: reader) : SessionMask.rules(in: sources)
    }

    func explain(_ id: ExchangeID) {
        guard let session = services?.session else { return }
        onReader { [self] reader in
            let text = try RecordedWhy.text(reader, named: session, id: id.number, profiles: [], isWhole: true)
            report("Why: exchange \(id)", DetailDocument(text), topic: "why")
        }
    }

    func loadDescriptor(_ path: String) {
        onReader { [self] _ in
            let set = try DescriptorFile.read([HomeDirectory.expanding(path)])
            descriptors.withLock { $0.set = set }
            say("gRPC field names loaded from \(path).")
        }
    }

    func loadDescriptors(of texts: [ProfileSource]) {
        let profile = try? RuleProfile(sources: texts, tools: .standard, variables: .forRecordedRules)
        guard let paths = profile?.protobuf else { return }
        let isKnown = descriptors.withLock { known in
            defer { known.paths = paths }
            return known.paths == paths
        }
        guard !isKnown, !paths.isEmpty else { return }
        attempt { [self] in
            let set = try DescriptorFile.read(paths)
            descriptors.withLock { $0.set = set }
        }
    }

    /// Throws if the file is an open session or archive, so that it is not overwritten.
    func requireOther(_ path: String) throws {
        let path = HomeDirectory.expanding(path)
        for services in [services, behind.withLock({ $0?.services })] {
            if let session = services?.session { try OutputPlace.check(path, reading: session) }
            if let archive = services?.archive { try OutputPlace.check(path, reading: archive) }
        }
    }

    func saveBody(_ id: ExchangeID, _ path: String) {
        // On the queue of passes, so that a long body does not delay pages.
        onReader(passes) { [self] reader in
            let exchange = try reader.recorded(id)
            let hasResponse = exchange.record.hasResponseToSave
            let side: BodySide = hasResponse ? .responseReceived : .requestReceived
            // The suggested name contains the folders of the URL, because map-local expects them.
            let place = HomeDirectory.expanding(path)
            let folder = place.lastIndex(of: "/").map { String(place[..<$0]) } ?? ""
            if !folder.isEmpty {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            }
            try requireOther(path)
            let file = try ExportFile.open(path)
            let problem = try BodyExport.write(exchange, side: side, from: reader, raw: false, sink: file.write)
            try file.finish()
            let name = hasResponse ? "response" : "request"
            let note = problem.map { "; it could not be decoded to its end: \($0)" } ?? ""
            say("The \(name)'s body is saved to \(path), \(Measures.size(Int64(file.count)))\(note).")
        }
    }
}

extension ExchangeRecord {
    /// Whether the body to save is the response's; if not, it is the request's.
    var hasResponseToSave: Bool { sizes.responseBody > 0 || sizes.requestBody == 0 }
}

extension SessionReader {
    /// The numbers of all exchanges that match a query, lowest first.
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

    /// Opens the file, readable only by the user, because it may hold secrets.
    static func open(_ path: String) throws -> OutputFile {
        guard !path.trimmingCharacters(in: .whitespaces).isEmpty else { throw ConsoleError("Enter a file name.") }
        guard path != "-", !path.hasPrefix("--") else {
            throw ConsoleError("'\(path)' is not a file name; use ./\(path) for a file of that name.")
        }
        return try OutputFile(HomeDirectory.expanding(path), isSecret: true, waits: false)
    }
}
