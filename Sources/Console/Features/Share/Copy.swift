import Content
package import Description
package import Formats
package import HTTPModel
import Rules

package enum CopyRequest: Sendable, Hashable {
    case whole(CopyForm, [ExchangeID])
    /// A named part of the page that the options select.
    case part(CopyForm, String, ExchangeID, DetailOptions)
    /// A text as it was shown, and a noun that describes it.
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
    var form = CopyForm.curl
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
        return isMasked && !effects.isEmpty ? copyMasked() : effects
    }

    private mutating func copy(_ form: CopyForm, _ rest: String?) -> [Effect] {
        if form.isShown { return copyShown(form, rest) }
        if rest != nil { return selected(rest).map { copy(.whole(form, [$0])) } ?? [] }
        guard case .exchanges(let ids)? = selection else { return refuse(noSelection ?? nothingHere) }
        return copy(.whole(form, ids))
    }

    private mutating func copy(_ request: CopyRequest) -> [Effect] {
        copying.last = request
        return [.copy(request)]
    }

    mutating func tellCopied(_ words: String, _ secrets: Int) {
        let held = "It holds \(LinearSentence.count(secrets, "secret")); \(way(to: .copyMasked)) copies it masked."
        let all = [words, secrets > 0 ? held : ""].filter { !$0.isEmpty }.joined(separator: " ")
        if !all.isEmpty { tell(all) }
    }

    var noCopied: String? { copying.last == nil ? "Nothing was copied yet; \(way(to: .copy)) copies." : nil }

    func copyMasked() -> [Effect] { copying.last.map { [.copy($0, isMasked: true)] } ?? [] }

    private var hasLines: Bool { isInReport || detail.text.document != nil && (detail.isOpen || isLinear) }

    private var noLines: String { "No exchange is open; \(way(to: .open)) opens one, and a line of it is copied." }

    func copyChoices(_ command: Command) -> PickerState {
        let missing = hasLines ? nil : "No exchange is open; \(way(to: .open)) opens one."
        let items = CopyForm.allCases.map { form in
            PickerState.Item(form.rawValue, form.title, disabled: form.isShown ? missing : nil)
        }
        let title = marks.count > 1 ? "Copy of the \(marks.count) marked" : "Copy"
        var picker = PickerState(command: command, title: title, items: items)
        picker.selected = items.firstIndex { $0.value == copying.form.rawValue } ?? 0
        return picker
    }

    /// Copies part of the open text; the words may name a path or header and the number of an exchange.
    private mutating func copyShown(_ form: CopyForm, _ words: String?) -> [Effect] {
        if words != nil || isLinear { return copyNamed(form, words ?? "") }
        guard hasLines else { return refuse(noLines) }
        var found: (line: DetailLine, isFolded: Bool, all: String)?
        read { reading, rows, _ in
            guard rows.visible.indices.contains(reading.cursor.line) else { return }
            let number = rows.visible[reading.cursor.line]
            // There may be many lines, so they are joined only to copy the page.
            let all = (form == .page ? Array(rows.visible.indices) : []).map { row in
                let indent = rows.document.lines[rows.visible[row]].indent
                return String(repeating: " ", count: indent) + rows.spans(row).map(\.text).joined()
            }
            found = (rows.document.lines[number], reading.folds.contains(number), all.joined(separator: "\n"))
        }
        guard let (line, isFolded, all) = found else { return refuse(noLines) }
        let text: String? =
            switch (form, line.copyable) {
            case (.page, _): all
            case (.line, .command(let command)): command
            case (.line, _): (isFolded ? line.foldedSpans : line.spans).map(\.text).joined()
            case (.value, .field(_, let value, _)): value
            case (.value, .json(let value)): value.value
            case (.path, .json(let value)): value.place?.description
            case (.header, .field(let name, let value, _)): "\(name): \(value)"
            default: nil
            }
        guard let text else {
            let wanted: [CopyForm: String] = [.header: "header line", .path: "JSON value that has a path"]
            return refuse("The cursor is not on a \(wanted[form] ?? "header line or a JSON value").")
        }
        if case .report? = overlays.last { return copy(.shown(text, form.noun, of: [])) }
        let effects = copy(.shown(text, form.noun, of: detail.id.map { [$0] } ?? []))
        // A masked copy must build the page again, because the lines of a page depend on where its secrets are.
        if form == .page, let id = detail.id { copying.last = .part(.page, "", id, detail.options) }
        return effects
    }

    /// The value under the cursor that a rule can set: a header, a cookie, a parameter, or a value of a JSON body.
    mutating func settableValue() -> RecordedValue? {
        guard hasLines, !isInReport, isDetailFocused, let id = detail.id else { return nil }
        var copyable: Copyable?
        read { reading, rows, _ in
            guard rows.visible.indices.contains(reading.cursor.line) else { return }
            copyable = rows.document.lines[rows.visible[reading.cursor.line]].copyable
        }
        switch copyable {
        case .field(_, let value, let place?): return RecordedValue(id: id, place: place, text: value)
        case .json(let json):
            guard let place = json.place?.asReceived, [.request, .response].contains(place.root) else { return nil }
            return json.json.map { RecordedValue(id: id, place: place, text: $0) }
        default: return nil
        }
    }

    /// Copies without a cursor: `value res.json.items[0].id`, `header Content-Type`, `page`.
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
        let options = DetailOptions(page: detail.options.page == .request ? .request : .response)
        guard let id = selected(id) else { return [] }
        return copy(.part(form, name, id, form == .page ? detail.options : options))
    }

    /// Whether a search text is a JSON place, or `.` to show everything again. jq paths count too, to be refused.
    static func isPlace(_ text: String) -> Bool {
        [".", "json.", "json[", "req.json", "res.json"].contains { text.hasPrefix($0) }
    }

    /// Shows only the values at a place of the open body; `.` shows everything again.
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

    /// Shows the whole page again if only the values at a place are shown; otherwise returns `nil`.
    mutating func showAll() -> [Effect]? {
        guard detail.options.place != nil else { return nil }
        (detail.options.place, detail.sought, detail.text.reading) = (nil, "", ReadingState())
        detail.text.shown = nil
        tell("Showing the whole page.")
        return loadDetail()
    }

    mutating func toggleDecoding() -> [Effect] {
        detail.options.decodesValues.toggle()
        detail.text.shown = nil
        let decoded = "decoded: base64, URL-encoded text, dates"
        tell("Values are shown \(detail.options.decodesValues ? decoded : "without decoding").")
        return loadDetail()
    }
}
