package import Formats
package import HTTPModel
package import Masking
import NIOCore
package import Recording
import Rules
import Text
import Tools

package enum SessionMask {
    private static let mostNamed = 10

    /// The mask rules of the profiles, or of the session's last ones. Throws `ProfileError` if a profile is invalid.
    package static func rules(of reader: SessionReader, profiles: [String] = []) throws -> MaskRules {
        guard profiles.isEmpty else { return try RuleProfile.load(paths: profiles, takesPipes: true).mask }
        return try self.rules(in: reader.rules(at: .max)?.sources ?? [])
    }

    package static func rules(in sources: [ProfileSource]) throws -> MaskRules {
        try RuleProfile.mask(in: sources, tools: .standard)
    }

    /// Searches all exchanges of an export for secrets; returns the session with these secrets masked.
    package static func source(_ pipeline: ExportPipeline, _ rules: MaskRules) throws -> MaskedSource {
        let masked = MaskedSource(pipeline.pages, TextMask(rules))
        try collect(pipeline, masked)
        return try collected(masked, pipeline.reader)
    }

    /// Returns the session with the secrets masked that are in the exchanges which `read` reads.
    package static func source(
        _ reader: SessionReader,
        _ rules: MaskRules,
        _ read: (MaskedSource) throws -> Void
    ) throws -> MaskedSource {
        let masked = MaskedSource(reader, TextMask(rules))
        try read(masked)
        return try collected(masked, reader)
    }

    /// Ends the search for secrets with the session's rules, because a trace may contain a secret from a rule.
    private static func collected(_ masked: MaskedSource, _ reader: SessionReader) throws -> MaskedSource {
        masked.mask.beginRules()
        var known: Set<String> = []
        for text in try reader.rules().flatMap(\.sources).map(\.text) where known.insert(text).inserted {
            ProfileMask.collect(text, masked)
        }
        masked.mask.endCollecting()
        return masked
    }

    /// Searches exchanges for secrets, on several threads.
    static func collect(_ pipeline: ExportPipeline, _ masked: MaskedSource) throws {
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
    }

    /// Findings that a thread collects before it hands them over.
    private static let mostFindings = 1_024

    /// Writes all exchanges of an export; returns their number.
    @discardableResult
    package static func write(
        _ export: inout any ExchangeExport,
        _ masked: MaskedSource?,
        _ pipeline: ExportPipeline
    ) throws -> Int {
        if let script = export as? any ScriptExport, script.isForShell { masked?.marksSecrets = true }
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

    private enum Written: Sendable {
        case bytes(ByteBuffer)
        case replaced(places: Int)
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
                if let count = masked?.takeReplacedCount(), count > 0 { try page.give(.replaced(places: count)) }
            }
        } take: { (written: Written, isFirst) in
            if isFirst { isBeginning = true }
            switch written {
            case .bytes(let bytes):
                try export.add(bytes, beginsPart: isBeginning)
                isBeginning = false
            case .replaced(let places): masked?.add(replaced: places)
            }
        }
    }

    /// Sentences about masked secrets, and bodies not searched for secrets; `keeping` says how to keep the secrets.
    package static func summary(_ masked: MaskedSource, keeping: String) -> String? {
        let places = masked.replacedCount
        var sentences: [String] = []
        if places > 0 {
            let secrets = max(1, masked.mask.secretCount)
            var text = secrets == 1 ? "1 secret is masked" : "\(secrets.grouped) secrets are masked"
            text += places == 1 ? " in one place" : " in \(places.grouped) places"
            if masked.mask.book.isFull { text += ", and more than these, each only where its name says so" }
            sentences.append("\(text); \(keeping)")
        }
        let unread = masked.mask.unreadCount
        if unread > 0 {
            let bodies = unread == 1 ? "1 compressed body was" : "\(unread.grouped) compressed bodies were"
            sentences.append("\(bodies) not searched for secrets.")
        }
        return sentences.isEmpty ? nil : sentences.joined(separator: " ")
    }

    /// A sentence (without its full stop) about texts that look like secrets but are not masked.
    package static func suspicion(_ masked: MaskedSource) -> String? {
        let count = masked.mask.suspects.count
        guard count > 0 else { return nil }
        let many = count >= TextMask.mostSuspects ? "\(count) texts or more" : "\(count) texts"
        return count == 1
            ? "1 text looks like a secret and is not masked" : "\(many) look like secrets and are not masked"
    }

    /// The texts that look like secrets but are not masked, a line each: all noted texts, or the first ten.
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
