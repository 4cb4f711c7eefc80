import ExchangeCore
import HTTPModel
import Rules

/// Reads one rule of a rewrite set, as in `{ modify: header, on: response, name: Server, to: hidden }`.
struct RewriteRuleReader {
    /// What a rule can edit, with the verbs and keys that it takes.
    enum Target: String, CaseIterable {
        case header, query, cookie, host, path, url, status, body

        /// The key that a verb takes, beside those of every rule.
        func keys(_ verb: Verb) -> Set<String> {
            switch (self, verb) {
            case (.header, .add), (.query, .add): ["name", "to", "if"]
            case (.header, .modify), (.query, .modify):
                ["name", "name-regex", "match", "whole", "case", "replace", "to", "rename"]
            case (.header, .remove), (.query, .remove), (.cookie, _): ["name", "name-regex", "match", "whole", "case"]
            case (.status, _): ["match", "whole", "case", "to"]
            case (.host, _), (.path, _), (.url, _), (.body, _): ["match", "whole", "case", "replace", "to"]
            }
        }

        /// The messages that it is a part of.
        var directions: Set<FlowDirection> {
            switch self {
            case .header, .cookie, .body: [.request, .response]
            case .query, .host, .path, .url: [.request]
            case .status: [.response]
            }
        }
    }

    /// What is done to it.
    enum Verb: String, CaseIterable {
        case add, modify, remove

        var targets: [Target] {
            switch self {
            case .add: [.header, .query]
            case .modify: Target.allCases.filter { $0 != .cookie }
            case .remove: [.header, .query, .cookie]
            }
        }
        var gerund: String { self == .add ? "adding" : self == .modify ? "modifying" : "removing" }
    }

    /// Reads a rule; what is wrong goes to the reader.
    ///
    /// - Returns: the rule; `nil` where it cannot be used, or is not enabled.
    static func rule(_ name: String, _ node: Node, _ reader: inout ProfileReader) -> RewriteRule? {
        guard let fields = reader.fields(node, "a rewrite rule", keys: keys) else { return nil }
        let issues = reader.issues.count
        let isEnabled = fields["enabled"].flatMap { reader.flag($0, "enabled") } ?? true
        let verbs = Verb.allCases.filter { fields[$0.rawValue] != nil }
        guard let verb = verbs.first, verbs.count == 1, let node = fields[verb.rawValue] else {
            reader.error("a rewrite rule has one of 'add', 'modify' and 'remove'", at: fields.node)
            return nil
        }
        guard let target = reader.choice(node, "'\(verb.rawValue)'", verb.targets.map { ($0.rawValue, $0) }) else {
            return nil
        }
        var rule = RewriteRuleReader(verb: verb, target: target, fields: fields)
        rule.refuseOthers(&reader)
        let directions = rule.directions(&reader)
        let edit = rule.edit(&reader)
        rule.lintHost(directions, &reader)
        if reader.issues[issues...].contains(where: { $0.severity == .error }) { return nil }
        guard let edit, isEnabled else { return nil }
        return RewriteRule(name: name, directions: directions, edit: edit, action: rule.action)
    }

    let verb: Verb
    let target: Target
    let fields: ProfileFields
    private var phrase: String { "\(verb.gerund) a \(target.rawValue)" }

    private init(verb: Verb, target: Target, fields: ProfileFields) {
        self.verb = verb
        self.target = target
        self.fields = fields
    }

    /// What the rule does, in words.
    private var action: String {
        let words = ["name", "match"].compactMap { fields[$0]?.scalar?.string }.filter { !$0.isEmpty }
        let to = (fields["to"] ?? fields["rename"])?.scalar?.string ?? ""
        let arrow = verb == .remove ? "" : to.isEmpty ? " to nothing" : " to \(to.clipped(to: 40))"
        return ([verb.rawValue, target.rawValue] + words.map { $0.clipped(to: 40) }).joined(separator: " ") + arrow
    }

