import ExchangeCore
import Expressions
import HTTPModel
import Rules

/// Reads one rule of a rewrite set, as in `{ modify: header, on: response, name: Server, to: hidden }`.
struct RewriteRuleReader {
    /// What a rule can edit.
    enum Target: String, CaseIterable {
        case header, query, cookie, host, path, url, status, body

        /// The keys that a verb accepts, besides the keys that every rule has.
        func keys(_ verb: Verb) -> Set<String> {
            switch (self, verb) {
            case (_, .set): []
            case (.header, .add), (.query, .add): ["name", "to", "if"]
            case (.header, .modify), (.query, .modify):
                ["name", "name-regex", "match", "whole", "case", "replace", "to", "rename"]
            case (.header, .remove), (.query, .remove), (.cookie, _): ["name", "name-regex", "match", "whole", "case"]
            case (.status, _): ["match", "whole", "case", "to"]
            case (.host, _), (.path, _), (.url, _), (.body, _): ["match", "whole", "case", "replace", "to"]
            }
        }

        var directions: Set<FlowDirection> {
            switch self {
            case .header, .cookie, .body: [.request, .response]
            case .query, .host, .path, .url: [.request]
            case .status: [.response]
            }
        }
    }

    enum Verb: String, CaseIterable {
        case set, add, modify, remove

        var targets: [Target] {
            switch self {
            case .set: []
            case .add: [.header, .query]
            case .modify: Target.allCases.filter { $0 != .cookie }
            case .remove: [.header, .query, .cookie]
            }
        }
        var gerund: String {
            switch self {
            case .set: "setting"
            case .add: "adding"
            case .modify: "modifying"
            case .remove: "removing"
            }
        }
    }

