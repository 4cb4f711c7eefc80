import Content
package import Description
package import Formats
package import HTTPModel
import Rules

package enum CopyRequest: Sendable, Hashable {
    case whole(CopyForm, [ExchangeID])
    /// A part by its name: of the page that the options name.
    case part(CopyForm, String, ExchangeID, DetailOptions)
    /// A text as it was shown, and what it is called.
    case shown(String, String, of: [ExchangeID])

    var ids: [ExchangeID] {
        switch self {
        case .whole(_, let ids), .shown(_, _, let ids): ids
        case .part(_, _, let id, _): [id]
        }
    }

    var noun: String {
        switch self {
        case .whole(let form, let ids): (ids.count > 1 ? "\(ids.count) × " : "") + form.noun
        case .part(let form, _, _, _): form.noun
        case .shown(_, let name, _): name
        }
    }
}

package struct CopyState: Sendable {
    /// The form chosen last, with which the choice begins.
    var form = CopyForm.curl
    /// The last copy, to repeat it with secrets masked.
    var last: CopyRequest?
}

extension ConsoleModel {
    mutating func copy(_ words: String) -> [Effect] {
        let (word, rest) = words.firstWord
        guard let form = CopyForm(rawValue: word.lowercased()) else { return [] }
        copying.form = form
        var others = rest?.split(separator: " ").map(String.init) ?? []
        let isMasked = others.last == "masked"
        if isMasked { others.removeLast() }
        let effects = copy(form, others.isEmpty ? nil : others.joined(separator: " "))
        guard isMasked, !effects.isEmpty else { return effects }
        return copyMasked()
    }

    private mutating func copy(_ form: CopyForm, _ rest: String?) -> [Effect] {
        if form.isShown { return copyShown(form, rest) }
        if rest != nil {
            guard let id = selected(rest) else { return [] }
            return copy(.whole(form, [id]))
        }
        guard case .exchanges(let ids)? = selection else { return refuse(noSelection ?? nothingHere) }
        return copy(.whole(form, ids))
    }

    private mutating func copy(_ request: CopyRequest) -> [Effect] {
        copying.last = request
        return [.copy(request)]
    }

    mutating func tellCopied(_ words: String, _ secrets: Int) {
        let note = secrets > 0 ? secretsNote(secrets) : ""
        let all = [words, note].filter { !$0.isEmpty }.joined(separator: " ")
        if !all.isEmpty { tell(all) }
    }

    // MARK: Without secrets

    var noCopied: String? { copying.last == nil ? "Nothing was copied yet; \(way(to: .copy)) copies." : nil }

    func copyMasked() -> [Effect] { copying.last.map { [.copy($0, isMasked: true)] } ?? [] }

    private func secretsNote(_ count: Int) -> String {
        "It holds \(count == 1 ? "1 secret" : "\(count) secrets"); \(way(to: .copyMasked)) copies it masked."
    }

    /// Whether lines are there to be copied: of a report or of the open exchange. What was open before is not on the screen.
    private var hasLines: Bool { isInReport || detail.text.document != nil && (detail.isOpen || isLinear) }

    private var noLines: String { "No exchange is open; \(way(to: .open)) opens one, and a line of it is copied." }

    func copyChoices(_ command: Command) -> PickerState {
        let items = CopyForm.allCases.map { form in
            let isMissing = form.isShown && !hasLines
            return PickerState.Item(
                form.rawValue,
                form.title,
                disabled: isMissing ? "No exchange is open; \(way(to: .open)) opens one." : nil
            )
        }
        let title = marks.count > 1 ? "Copy of the \(marks.count) marked" : "Copy"
        var picker = PickerState(command: command, title: title, items: items)
        picker.selected = items.firstIndex { $0.value == copying.form.rawValue } ?? 0
        return picker
    }

