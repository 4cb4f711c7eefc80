import Content
import HTTPModel
import Rules
import Text

/// An edit of the values at a place: `{ set: res.json.plan, to: pro }`.
struct ValueEdit: Sendable {
    private enum Action: Sendable {
        case set(Value)
        case add(Value)
        case remove
    }

    private enum Value: Sendable {
        case text(ValueTemplate)
        case json(JSONTemplate)

        func filled(_ context: ValueContext) throws(ValueError) -> FilledText {
            switch self {
            case .text(let template): try template.filled(context)
            case .json(let template): try template.filled(context)
            }
        }
    }

    private let action: Action
    let place: Place

    private static let bodyParts: Set<Place.Part> = [.json, .form]

    var isInBody: Bool { ValueEdit.bodyParts.contains(place.part) }

    /// Whether the edit may give a request credentials that the client did not send.
    var addsCredentials: Bool {
        if case .remove = action { return false }
        let isHeader = place.part == .header && PairEdit.credentials.contains(FieldName(place.name ?? ""))
        return place.root == .request && (isHeader || place.part == .cookie)
    }

    /// Edits the part of a message that the writer has; returns the change for the trace, `nil` if nothing changed. A
    /// name that a head or a query does not have is no error if it is to be removed. Throws ``UnusableEditError``.
    func apply(to writer: inout PlaceWriter, _ context: ValueContext) throws(UnusableEditError) -> String? {
        do {
            let changed: Int
            let text: String
            switch action {
            case .set(let value):
                let filled = try self.filled(value, context)
                changed = try writer.apply(.set(filled.text), at: place)
                text = "set \(place) to \(filled.shown.isEmpty ? "nothing" : filled.shown.clipped())"
            case .add(let value):
                let filled = try self.filled(value, context)
                changed = try writer.apply(.add(filled.text), at: place)
                text = "added \(filled.shown.clipped()) to \(place)"
            case .remove:
                changed = try writer.apply(.remove, at: place)
                text = "removed \(place)"
            }
            return changed == 0 ? nil : text + (changed > 1 ? ", \(changed.grouped) values" : "")
        } catch let error as PlaceWriteError {
            if case .remove = action, place.part != .json { return nil }
            throw UnusableEditError(reason: error.description)
        } catch {
            throw UnusableEditError(reason: (error as? UnusableEditError)?.reason ?? "\(error)")
        }
    }

    private func filled(_ value: Value, _ context: ValueContext) throws -> FilledText {
        let filled = try value.filled(context)
        if place.part == .header || place.part == .cookie, !filled.text.isFieldValue {
            throw UnusableEditError(reason: "the value for \(place) has a line break or a control character")
        }
        return filled
    }

    /// Why the edit changed nothing.
    var absence: String {
        if case .remove = action { "there is no \(place)" } else { "\(place): already has this value" }
    }
}

// MARK: - Reading

extension ValueEdit {
    /// Reads the edit of a rule whose verb is `set`, or has a place.
    init?(_ verb: RewriteRuleReader.Verb, _ node: Node, _ fields: ProfileFields, _ reader: inout ProfileReader) {
        guard let text = reader.text(node, "'\(verb.rawValue)'") else { return nil }
        do throws(PlaceError) {
            place = try Place(text)
        } catch {
            reader.error("\(verb.rawValue): \(error)", at: node, offset: error.offset + node.quoteWidth)
            return nil
        }
        if let problem = ValueEdit.problem(place, verb) { reader.error(problem, at: node, offset: node.quoteWidth) }
        for key in RewriteRuleReader.keys.map(\.name) where ![verb.rawValue, "to", "enabled"].contains(key) {
            guard let other = fields[key] else { continue }
            let hint = key == "on" ? "; the place names the message" : ""
            reader.error("'\(key)' has no effect with '\(verb.rawValue): \(place)'\(hint)", at: other)
        }
        if verb == .remove {
            action = .remove
            if place == Place(.request, .header, [.member("host")]) {
                reader.lint(RewriteRuleReader.hostLint, at: node)
            }
            if let node = fields["to"] { reader.error("'to' has no effect with 'remove: \(place)'", at: node) }
            return
        }
        guard let node = reader.required(fields, "to", "\(verb.gerund) \(place)") else { return nil }
        let value: Value?
        if place.part == .json {
            value = JSONTemplate(node, "to", &reader).map { .json($0) }
        } else {
            let template = ValueTemplate(node, "to", &reader)
            value = template.map { .text($0) }
            let isInHead = place.part == .header || place.part == .cookie
            if let constant = template?.constant, isInHead, !constant.isFieldValue {
                reader.error("the value of a \(place.part) cannot have line breaks or control characters", at: node)
            }
        }
        guard let value else { return nil }
        action = verb == .set ? .set(value) : .add(value)
    }

    /// Why a place cannot be edited with a verb.
    private static func problem(_ place: Place, _ verb: RewriteRuleReader.Verb) -> String? {
        if verb == .modify { return "'modify' has no places; 'set' sets the value of \(place)" }
        switch (place.root, place.part) {
        case (.sentRequest, _), (.sentResponse, _): return "\(place) cannot be edited; begin with req or res"
        case (_, .host), (_, .path), (_, .url), (_, .status), (_, .body):
            return "\(place) cannot be edited by place; write 'modify: \(place.part)'"
        case (_, .header):
            if let fault = FieldSection.fault(ofName: place.name ?? "") { return fault }
        case (_, .cookie):
            let name = place.name ?? ""
            if name.isEmpty || !name.isFieldValue || name.contains(where: { "=; ,\t".contains($0) }) {
                return "'\(name.clipped(to: 40))' cannot be the name of a cookie"
            }
        case (_, .query), (_, .form): break
        case (_, .json):
            if verb == .remove, place.steps.isEmpty { return "\(place) is the whole body; write 'modify: body'" }
        default: return "\(place) cannot be edited; header, cookie, query, form and json can be"
        }
        let hasNumber = place.name != nil && place.steps.count > 1
        return verb == .add && hasNumber ? "'add' appends; leave the brackets out of \(place)" : nil
    }
}