    /// Reads a rule; `nil` if it cannot be used, or is disabled.
    static func rule(_ name: String, _ node: Node, _ reader: inout ProfileReader) -> RewriteRule? {
        guard let fields = reader.fields(node, "a rewrite rule", keys: keys) else { return nil }
        let issues = reader.issues.count
        let isEnabled = reader.flag(fields, "enabled") ?? true
        let verbs = Verb.allCases.filter { fields[$0.rawValue] != nil }
        guard let verb = verbs.first, verbs.count == 1, let node = fields[verb.rawValue] else {
            reader.error("a rewrite rule has one of 'set', 'add', 'modify' and 'remove'", at: fields.node)
            return nil
        }
        if verb == .set || node.string?.contains(".") == true {
            let edit = ValueEdit(verb, node, fields, &reader)
            if reader.issues[issues...].contains(where: { $0.severity == .error }) { return nil }
            guard let edit, isEnabled else { return nil }
            let to = fields["to"].map { " to \($0.flow.clipped(to: 40))" } ?? ""
            let action = verb == .add ? "add\(to.dropFirst(3)) to \(edit.place)" : "\(verb.rawValue) \(edit.place)\(to)"
            return RewriteRule(
                name: name,
                directions: [edit.place.root == .request ? .request : .response],
                edit: .value(edit),
                action: action
            )
        }
        guard let target = reader.choice(node, "'\(verb.rawValue)'", verb.targets.map { ($0.rawValue, $0) }) else {
            return nil
        }
        let rule = RewriteRuleReader(verb: verb, target: target, fields: fields)
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
                ? "; to add only if there is another \(target.rawValue), say if: { name: …, match: … }" : ""
            reader.error("'\(key)' has no effect with '\(verb.rawValue): \(target.rawValue)'\(hint)", at: node)
        }
    }

    private func directions(_ reader: inout ProfileReader) -> Set<FlowDirection> {
        guard let node = fields["on"] else {
            if target.directions.count > 1, target != .cookie {
                reader.error("\(phrase) needs 'on': request, response or both", at: fields.node)
            }
            return target.directions
        }
        var directions: Set<FlowDirection> = []
        for (direction, entry) in reader.directions(node, "'on'") {
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
        reader.lint(RewriteRuleReader.hostLint, at: node)
    }

    static let hostLint = "an HTTP/1.1 request without Host is refused by most servers (RFC 9112 §3.2)"

    // MARK: - Edits

    private func edit(_ reader: inout ProfileReader) -> RewriteRule.Edit? {
        switch target {
        case .header: return pairs(&reader).map { .header($0) }
        case .query: return pairs(&reader).map { .query($0) }
        case .cookie: return .cookie(cookie(&reader))
        case .host, .path, .url: return place(&reader).map { .place($0) }
        case .status: return status(&reader).map { .status($0) }
        case .body:
            let match = match(&reader)
            guard let replacement = replacement(of: match, encoding: false, &reader) else { return nil }
            return .body(BodyEdit(match: match, replacement: replacement, onlyFirst: onlyFirst(&reader)))
        }
    }

    private func match(_ reader: inout ProfileReader) -> TextPattern? {
        let isCaseSensitive = reader.flag(fields, "case") ?? false
        let isWhole = reader.flag(fields, "whole") ?? false
        guard let node = fields["match"], let text = reader.text(node, "match"), !text.isEmpty else { return nil }
        let pattern = reader.pattern(node, text, isCaseSensitive: isCaseSensitive, isWhole: isWhole)
        // `/v1/` looks like a path, but is a regular expression.
        if pattern?.groupCount != nil,
            text.utf8.allSatisfy({ ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 || "/-_".utf8.contains($0) })
        {
            reader.lint("\(text) is a regular expression; the text is written \\\(text)", at: node)
        }
        return pattern
    }

    private func onlyFirst(_ reader: inout ProfileReader) -> Bool {
        fields["replace"].flatMap { reader.choice($0, "replace", [("first", true), ("all", false)]) } ?? false
    }

    /// The value of `to`, which replaces a match; an empty value deletes the match.
    private func replacement(of match: TextPattern?, encoding: Bool, _ reader: inout ProfileReader) -> Replacement? {
        guard let node = reader.required(fields, "to", phrase), var text = reader.literal(node, "to") else {
            return nil
        }
        if encoding {
            text = String(decoding: PercentEncoding.encode(text, keeping: PercentEncoding.urlText), as: UTF8.self)
        }
        return RewriteRuleReader.replacement(text, of: match, at: node, &reader)
    }

    private static func replacement(
        _ text: String,
        of match: TextPattern?,
        at node: Node,
        _ reader: inout ProfileReader
    ) -> Replacement {
        let replacement = Replacement(text, hasGroups: match?.groupCount != nil)
        if let count = match?.groupCount, replacement.highestGroup > count {
            reader.error("there is no group $\(replacement.highestGroup) in the match; it has \(count)", at: node)
        }
        if let match, match.groupCount == nil, namesGroup(text, match) {
            let hint = "a regular expression is written /\(match.text.clipped(to: 40))/"
            reader.lint("'match' is plain text, so $1 is not a group; \(hint)", at: node)
        }
        return replacement
    }

    /// Whether `$1` in the replacement of a plain-text match was probably meant as a group, not as an amount of money.
    private static func namesGroup(_ text: String, _ match: TextPattern) -> Bool {
        let mayBe = Replacement(text, hasGroups: true).hasGroups
        return mayBe && (match.isLikeExpression || text.contains(/\$1(?![0-9.,])/))
    }

    // MARK: - Headers and parameters

    private func pairs(_ reader: inout ProfileReader) -> PairEdit? {
        if verb == .add { return addition(&reader) }
        let pattern = PairPattern(name: name(fields, &reader), value: match(&reader))
        guard verb == .modify else {
            requireNameOrMatch(&reader)
            return PairEdit(action: .remove(pattern))
        }
        if fields["to"] == nil, fields["rename"] == nil {
            reader.error("\(phrase) needs 'to' or 'rename'", at: fields.node)
        }
        let (name, value) = (newName(pattern.name, &reader), newValue(pattern.value, &reader))
        return PairEdit(action: .modify(pattern, name: name, value: value, onlyFirst: onlyFirst(&reader)))
    }

    private func requireNameOrMatch(_ reader: inout ProfileReader) {
        guard fields["name"] == nil, fields["match"] == nil else { return }
        reader.error("\(phrase) needs 'name' or 'match'", at: fields.node)
    }

    private func cookie(_ reader: inout ProfileReader) -> CookieEdit {
        requireNameOrMatch(&reader)
        return CookieEdit(name: cookieName(&reader), value: match(&reader))
    }

    private func cookieName(_ reader: inout ProfileReader) -> CookieEdit.Name {
        guard let node = fields["name"], let text = reader.text(node, "name"), !text.isEmpty else { return .any }
        if reader.flag(fields, "name-regex") ?? false {
            return reader.expression(node, text, isCaseSensitive: true).map { .expression($0) } ?? .any
        }
        if let character = text.first(where: { "=; ,".contains($0) }) {
            reader.error("a cookie's name cannot have '\(character)'; use 'match' for its value", at: node)
        } else if text.hasPrefix("/") {
            let message = "a cookie's name cannot begin with '/'; for a regular expression use name-regex: true"
            reader.error(message, at: node)
        }
        do throws(GlobError) {
            return .glob(try Glob(text))
        } catch {
            reader.error("name: \(error.message)\(error.hint.isEmpty ? "" : "; \(error.hint)")", at: node)
            return .any
        }
    }

    private func addition(_ reader: inout ProfileReader) -> PairEdit? {
        let condition = fields["if"].flatMap { pair($0, &reader) }
        guard let node = reader.required(fields, "name", phrase), let name = reader.text(node, "name"),
            let replacement = replacement(of: condition?.value, encoding: false, &reader)
        else { return nil }
        check(name, "name", at: node, &reader)
        checkValue(&reader)
        if let node = fields["to"], node.isNothing {
            reader.lint("'to' is missing, so the value is empty; to set an empty value write \"\"", at: node)
        }
        return PairEdit(action: .add(name: name, value: replacement, condition: condition))
    }

    /// Reads `if`: the header or parameter that must exist before `add` adds one.
    private func pair(_ node: Node, _ reader: inout ProfileReader) -> PairPattern? {
        guard let fields = reader.fields(node, "'if'", keys: RewriteRuleReader.conditionKeys) else { return nil }
        if fields["name"] == nil, fields["match"] == nil { reader.error("'if' needs 'name' or 'match'", at: node) }
        let inner = RewriteRuleReader(verb: verb, target: target, fields: fields)
        return PairPattern(name: name(fields, &reader), value: inner.match(&reader))
    }

    private func name(_ fields: ProfileFields, _ reader: inout ProfileReader) -> PairPattern.Name {
        guard let node = fields["name"], let text = reader.text(node, "name"), !text.isEmpty else { return .any }
        guard reader.flag(fields, "name-regex") ?? false else {
            check(text, "name", at: node, &reader)
            return .exact(FieldName(text.lowercased()))
        }
        return reader.expression(node, text, isCaseSensitive: false).map { .expression($0) } ?? .any
    }

    private func newName(_ name: PairPattern.Name, _ reader: inout ProfileReader) -> Replacement? {
        guard let node = fields["rename"], let text = reader.text(node, "rename"), !text.isEmpty else { return nil }
        if case .expression(let expression) = name {
            return RewriteRuleReader.replacement(text, of: expression, at: node, &reader)
        }
        check(text, "rename", at: node, &reader)
        return Replacement(text, hasGroups: false)
    }

    /// An empty new value keeps the old value, as in Charles.
    private func newValue(_ match: TextPattern?, _ reader: inout ProfileReader) -> Replacement? {
        guard let node = fields["to"], let text = reader.literal(node, "to") else { return nil }
        guard !text.isEmpty else {
            let hint =
                match == nil
                ? "'remove' takes it out" : "to remove a part, also match the text around it and keep that with $1"
            reader.lint("an empty 'to' keeps the value; \(hint)", at: node)
            return nil
        }
        checkValue(&reader)
        return RewriteRuleReader.replacement(text, of: match, at: node, &reader)
    }

    private func check(_ name: String, _ key: String, at node: Node, _ reader: inout ProfileReader) {
        let fault = target == .header ? FieldSection.fault(ofName: name) : QueryParameters.fault(ofName: name)
        guard let fault else { return }
        let isExpression = key == "name" && verb != .add && name.utf8.first == UInt8(ascii: "/")
        reader.error(fault + (isExpression ? "; for a regular expression use name-regex: true" : ""), at: node)
    }

    private func checkValue(_ reader: inout ProfileReader) {
        guard target == .header, let node = fields["to"], node.scalar?.string.isFieldValue == false else { return }
        reader.error("the value of a header cannot have line breaks or control characters", at: node)
    }

    // MARK: - URL and status

    private func place(_ reader: inout ProfileReader) -> PlaceEdit? {
        guard let part = PlaceEdit.Part(rawValue: target.rawValue), let node = reader.required(fields, "to", phrase)
        else { return nil }
        let match = match(&reader)
        guard let replacement = replacement(of: match, encoding: part != .host, &reader) else { return nil }
        let text = reader.text(node, "to") ?? ""
        if part != .host, text.contains("#") { reader.error("the part after '#' is never sent", at: node) }
        switch part {
        case .path where text.contains("?"):
            reader.error("a path ends before the '?'; for a query there are 'add: query' and 'modify: url'", at: node)
        case .host where match == nil && text.splitHost == nil:
            reader.error("'\(text.clipped(to: 40))' cannot be a host", at: node)
        case .url where match == nil && RequestURL(text) == nil:
            reader.error("'\(text.clipped(to: 60))' is not an http or https URL", at: node)
        case .host, .path, .url: break
        }
        return PlaceEdit(part: part, match: match, replacement: replacement, onlyFirst: onlyFirst(&reader))
    }

    private func status(_ reader: inout ProfileReader) -> StatusEdit? {
        let match = match(&reader)
        guard let replacement = replacement(of: match, encoding: false, &reader), let node = fields["to"] else {
            return nil
        }
        let status = StatusEdit.parse(node.string ?? "")?.status
        if replacement.highestGroup == 0, status == nil {
            reader.error("a status is a number from 200 to 999, as in 404 or \"404 Not Found\"", at: node)
        }
        if status == 205 { reader.lint(ResponseHead.resetContentLint, at: node) }
        return StatusEdit(match: match, replacement: replacement)
    }
}