    private func refuseOthers(_ reader: inout ProfileReader) {
        let taken = target.keys(verb).union(["on", "enabled", verb.rawValue])
        for key in RewriteRuleReader.keys.map(\.name) where !taken.contains(key) {
            guard let node = fields[key] else { continue }
            let hint =
                verb == .add && ["match", "name-regex"].contains(key)
                ? "; to add only where there is another \(target.rawValue), say if: { name: …, match: … }" : ""
            reader.error("'\(key)' means nothing with '\(verb.rawValue): \(target.rawValue)'\(hint)", at: node)
        }
    }

    private func directions(_ reader: inout ProfileReader) -> Set<FlowDirection> {
        let choices: [(String, FlowDirection)] = [("request", .request), ("response", .response)]
        guard let node = fields["on"] else {
            if target.directions.count > 1, target != .cookie {
                reader.error("\(phrase) needs 'on': request, response or both", at: fields.node)
            }
            return target.directions
        }
        var directions: Set<FlowDirection> = []
        for entry in reader.list(node) {
            guard let direction = reader.choice(entry, "'on'", choices) else { continue }
            if !target.directions.contains(direction) {
                reader.error("a \(direction) has no \(target.rawValue) to edit; leave 'on' out", at: entry)
            }
            directions.insert(direction)
        }
        if directions.isEmpty, node.sequence?.isEmpty == true {
            reader.error("'on' is empty, so the rule would never act: request, response or both", at: node)
        }
        return directions
    }

    private func lintHost(_ directions: Set<FlowDirection>, _ reader: inout ProfileReader) {
        guard verb == .remove, target == .header, directions.contains(.request), let node = fields["name"],
            node.scalar?.string.lowercased() == "host"
        else { return }
        reader.lint("an HTTP/1.1 request without Host is refused by most servers (RFC 9112 §3.2)", at: node)
    }

    // MARK: - Edits

    private mutating func edit(_ reader: inout ProfileReader) -> RewriteRule.Edit? {
        switch target {
        case .header: return pairs(&reader).map { .header($0) }
        case .query: return pairs(&reader).map { .query($0) }
        case .cookie: return .cookie(cookie(&reader))
        case .host, .path, .url: return place(&reader).map { .place($0) }
        case .status: return status(&reader).map { .status($0) }
        case .body:
            let match = pattern("match", &reader)
            guard let replacement = replacement("to", of: match, &reader) else { return nil }
            return .body(BodyEdit(match: match, replacement: replacement, onlyFirst: onlyFirst(&reader)))
        }
    }

    private func pattern(_ key: String, _ reader: inout ProfileReader) -> TextPattern? {
        let isCaseSensitive = fields["case"].flatMap { reader.flag($0, "case") } ?? false
        let isWhole = fields["whole"].flatMap { reader.flag($0, "whole") } ?? false
        let pattern = reader.pattern(fields, key, isCaseSensitive: isCaseSensitive, isWhole: isWhole)
        lintSlashes(pattern, &reader)
        return pattern
    }

    private func onlyFirst(_ reader: inout ProfileReader) -> Bool {
        fields["replace"].flatMap { reader.choice($0, "replace", [("first", true), ("all", false)]) } ?? false
    }

    /// What takes the place of a match; blank deletes it.
    private func replacement(
        _ key: String,
        of match: TextPattern?,
        encoding: Bool = false,
        _ reader: inout ProfileReader
    ) -> Replacement? {
        guard let node = reader.required(fields, key, phrase), let text = reader.text(node, key) else { return nil }
        return RewriteRuleReader.replacement(text, of: match, at: node, encoding: encoding, &reader)
    }

    private static func replacement(
        _ text: String,
        of match: TextPattern?,
        at node: Node,
        encoding: Bool = false,
        _ reader: inout ProfileReader
    ) -> Replacement {
        var text = text
        if encoding {
            text = String(decoding: PercentEncoding.encode(text, keeping: PercentEncoding.urlText), as: UTF8.self)
        }
        let replacement = Replacement(text, hasGroups: match?.groupCount != nil)
        if let count = match?.groupCount, replacement.highestGroup > count {
            reader.error("there is no group $\(replacement.highestGroup) in the match; it has \(count)", at: node)
        }
        return replacement
    }

    // MARK: - Headers and parameters

