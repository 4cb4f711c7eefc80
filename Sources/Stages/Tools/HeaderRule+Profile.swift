import ExchangeCore
import HTTPModel
import Yams

extension HeaderRule {
    /// Reads one rule: `{ add: header, on: response, name: X, to: value }`.
    init?(_ fields: ProfileFields, _ verb: String, _ reader: inout ProfileReader) {
        let issuesBefore = reader.issues.count
        let isAdding = verb == "add"
        directions = HeaderRule.directions(fields, &reader)
        let name = fields["name"].flatMap { HeaderRule.fieldName($0, "name", &reader) }
        let isCaseSensitive = fields["case"].flatMap { reader.flag($0, "case") } ?? false
        let isWhole = fields["whole"].flatMap { reader.flag($0, "whole") } ?? false
        let match = fields["match"].flatMap {
            HeaderRule.pattern($0, isCaseSensitive: isCaseSensitive, isWhole: isWhole, &reader)
        }
        onlyFirst =
            fields["replace"].flatMap { reader.choice($0, "replace", [("first", true), ("all", false)]) } ?? false
        self.match = match
        self.name = isAdding ? nil : name.map { FieldName($0) }
        let to = fields["to"].flatMap { HeaderRule.fieldValue($0, &reader) }
        HeaderRule.refuse(isAdding ? ["match", "case", "whole", "replace", "rename"] : [], fields, verb, &reader)
        HeaderRule.refuse(verb == "remove" ? ["to", "replace", "rename"] : [], fields, verb, &reader)
        switch verb {
        case "add":
            _ = reader.required(fields, "name", "adding a header")
            _ = reader.required(fields, "to", "adding a header")
            action = .add(name: name ?? "", value: to ?? "")
        case "modify":
            let rename = fields["rename"].flatMap { HeaderRule.fieldName($0, "rename", &reader) }
            if fields["to"] == nil, fields["rename"] == nil {
                reader.error("modifying a header needs 'to' or 'rename'", at: fields.node)
            }
            let replacement = to.map { Replacement($0, hasGroups: match?.groupCount != nil) }
            if let replacement, let count = match?.groupCount, replacement.highestGroup > count, let node = fields["to"]
            {
                reader.error("there is no group $\(replacement.highestGroup) in the match; it has \(count)", at: node)
            }
            // A blank new value keeps the old one, as in Charles, unless it replaces a match.
            let isBlank = to?.isEmpty == true && match == nil
            if isBlank, let node = fields["to"] {
                reader.lint("a blank 'to' without 'match' keeps the value; to blank the field, remove it", at: node)
            }
            action = .modify(name: rename, value: isBlank ? nil : replacement)
        default:
            if fields["name"] == nil, fields["match"] == nil {
                reader.error("removing headers needs 'name' or 'match'", at: fields.node)
            }
            action = .remove
        }
        if reader.issues[issuesBefore...].contains(where: { $0.severity == .error }) { return nil }
    }

    private static func directions(_ fields: ProfileFields, _ reader: inout ProfileReader) -> Set<FlowDirection> {
        guard let node = reader.required(fields, "on", "a header rule") else { return [] }
        let choices: [(String, FlowDirection)] = [("request", .request), ("response", .response)]
        let directions = reader.list(node).compactMap { reader.choice($0, "on", choices) }
        if directions.isEmpty, node.sequence?.isEmpty == true {
            reader.lint("'on' is empty: the rule never fires", at: node)
        }
        return Set(directions)
    }

    /// A field name must be a token (RFC 9110 §5.1), and not one of those that frame messages.
    private static func fieldName(_ node: Node, _ what: String, _ reader: inout ProfileReader) -> String? {
        guard let text = reader.text(node, what), !text.isEmpty else { return nil }
        let isToken = text.utf8.allSatisfy { byte in
            (byte | 0x20) &- 0x61 < 26 || byte &- 0x30 < 10 || "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
        if !isToken {
            reader.error("'\(text.prefix(40))' cannot be the name of a header", at: node)
            return nil
        }
        if framing.contains(FieldName(text)) {
            reader.error("\(text) frames the message, which Sluice itself does; it cannot be rewritten", at: node)
            return nil
        }
        return text
    }

    /// No field value has a line break or another control character in it (RFC 9110 §5.5).
    private static func fieldValue(_ node: Node, _ reader: inout ProfileReader) -> String? {
        guard let text = reader.text(node, "to") else { return nil }
        if text.utf8.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }) {
            reader.error("the value of a header cannot have line breaks or control characters", at: node)
            return nil
        }
        return text
    }

    private static func pattern(
        _ node: Node,
        isCaseSensitive: Bool,
        isWhole: Bool,
        _ reader: inout ProfileReader
    ) -> TextPattern? {
        guard let text = reader.text(node, "match"), !text.isEmpty else { return nil }
        do {
            return try TextPattern(text, isCaseSensitive: isCaseSensitive, isWhole: isWhole)
        } catch {
            let isQuoted = node.scalar?.style == .singleQuoted || node.scalar?.style == .doubleQuoted
            let characters = String(decoding: Array(text.utf8).prefix(error.offset), as: UTF8.self).count
            reader.error("bad regular expression: \(error.message)", at: node, offset: characters + (isQuoted ? 1 : 0))
            return nil
        }
    }

    private static func refuse(
        _ keys: [String],
        _ fields: ProfileFields,
        _ verb: String,
        _ reader: inout ProfileReader
    ) {
        for key in keys {
            if let node = fields[key] { reader.error("'\(key)' means nothing with '\(verb): header'", at: node) }
        }
    }
}
