package import HTTPModel
package import Masking
import NIOCore
package import Recording
import Rules
package import Sharing
import Text
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

    /// Reads all exchanges of an export for their secrets, and others of the session, and gives the session without them.
    package static func source(_ pipeline: ExportPipeline, _ rules: MaskRules) throws -> MaskedSource {
        let masked = MaskedSource(pipeline.pages, TextMask(rules))
        let texts = try ruleTexts(of: pipeline.reader)
        guard !pipeline.isWhole else {
            try collect(pipeline, masked)
            collect(rules: texts, masked)
            masked.mask.endCollecting()
            return masked
        }
        let chosen = ChosenNumbers()
        masked.mask.expectOthers()
        try collect(pipeline.telling(chosen.add), masked)
        for text in texts { masked.mask.expect(text) }
        try OtherExchanges.ofSession.collect(chosen.numbers, pipeline, masked)
        collect(rules: texts, masked)
        masked.mask.endCollecting()
        return masked
    }

    /// Gives a session without the secrets of some exchanges, which `read` reads, and of others.
    package static func source(
        _ reader: SessionReader,
        _ numbers: [Int64],
        _ rules: MaskRules,
        others: OtherExchanges,
        _ read: (MaskedSource) throws -> Void
    ) throws -> MaskedSource {
        let masked = MaskedSource(reader, TextMask(rules))
        masked.mask.expectOthers()
        try read(masked)
        try others.collect(ExchangeNumbers(numbers), ExportPipeline(reader) { try $0(numbers) }, masked)
        collect(rules: try ruleTexts(of: reader), masked)
        masked.mask.endCollecting()
        return masked
    }

    /// The rules that were in force in a session, each text once.
    private static func ruleTexts(of reader: SessionReader) throws -> [String] {
        var known: Set<String> = []
        return try reader.rules().flatMap(\.sources).map(\.text).filter { known.insert($0).inserted }
    }

    /// Reads rules for the secrets that they name: of these count those that stand in what is exported, as in a trace.
    private static func collect(rules texts: [String], _ masked: MaskedSource) {
        guard !texts.isEmpty else { return }
        masked.mask.beginOthers()
        for text in texts { ProfileMask.collect(text, masked) }
    }

    /// Reads exchanges for their secrets, on several threads.
    static func collect(
        _ pipeline: ExportPipeline,
        _ masked: MaskedSource,
        reading read: @escaping @Sendable (SessionPages, inout ArraySlice<Int64>) throws -> [RecordedExchange] = {
            try $0.read(&$1)
        },
        by collect: @escaping @Sendable (MaskedSource, RecordedExchange) throws -> Void = { try $0.collectAll($1) }
    ) throws {
        let copy = masked.mask.copy
        try pipeline.run { pages in
            let mask = TextMask(copy)
            let source = MaskedSource(pages, mask)
            return { (page: ExportPage<TextMask.Findings>) in
                try page.forEach(reading: { try read(pages, &$0) }) { exchange in
                    try collect(source, exchange)
                    if mask.findingCount > mostFindings { try page.give(mask.takeFindings()) }
                }
                try page.give(mask.takeFindings())
            }
        } take: { (findings: TextMask.Findings, _) in
            masked.mask.add(findings)
        }
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
        case replaced(MaskedSource.Replaced)
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
                if let replaced = masked?.takeReplaced() { try page.give(.replaced(replaced)) }
            }
        } take: { (written: Written, isFirst) in
            if isFirst { isBeginning = true }
            switch written {
            case .bytes(let bytes):
                try export.add(bytes, beginsPart: isBeginning)
                isBeginning = false
            case .replaced(let replaced): masked?.add(replaced)
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

    /// What was masked, and where secrets were not looked for, in sentences; `keeping` says how to keep them. `nil` where
    /// there is nothing to say.
    package static func summary(_ masked: MaskedSource, keeping: String) -> String? {
        let places = masked.replacedCount
        var sentences: [String] = []
        if places > 0 {
            let secrets = masked.mask.secretCount
            var text = secrets == 1 ? "1 secret is masked" : "\(secrets.grouped) secrets are masked"
            text += places == 1 ? " in one place" : " in \(places.grouped) places"
            if masked.mask.book.isFull { text += ", and more than these, each only where its name says so" }
            sentences.append("\(text); \(keeping)")
        }
        let unread = masked.mask.unreadCount
        if unread > 0 {
            let others = unread == 1 ? "another exchange" : "\(unread.grouped) other exchanges"
            sentences.append("The bodies of \(others) of the session were not looked through for secrets.")
        }
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    /// How many texts look like secrets and were left, in a sentence without its end; `nil` where there are none.
    package static func suspicion(_ masked: MaskedSource) -> String? {
        let count = masked.mask.suspects.count
        guard count > 0 else { return nil }
        let many = count >= TextMask.mostSuspects ? "\(count) texts or more" : "\(count) texts"
        return count == 1
            ? "1 text looks like a secret and is not masked" : "\(many) look like secrets and are not masked"
    }

    /// The texts that look like secrets and were left, a line each: all that were noted, or the first ten. Empty where there are
    /// none.
    package static func suspicions(_ masked: MaskedSource, all: Bool = false) -> [String] {
        guard let sentence = suspicion(masked) else { return [] }
        let suspects = masked.mask.suspects
        var lines = ["\(sentence); 'mask: { also: [ NAME ] }' in a profile masks by a name:"]
        for suspect in all ? suspects[...] : suspects.prefix(mostNamed) {
            let name = suspect.name.isEmpty ? "" : ", \(VisibleText.of(suspect.name))"
            lines.append("  exchange \(suspect.exchange), \(suspect.part)\(name): \(suspect.beginning)…")
        }
        if !all, suspects.count > mostNamed {
            lines.append("  and \(suspects.count - mostNamed) more; 'export --strict' lists all")
        }
        return lines
    }
}