    private func pairs(_ reader: inout ProfileReader) -> PairEdit? {
        if verb == .add { return addition(&reader) }
        let pattern = PairPattern(name: name(fields, &reader), value: pattern("match", &reader))
        guard verb == .modify else {
            requireNameOrMatch(&reader)
            return PairEdit(action: .remove(pattern))
        }
        if fields["to"] == nil, fields["rename"] == nil {
            reader.error("\(phrase) needs 'to' or 'rename'", at: fields.node)
        }
        return PairEdit(
            action: .modify(
                pattern,
                name: newName(pattern.name, &reader),
                value: newValue(pattern.value, &reader),
                onlyFirst: onlyFirst(&reader)
            )
        )
    }

    private func requireNameOrMatch(_ reader: inout ProfileReader) {
        guard fields["name"] == nil, fields["match"] == nil else { return }
        reader.error("\(phrase) needs 'name' or 'match'", at: fields.node)
    }

    private func cookie(_ reader: inout ProfileReader) -> CookieEdit {
        requireNameOrMatch(&reader)
        return CookieEdit(name: cookieName(&reader), value: pattern("match", &reader))
    }

    private func cookieName(_ reader: inout ProfileReader) -> CookieEdit.Name {
        guard let node = fields["name"], let text = reader.text(node, "name"), !text.isEmpty else { return .any }
        if fields["name-regex"].flatMap({ reader.flag($0, "name-regex") }) ?? false {
            return expression(text, isCaseSensitive: true, at: node, &reader).map { .expression($0) } ?? .any
        }
        if let character = text.first(where: { "=; ,".contains($0) }) {
            reader.error("a cookie's name has no '\(character)'; its value is looked for with 'match'", at: node)
        } else if text.utf8.first == UInt8(ascii: "/") {
            reader.error(
                "a cookie's name does not begin with '/'; for a regular expression say name-regex: true",
                at: node
            )
        }
        do throws(GlobError) {
            return .glob(try Glob(text))
        } catch {
            reader.error("name: \(error.message)\(error.hint.isEmpty ? "" : "; \(error.hint)")", at: node)
            return .any
        }
    }

    /// A regular expression that is written without slashes.
    private func expression(
        _ text: String,
        isCaseSensitive: Bool,
        at node: Node,
        _ reader: inout ProfileReader
    ) -> TextPattern? {
        do throws(RegularExpression.SyntaxError) {
            return try TextPattern(expression: text, isCaseSensitive: isCaseSensitive, isWhole: false)
        } catch {
            let characters = String(decoding: Array(text.utf8).prefix(error.offset), as: UTF8.self).count
            reader.error("bad regular expression: \(error.message)", at: node, offset: characters + node.quoteWidth)
            return nil
        }
    }

    private func addition(_ reader: inout ProfileReader) -> PairEdit? {
        let condition = fields["if"].flatMap { pair($0, &reader) }
        guard let node = reader.required(fields, "name", phrase), let name = reader.text(node, "name"),
            let replacement = replacement("to", of: condition?.value, &reader)
        else { return nil }
        check(name, "name", at: node, &reader)
        checkValue(&reader)
        if let node = fields["to"], let scalar = node.scalar, scalar.style == .plain,
            ["", "~", "null"].contains(scalar.string)
        {
            reader.lint("'to' says nothing, so the value is empty; where that is meant, write \"\"", at: node)
        }
        return PairEdit(action: .add(name: name, value: replacement, condition: condition))
    }

    /// Which pair there must be for another to be added.
    private func pair(_ node: Node, _ reader: inout ProfileReader) -> PairPattern? {
        guard let fields = reader.fields(node, "'if'", keys: RewriteRuleReader.conditionKeys) else { return nil }
        if fields["name"] == nil, fields["match"] == nil { reader.error("'if' needs 'name' or 'match'", at: node) }
        let inner = RewriteRuleReader(verb: verb, target: target, fields: fields)
        return PairPattern(name: name(fields, &reader), value: inner.pattern("match", &reader))
    }

