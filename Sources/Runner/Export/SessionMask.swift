package import HTTPModel
package import Masking
import NIOCore
package import Recording
import Rules
package import Sharing
import Tools

/// Masks the exports of a session.
package enum SessionMask {
    /// As many texts that look like secrets are named in a message.
    private static let mostNamed = 10

    /// What the profiles say of masking; without any, what those say that were last in force in the session.
    ///
    /// Throws `ProfileError` for a profile that is wrong, and for rules of a session that are not YAML.
    package static func rules(of reader: SessionReader, profiles: [String] = []) throws -> MaskRules {
        guard profiles.isEmpty else { return try RuleProfile.load(paths: profiles, takesPipes: true).mask }
        return try self.rules(in: reader.rules(at: .max)?.sources ?? [])
    }

    /// What the texts of rules that are or were in force say of masking.
    ///
    /// Throws `ProfileError` for texts that are not YAML.
    package static func rules(in sources: [ProfileSource]) throws -> MaskRules {
        try RuleProfile.mask(in: sources, tools: .standard)
    }

    /// Reads exchanges for their secrets, and gives the session without them; `forEach` calls its closure with each.
    package static func source(
        _ reader: SessionReader,
        _ rules: MaskRules,
        forEach: ((RecordedExchange) throws -> Void) throws -> Void
    ) rethrows -> MaskedSource {
        let masked = MaskedSource(reader, TextMask(rules))
        try forEach { try masked.collectAll($0) }
        masked.mask.endCollecting()
        return masked
    }

    /// Reads all exchanges of an export for their secrets, and gives the session without them.
    package static func source(_ pipeline: ExportPipeline, _ rules: MaskRules) throws -> MaskedSource {
        let masked = MaskedSource(pipeline.pages, TextMask(rules))
        let copy = masked.mask.copy
        try pipeline.run { pages in
            let mask = TextMask(copy)
            let source = MaskedSource(pages, mask)
            return { (page: ExportPage<TextMask.Findings>) in
                try page.forEach(in: pages) { exchange in
                    try source.collectAll(exchange)
                    if mask.findingCount > mostFindings { try page.give(mask.takeFindings()) }
                }
                try page.give(mask.takeFindings())
            }
        } take: { (findings: TextMask.Findings, _) in
            masked.mask.add(findings)
        }
        masked.mask.endCollecting()
        return masked
    }

    /// As many secrets are found before they are handed over.
    private static let mostFindings = 1_024

    /// Writes all exchanges of an export; returns how many there were.
    ///
    /// A masked script begins with the variables that its commands need, so its commands are made twice.
    @discardableResult
    package static func write(
        _ export: inout any ExchangeExport,
        _ masked: MaskedSource?,
        _ pipeline: ExportPipeline
    ) throws -> Int {
        if let masked, let script = export as? any ScriptExport {
            masked.mask.book.isForPrograms = true
            export = try rehearsed(script, masked, pipeline)
        }
        masked?.restartCount()
        let count: Int
        if var parted = export as? any PartedExport {
            count = try write(&parted, masked, pipeline)
            export = parted
        } else {
            count = try pipeline.forEachExchange { try export.add(masked?.masked($0) ?? $0) }
        }
        try export.finish()
        return count
    }

    /// What is made of a page of exchanges.
    private enum Written: Sendable {
        case bytes(ByteBuffer)
        /// In how many places secrets were replaced.
        case replaced(Int)
    }

    private static func write(
        _ export: inout any PartedExport,
        _ masked: MaskedSource?,
        _ pipeline: ExportPipeline
    ) throws -> Int {
        let (part, mask) = (export.part, masked?.mask.copy)
        var isBeginning = true
        return try pipeline.run { pages in
            let masked = mask.map { MaskedSource(pages, TextMask($0)) }
            return { (page: ExportPage<Written>) in
                var export = part(masked ?? pages) { try page.give(.bytes($0)) }
                try page.forEach(in: pages) { try export.add(masked?.masked($0) ?? $0) }
                try export.finish()
                if let masked, masked.replacedCount > 0 {
                    try page.give(.replaced(masked.replacedCount))
                    masked.restartCount()
                }
            }
        } take: { (written: Written, isFirst) in
            if isFirst { isBeginning = true }
            switch written {
            case .bytes(let bytes):
                try export.add(bytes, beginsPart: isBeginning)
                isBeginning = false
            case .replaced(let count): masked?.add(replacedElsewhere: count)
            }
        }
    }

    private static func rehearsed<Script: ScriptExport>(
        _ script: Script,
        _ masked: MaskedSource,
        _ pipeline: ExportPipeline
    ) throws -> Script {
        var (script, rehearsal) = (script, script.rehearsal)
        try pipeline.forEachExchange { try rehearsal.add(masked.masked($0)) }
        script.begin(after: rehearsal)
        return script
    }

    /// What was masked, in a sentence; `keeping` says how to keep it. `nil` where there was nothing.
    package static func summary(_ masked: MaskedSource, keeping: String) -> String? {
        let places = masked.replacedCount
        guard places > 0 else { return nil }
        let secrets = masked.mask.book.entries.count
        var text = secrets == 1 ? "1 secret is masked" : "\(secrets) secrets are masked"
        text += places == 1 ? " in one place" : " in \(places) places"
        if masked.mask.book.isFull { text += ", and more than these, each only where its name says so" }
        return "\(text); \(keeping)"
    }

    /// How many texts look like secrets and were left, in a sentence without its end; `nil` where there are none.
    package static func suspicion(_ masked: MaskedSource) -> String? {
        let count = masked.mask.suspects.count
        guard count > 0 else { return nil }
        let many = count >= TextMask.mostSuspects ? "\(count) texts or more" : "\(count) texts"
        return count == 1
            ? "1 text looks like a secret and is not masked" : "\(many) look like secrets and are not masked"
    }

    /// The texts that look like secrets and were left, a line each; empty where there are none.
    package static func suspicions(_ masked: MaskedSource) -> [String] {
        guard let sentence = suspicion(masked) else { return [] }
        let suspects = masked.mask.suspects
        var lines = ["\(sentence); 'mask: { also: [ NAME ] }' in a profile masks by a name:"]
        for suspect in suspects.prefix(mostNamed) {
            lines.append("  exchange \(suspect.exchange), \(suspect.part): \(suspect.beginning)…")
        }
        if suspects.count > mostNamed { lines.append("  and \(suspects.count - mostNamed) more") }
        return lines
    }
}
