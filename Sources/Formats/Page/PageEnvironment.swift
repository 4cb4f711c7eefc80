import Content
import Description
import HTTPModel

/// Facts about the whole session in a page: who recorded and exported it, the rules, and what is masked.
enum PageEnvironment {
    /// The maximum number of sets of rules; a page has the latest sets and counts the earlier ones.
    private static let mostSets = 10
    private static let longestRules = 128 << 10
    private static let mostSecrets = 200

    static func session(_ facts: SessionFacts, isMasked: Bool, into writer: inout JSONWriter) throws {
        writer.member("name", facts.name)
        writer.optionalMember("note", facts.note)
        writer.member("version", facts.version)
        writer.member("system", facts.system)
        writer.member("isMasked", isMasked)
        try writer.pairs("labels", facts.labels.sorted { $0.key < $1.key }.map { ($0.key, $0.value) })
        try writer.objects("runs", facts.runs) { writer, run in
            writer.member("version", run.sluiceVersion)
            writer.member("startedAt", Timestamp.iso8601(run.startedAt))
            writer.optionalMember("endedAt", run.endedAt.map { Timestamp.iso8601($0) })
        }
        let earlier = max(0, facts.rules.count - PageEnvironment.mostSets)
        if earlier > 0 { writer.member("earlierRules", earlier) }
        try writer.objects("rules", facts.rules.suffix(PageEnvironment.mostSets)) { writer, rules in
            writer.member("at", Timestamp.iso8601(rules.at))
            try writer.strings("off", rules.switchedOff)
            try writer.objects("files", rules.sources) { writer, source in
                // Only the file's name, because its path may name the user.
                writer.member("name", source.file.split(separator: "/").last.map { String($0) } ?? source.file)
                if source.isUnsaved { writer.member("unsaved", true) }
                let beginning = String(decoding: source.text.utf8.prefix(PageEnvironment.longestRules), as: UTF8.self)
                if source.text.utf8.count > PageEnvironment.longestRules { writer.member("cut", true) }
                writer.member("text", beginning)
            }
        }
    }

    /// Writes what the page's filter needs from the filter language: its keys, and the conditions of `is:`.
    static func language(into writer: inout JSONWriter) throws {
        try writer.strings("keys", Filter.reference.map(\.name))
        try writer.object("facts") { writer in
            for property in FilterProperty.all {
                try writer.strings(property.name, property.condition.words)
            }
        }
    }

    /// Writes the placeholders of secrets, and where each secret was found first.
    static func masked(_ source: any ExchangeSource, into writer: inout JSONWriter) throws {
        guard let summary = source.maskSummary(most: mostSecrets) else { return }
        writer.member("secrets", summary.secretCount)
        writer.member("places", source.replacedCount)
        writer.member("suspects", summary.suspectCount)
        try writer.objects("placeholders", summary.entries) { writer, entry in
            writer.member("text", entry.placeholder)
            writer.member("name", entry.name)
            writer.member("host", entry.host)
        }
    }
}

extension FilterProperty.Condition {
    fileprivate var words: [String] {
        switch self {
        case .flags(let flags): ["flags"] + flags.exportNames
        case .state(let state): ["state", state.exportName]
        case .kinds(let kinds): ["kind"] + kinds.map(\.exportName)
        case .failure(let code): ["failure", code.rawValue]
        case .commented: ["commented"]
        case .imported: ["imported"]
        case .failed: ["failed"]
        case .error: ["error"]
        case .grpc: ["grpc"]
        }
    }
}