    private func name(_ fields: ProfileFields, _ reader: inout ProfileReader) -> PairPattern.Name {
        guard let node = fields["name"], let text = reader.text(node, "name"), !text.isEmpty else { return .any }
        let isExpression = fields["name-regex"].flatMap { reader.flag($0, "name-regex") } ?? false
        guard isExpression else {
            check(text, "name", at: node, &reader)
            return .exact(FieldName(text.lowercased()))
        }
        return expression(text, isCaseSensitive: false, at: node, &reader).map { .expression($0) } ?? .any
    }

    private func newName(_ name: PairPattern.Name, _ reader: inout ProfileReader) -> Replacement? {
        guard let node = fields["rename"], let text = reader.text(node, "rename"), !text.isEmpty else { return nil }
        if case .expression(let expression) = name {
            return RewriteRuleReader.replacement(text, of: expression, at: node, &reader)
        }
        check(text, "rename", at: node, &reader)
        return Replacement(text, hasGroups: false)
    }

    /// A blank new value keeps the old one, as in Charles.
    private func newValue(_ match: TextPattern?, _ reader: inout ProfileReader) -> Replacement? {
        guard let node = fields["to"], let text = reader.text(node, "to") else { return nil }
        guard !text.isEmpty else {
            let hint =
                match == nil
                ? "'remove' takes it out" : "to cut a part out, match what stands around it too and keep that with $1"
            reader.lint("a blank 'to' keeps the value; \(hint)", at: node)
            return nil
        }
        checkValue(&reader)
        return RewriteRuleReader.replacement(text, of: match, at: node, &reader)
    }

    private func check(_ name: String, _ key: String, at node: Node, _ reader: inout ProfileReader) {
        let fault = target == .header ? FieldSection.fault(ofName: name) : QueryParameters.fault(ofName: name)
        guard let fault else { return }
        let isExpression = key == "name" && verb != .add && name.utf8.first == UInt8(ascii: "/")
        reader.error(fault + (isExpression ? "; for a regular expression say name-regex: true" : ""), at: node)
    }

    /// No field value has a line break or another control character in it (RFC 9110 §5.5).
    private func checkValue(_ reader: inout ProfileReader) {
        guard target == .header, let node = fields["to"], let text = node.scalar?.string,
            text.utf8.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F })
        else { return }
        reader.error("the value of a header cannot have line breaks or control characters", at: node)
    }

    // MARK: - Places and status

    private func place(_ reader: inout ProfileReader) -> PlaceEdit? {
        guard let part = PlaceEdit.Part(rawValue: target.rawValue), let node = fields["to"] else {
            _ = reader.required(fields, "to", phrase)
            return nil
        }
        let match = pattern("match", &reader)
        guard let replacement = replacement("to", of: match, encoding: part != .host, &reader) else { return nil }
        let text = reader.text(node, "to") ?? ""
        if part != .host, text.contains("#") { reader.error("what follows a '#' is never sent", at: node) }
        switch part {
        case .path where text.contains("?"):
            reader.error("a path ends before the '?'; for a query there are 'add: query' and 'modify: url'", at: node)
        case .host where match == nil && PlaceEdit.splitHost(text) == nil:
            reader.error("'\(text.clipped(to: 40))' cannot be a host", at: node)
        case .url where match == nil && RequestURL(text) == nil:
            reader.error("'\(text.clipped(to: 60))' is no http or https URL", at: node)
        case .host, .path, .url: break
        }
        return PlaceEdit(part: part, match: match, replacement: replacement, onlyFirst: onlyFirst(&reader))
    }

    /// `/v1/` looks like a path, but is a regular expression.
    private func lintSlashes(_ match: TextPattern?, _ reader: inout ProfileReader) {
        guard let match, match.groupCount != nil, let node = fields["match"] else { return }
        let inner = match.text.dropFirst().dropLast()
        let isPath = inner.utf8.allSatisfy { ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 || "/-_".utf8.contains($0) }
        if isPath {
            reader.lint("\(match.text) is a regular expression; the text is written \\\(match.text)", at: node)
        }
    }

    private func status(_ reader: inout ProfileReader) -> StatusEdit? {
        let match = pattern("match", &reader)
        guard let replacement = replacement("to", of: match, &reader), let node = fields["to"] else { return nil }
        if replacement.highestGroup == 0, StatusEdit.parse(reader.text(node, "to") ?? "") == nil {
            reader.error("a status is a number from 200 to 999, as in 404 or \"404 Not Found\"", at: node)
        }
        if StatusEdit.parse(reader.text(node, "to") ?? "")?.status == 205 {
            reader.lint(ResponseHead.resetContentLint, at: node)
        }
        return StatusEdit(match: match, replacement: replacement)
    }
}

