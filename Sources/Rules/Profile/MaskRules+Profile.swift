import HTTPModel

/// `mask:`, additions and exceptions of masking in exports.
extension MaskRules {
    static let keys: [GrammarKey] = [
        GrammarKey("also", .list(.text), example: "[ x-tenant, \"*pin\" ]", fallback: "none")
            .means(
                "More names of headers, cookies, parameters and fields with secret values; a leading '*' is a wildcard. "
                    + "Masked are texts and numbers, in an array each; of a JSON object its 'value'; true, false and null stay."
            ),
        GrammarKey("except", .list(.text), example: "[ sid, csrf_token ]", fallback: "none")
            .means("Names whose values are not masked; '*' as in 'also'."),
        GrammarKey("patterns", .list(.choice(Pattern.allCases.map(\.rawValue))), fallback: "none")
            .example("[ email, card ]").means("More kinds of values to mask, by their form."),
    ]

    mutating func add(_ node: Node, _ reader: inout ProfileReader) {
        guard let fields = reader.fields(node, "mask", keys: MaskRules.keys) else { return }
        also += names(fields["also"], "also", &reader)
        except += names(fields["except"], "except", &reader)
        for entry in fields["patterns"]?.members ?? [] {
            if let pattern = reader.choice(entry, "patterns", of: Pattern.self) { patterns.insert(pattern) }
        }
    }

    private func names(_ node: Node?, _ key: String, _ reader: inout ProfileReader) -> [String] {
        (node?.members ?? []).compactMap { entry in
            guard let name = reader.text(entry, key) else { return nil }
            if MaskRules.isName(name) { return name }
            let shape = "it needs letters or digits, at most 80 bytes, and '*' only at its beginning"
            reader.error("'\(name.prefix(60))' is not a name: \(shape)", at: entry)
            return nil
        }
    }
}
