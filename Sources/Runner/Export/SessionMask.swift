package import HTTPModel
package import Masking
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

    /// Writes exchanges; `forEach` calls its closure with each, as they were recorded.
    ///
    /// A masked script begins with the variables that its commands need, so its commands are made twice.
    package static func write(
        _ export: inout any ExchangeExport,
        _ masked: MaskedSource?,
        forEach: ((RecordedExchange) throws -> Void) throws -> Void
    ) throws {
        if let masked, let script = export as? any ScriptExport {
            masked.mask.book.isForPrograms = true
            export = try rehearsed(script, masked, forEach: forEach)
        }
        masked?.restartCount()
        try forEach { try export.add(masked?.masked($0) ?? $0) }
        try export.finish()
    }

    private static func rehearsed<Script: ScriptExport>(
        _ script: Script,
        _ masked: MaskedSource,
        forEach: ((RecordedExchange) throws -> Void) throws -> Void
    ) throws -> Script {
        var (script, rehearsal) = (script, script.rehearsal)
        try forEach { try rehearsal.add(masked.masked($0)) }
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