// MARK: - Grammar

extension RewriteRuleReader {
    /// What a rule may say.
    static let keys: [GrammarKey] =
        [
            key(
                .add,
                "Adds one after the others, whether or not there is one of that name.",
                example: "{ add: header, on: response, name: X-Sluice, to: seen }"
            ),
            key(
                .modify,
                "Changes what matches, each one.",
                example: "{ modify: body, on: response, match: \"free\", to: \"pro\" }"
            ),
            key(
                .remove,
                "Removes what matches, each one; a cookie out of Cookie, whose other cookies stay, and with its Set-Cookie.",
                example: "{ remove: cookie, name: \"_ga*\" }"
            ),
            GrammarKey(
                "on",
                .list(.choice(["request", "response"])),
                "The messages that are edited; only for headers, cookies and bodies, as the others have one place.",
                example: "on: [request, response]",
                fallback: "request and response for cookies"
            ),
            GrammarKey(
                "name",
                .text,
                "The name of the header or parameter, whole and in any case; for 'add' the name of the new one. That of a "
                    + "cookie is a wildcard pattern (* and ?) in which the case of letters counts.",
                example: "name: Server",
                fallback: "any"
            ),
            GrammarKey(
                "name-regex",
                .flag,
                "Whether 'name' is a regular expression, which may match a part of the name.",
                example: "{ remove: header, on: request, name: \"^X-Debug-\", name-regex: true }",
                fallback: "false"
            ),
        ] + matchKeys + [
            GrammarKey(
                "to",
                .text,
                "What takes the place of the match, with $1 for its first group, or of all where there is no 'match'; "
                    + "blank keeps the value of a header or parameter, and deletes in a host, path, URL or body.",
                example: "to: \"plan-$1\""
            ),
            GrammarKey(
                "rename",
                .text,
                "The new name of the header or parameter; with 'name-regex' what takes the place of the match in it.",
                example: "{ modify: query, name: q, rename: query }",
                fallback: "the same name"
            ),
            GrammarKey(
                "replace",
                .choice(["first", "all"]),
                "Whether only the first match in a value, URL or body is replaced.",
                example: "replace: first",
                fallback: "all"
            ),
            GrammarKey(
                "if",
                .mapping(conditionKeys),
                "Adds only where another header or parameter matches; 'to' may have the groups of its 'match'.",
                example: "{ add: header, on: response, name: X-Was, to: $1, if: { name: Server, match: '/(\\w+)/' } }"
            ),
            GrammarKey("enabled", .flag, "Whether the rule is in force.", example: "enabled: false", fallback: "true"),
        ]

    private static func key(_ verb: Verb, _ summary: String, example: String) -> GrammarKey {
        GrammarKey(verb.rawValue, .choice(verb.targets.map(\.rawValue)), summary, example: example)
    }

    private static let matchKeys: [GrammarKey] = [
        GrammarKey(
            "match",
            .pattern,
            "What is looked for in the value, host, path, URL, status or body: a text, or /a regular expression/.",
            example: "match: '/\"plan\":\"(\\w+)\"/'",
            fallback: "anything"
        ),
        GrammarKey(
            "whole",
            .flag,
            "Whether 'match' must match all of it, not just a part.",
            example: "whole: true",
            fallback: "false"
        ),
        GrammarKey(
            "case",
            .flag,
            "Whether the case of letters counts in 'match'.",
            example: "case: true",
            fallback: "false"
        ),
    ]

    private static let conditionKeys: [GrammarKey] =
        [
            GrammarKey(
                "name",
                .text,
                "The other one's name, whole and in any case.",
                example: "name: Server",
                fallback: "any"
            ),
            GrammarKey(
                "name-regex",
                .flag,
                "Whether 'name' is a regular expression, which may match a part of the name.",
                example: "name-regex: true",
                fallback: "false"
            ),
        ] + matchKeys
}
