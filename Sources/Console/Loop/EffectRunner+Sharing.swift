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
        onReader { [self] _ in
            let text = try RecordedWhy.text(session: session, id: id.number, profiles: [], isWhole: true)
            report("Why: exchange \(id)", DetailDocument(text), topic: "why")
        }
    }

    /// Reads what gRPC messages mean.
    func loadDescriptor(_ path: String) {
        onReader { [self] _ in
            let set = try DescriptorFile.read([HomeDirectory.expanding(path)])
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
                say("\(error)", .error)
            }
        }
    }

    /// Opens a file that the user named, but none of those that are shown or recorded.
    func output(_ path: String) throws -> OutputFile {
        try requireOther(path)
        return try ExportFile.open(path)
    }

    /// Throws where a path leads to a session or an archive that is shown, or that is recorded behind it.
    func requireOther(_ path: String) throws {
        let path = HomeDirectory.expanding(path)
        for services in [services, behind.withLock({ $0?.services })] {
            if let session = services?.session { try OutputPlace.check(path, reading: session) }
            if let archive = services?.archive { try OutputPlace.check(path, reading: archive) }
        }
    }

    func saveBody(_ id: ExchangeID, _ path: String) {
        // A long body must not delay pages.
        onReader(passes) { [self] reader in
            let exchange = try reader.recorded(id)
            let hasResponse = exchange.record.sizes.responseBody > 0 || exchange.record.sizes.requestBody == 0
            let side: BodySide = hasResponse ? .responseReceived : .requestReceived
            // The name that is proposed has the folders of the URL, as map-local looks for them.
            let place = HomeDirectory.expanding(path)
            let folder = place.lastIndex(of: "/").map { String(place[..<$0]) } ?? ""
            if !folder.isEmpty {
                try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
            }
            let file = try output(path)
            let problem = try BodyExport.write(exchange, side: side, from: reader, raw: false, sink: file.write)
            try file.finish()
            let name = hasResponse ? "response" : "request"
            let note = problem.map { "; it could not be decoded to its end: \($0)" } ?? ""
            say("The \(name)'s body is in \(path), \(Measures.size(Int64(file.count)))\(note).")
        }
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
        return try OutputFile(HomeDirectory.expanding(path), isSecret: true, waits: false)
    }
}
