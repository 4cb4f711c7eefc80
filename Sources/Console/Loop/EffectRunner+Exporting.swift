import Files
import Foundation
import HTTPModel
import Masking
import Recording
import Runner
import Sharing
import Synchronization

/// Exports of what is shown, without its secrets unless they are to stay.
extension EffectRunner {
    func export(_ request: ExportRequest) {
        let begun = cancellations.load(ordering: .relaxed)
        onReader(passes) { [self] reader in
            defer { end(.export) }
            try requireOther(request.path)
            if !request.isForced, OutputFile.isThere(HomeDirectory.expanding(request.path)) {
                return inbox.answer { $0.askToOverwrite(request) }
            }
            let check = { [self] in
                if cancellations.load(ordering: .relaxed) != begun { throw ExportStopped(path: request.path) }
            }
            let file = try ExportFile.open(request.path)
            let ids =
                try request.ids
                ?? reader.numbers(matching: request.query) {
                    cancellations.load(ordering: .relaxed) != begun
                }.map { ExchangeID($0) }
            // A masked export reads for secrets first, and makes the commands of cURL twice.
            let passes = request.keepsSecrets ? 1 : request.format.isScript ? 3 : 2
            var done = 0
            var isAtOthers = false
            func tell(_ title: String, _ progress: Double) {
                self.tell(Job(id: .export, title: title, progress: progress, startedAt: 0))
            }
            let bounds = try reader.bounds() ?? 1...1
            let pipeline = ExportPipeline(
                reader,
                isWhole: request.ids == nil && request.query.leavesAll,
                onOthers: { isAtOthers = true },
                onNumbers: { tell("finding secrets in other exchanges", bounds.part(upTo: $0.last ?? 0)) },
                onProgress: { count in
                    try check()
                    guard count > 0, !isAtOthers else { return }
                    done += count
                    tell("exporting", Double(done) / Double(max(1, ids.count * passes)))
                },
                numbers: { body in
                    isAtOthers = false
                    try body(ids.map(\.number))
                }
            )
            try check()
            let masked = request.keepsSecrets ? nil : try SessionMask.source(pipeline, maskRules(reader))
            var destination = ExportDestination(file, path: HomeDirectory.expanding(request.path))
            destination.onPacking = { _ in try check() }
            var export = request.format.export(masked ?? pipeline.pages, of: reader, to: destination)
            let count = try SessionMask.write(&export, masked, pipeline)
            try check()
            try file.finish()
            tellExported(request, count, file.count, masked, export.remark)
        }
    }

    private func tellExported(
        _ request: ExportRequest,
        _ count: Int,
        _ size: Int,
        _ masked: MaskedSource?,
        _ remark: String?
    ) {
        let verb = count == 1 ? "exchange is" : "exchanges are"
        let secrets = request.keepsSecrets ? ", with \(count == 1 ? "its" : "their") secrets" : ""
        var words = "\(count) \(verb) in \(request.path), \(Measures.size(Int64(size)))\(secrets)."
        if let masked {
            if let summary = SessionMask.summary(masked, keeping: "'secrets' before the file keeps them.") {
                words += " \(summary)"
            }
            let suspicions = SessionMask.suspicions(masked)
            // All of them are among the messages; the sentence is what the status line has.
            if !suspicions.isEmpty { say(suspicions.joined(separator: "\n")) }
            if let suspicion = SessionMask.suspicion(masked) {
                words += " \(suspicion): the message before names them."
            }
        }
        if let remark { words += " \(remark)." }
        say(words)
    }

    /// What the rules in force say of masking; where there are none, those of the session that is shown.
    func maskRules(_ reader: SessionReader) throws -> MaskRules {
        let sources = rulesInForce.withLock { $0 }
        return try sources.isEmpty ? SessionMask.rules(of: reader) : SessionMask.rules(in: sources)
    }
}

/// An export that the user stopped.
private struct ExportStopped: Error, CustomStringConvertible {
    let path: String
    var description: String { "The export was stopped; \(path) is not written." }
}