// MARK: - Grammar

extension RewriteRuleReader {
    static let keys: [GrammarKey] =
        [
            GrammarKey("set", .text)
                .example(whole: "{ set: \"res.json.items[*].plan\", to: pro }")
                .means(
                    "Sets the values at a place: req. or res. with a header, cookie, query, form or JSON value. Of a name "
                        + "one is left, where the first was."
                ),
            key(.add, orPlace: true, example: "{ add: header, on: response, name: X-Sluice, to: seen }")
                .means("Adds one after the others, even if the name exists; in JSON to an array, or a missing member."),
            key(.modify, example: "{ modify: body, on: response, match: \"free\", to: \"pro\" }")
                .means("Changes each match."),
            key(.remove, orPlace: true, example: "{ remove: cookie, name: \"_ga*\" }")
                .means("Removes each match; a cookie is removed from Cookie and with its Set-Cookie."),
            GrammarKey("on", .directions, example: "[request, response]", fallback: "request and response for cookies")
                .means("The messages to edit; only for headers, cookies and bodies."),
            GrammarKey("name", .text, example: "Server", fallback: "any").means(
                "The whole name of the header or parameter, in any case; for 'add' the name of the new one. For a "
                    + "cookie, a case-sensitive wildcard pattern (* and ?)."
            ),
            GrammarKey("name-regex", .flag, fallback: "false")
                .example(whole: "{ remove: header, on: request, name: \"^X-Debug-\", name-regex: true }")
                .means("Whether 'name' is a regular expression, which may match a part of the name."),
        ] + matchKeys + [
            GrammarKey("to", .text, example: "\"plan-$1\"").means(
                "The new value at a place, in JSON with its YAML type. In other edits the replacement of the match, with "
                    + "$1 for its first group, or of the whole value without 'match'; "
                    + "empty keeps the value of a header or parameter, and deletes in a host, path, URL or body."
            ),
            GrammarKey("rename", .text, fallback: "the same name")
                .example(whole: "{ modify: query, name: q, rename: query }")
                .means(
                    "The new name of the header or parameter; with 'name-regex' the replacement of the match in it."
                ),
            GrammarKey("replace", .choice(["first", "all"]), example: "first", fallback: "all")
                .means("Whether only the first match in a value, URL or body is replaced."),
            GrammarKey("if", .mapping(conditionKeys))
                .example(
                    whole: "{ add: header, on: response, name: X-Was, to: $1, if: { name: Server, match: '/(\\w+)/' } }"
                )
                .means("Adds only if another header or parameter matches; 'to' may use the groups of its 'match'."),
            .enabled,
        ]

    private static func key(_ verb: Verb, orPlace: Bool = false, example: String) -> GrammarKey {
        let target = GrammarValue.choice(verb.targets.map(\.rawValue))
        return GrammarKey(verb.rawValue, orPlace ? .either(target, .text) : target).example(whole: example)
    }

    private static let matchKeys: [GrammarKey] = [
        GrammarKey("match", .pattern, example: "'/\"plan\":\"(\\w+)\"/'", fallback: "anything")
            .means("The text or /regular expression/ to find in the value, host, path, URL, status or body."),
        GrammarKey("whole", .flag, example: "true", fallback: "false")
            .means("Whether 'match' must match all of it, not just a part."),
        GrammarKey("case", .flag, example: "true", fallback: "false").means("Whether 'match' is case-sensitive."),
    ]

    private static let conditionKeys: [GrammarKey] =
        [
            GrammarKey("name", .text, example: "Server", fallback: "any")
                .means("The other one's whole name, in any case."),
            GrammarKey("name-regex", .flag, example: "true", fallback: "false")
                .means("Whether 'name' is a regular expression, which may match a part of the name."),
        ] + matchKeys
}