    /// Copies of the open text; a path or a header's name may say of what, and then a number of which exchange.
    private mutating func copyShown(_ form: CopyForm, _ words: String?) -> [Effect] {
        if words != nil || isLinear { return copyNamed(form, words ?? "") }
        var found: (line: DetailLine, isFolded: Bool, all: String)?
        guard hasLines else { return refuse(noLines) }
        read { reading, rows, _ in
            guard rows.visible.indices.contains(reading.cursor.line) else { return }
            let number = rows.visible[reading.cursor.line]
            let all =
                form == .page
                ? rows.visible.indices.map { line in
                    String(repeating: " ", count: rows.document.lines[rows.visible[line]].indent)
                        + rows.spans(line).map(\.text).joined()
                }.joined(separator: "\n") : ""
            found = (rows.document.lines[number], reading.folds.contains(number), all)
        }
        guard let (line, isFolded, all) = found else { return refuse(noLines) }
        let text: String? =
            switch (form, line.copyable) {
            case (.page, _): all
            case (.line, .command(let command)): command
            case (.line, _): (isFolded ? line.foldedSpans : line.spans).map(\.text).joined()
            case (.value, .field(_, let value)): value
            case (.value, .json(let value)): value.value
            case (.path, .json(let value)): value.place?.description
            case (.header, .field(let name, let value)): "\(name): \(value)"
            default: nil
            }
        guard let text else {
            switch form {
            case .header: return refuse("The cursor is not on a header line.")
            case .path: return refuse("The cursor is not on a JSON value that has a path.")
            default: return refuse("The cursor is not on a header line or a JSON value.")
            }
        }
        if case .report? = overlays.last { return copy(.shown(text, form.noun, of: [])) }
        let id = detail.id
        // Masked, the page is made again, as what stands in it depends on the places of secrets.
        let effects = copy(.shown(text, form.noun, of: id.map { [$0] } ?? []))
        if form == .page, let id { copying.last = .part(.page, "", id, detail.options) }
        return effects
    }

    /// Copies of a page without a cursor: `value res.json.items[0].id`, `header Content-Type`, `page`.
    private mutating func copyNamed(_ form: CopyForm, _ words: String) -> [Effect] {
        var words = words.split(separator: " ").map(String.init)
        var id: String?
        if let last = words.last, last.hasPrefix("#") || Int64(last) != nil { id = words.removeLast() }
        let name = words.joined(separator: " ")
        guard form != .line else { return refuse("There is no cursor here; 'copy page' copies all lines.") }
        if name.isEmpty, form != .page {
            let example = form == .header ? "header Content-Type" : "\(form.rawValue) res.json.items[0].id"
            return refuse("Name the value, for example: copy \(example)")
        }
        let page = detail.options.page == .request ? DetailPage.request : .response
        let options = detail.options
        guard let id = selected(id) else { return [] }
        return copy(.part(form, name, id, form == .page ? options : DetailOptions(page: page)))
    }

    // MARK: Paths and values

    /// Whether a text to find is a place in JSON; `.` shows all again, and paths of jq are refused with the place to write.
    static func isPlace(_ text: String) -> Bool {
        [".", "json.", "json[", "req.json", "res.json"].contains { text.hasPrefix($0) }
    }

    /// Shows only the values of the open body at a place; `.` shows all again.
    mutating func showOnly(_ text: String) -> [Effect] {
        let place: Place?
        do throws(PlaceError) {
            place = text == "." ? nil : try Place(text, in: detail.page == .request ? .request : .response)
        } catch {
            return refuse("\(text.prefix(60)): \(error), at character \(error.offset + 1).")
        }
        (detail.sought, detail.options.place) = (place?.description ?? text, place)
        let page = place.map { $0.root == .request ? DetailPage.request : .response } ?? detail.page
        if page != detail.page { choose(page) }
        detail.text.reading = ReadingState()
        detail.text.shown = nil
        let find = way(to: .findInDetail, in: .detail)
        let shown = place.map { "only \($0.description.prefix(60)); \(find) and . show all again" } ?? "the whole page"
        tell("Showing \(shown).")
        return loadDetail()
    }

    /// Shows all of the page again, if only values at a place are shown; `nil` otherwise.
    mutating func showAll() -> [Effect]? {
        guard detail.options.place != nil else { return nil }
        (detail.options.place, detail.sought, detail.text.reading) = (nil, "", ReadingState())
        detail.text.shown = nil
        tell("Showing the whole page.")
        return loadDetail()
    }

    mutating func toggleDecoding() -> [Effect] {
        detail.options.decodesValues.toggle()
        // The lines are other ones, and so are the blocks that begin folded.
        detail.text.shown = nil
        tell(
            detail.options.decodesValues
                ? "Values are shown decoded: base64, URL-encoded text, dates."
                : "Values are shown without decoding."
        )
        return loadDetail()
    }
}
