import ExchangeCore
import HTTPModel
import NIOCore
import Rules

/// An answer that a map-local rule has in the profile.
struct RuleAnswer: Sendable {
    enum Content: Sendable {
        case none
        case text(ValueTemplate)
        case json(JSONTemplate)
        case file(AnswerPath)
    }

    /// How an answer ends before it is complete.
    enum End: String, CaseIterable, Sendable {
        case hang, cut, reset
    }

    /// `nil` for 200, or for the status of the file's sidecar.
    let status: Int?
    let fields: [(name: String, value: ValueTemplate)]
    let content: Content
    let delay: Delay?
    /// After how many bytes of the body; `nil` for an end without status and body.
    let end: (way: End, after: Int?)?

    /// How long a client that gets nothing more is connected.
    private static let longestSilence = TimeAmount.hours(1)

    /// The end of an answer that has no status and no body.
    var endAtOnce: End? { end.flatMap { $0.after == nil ? $0.way : nil } }

    func end(of rule: String) -> AnswerEnd? {
        guard let end else { return nil }
        let bytes = end.after.map { " after \($0) bytes" } ?? ""
        let hint = "Rule '\(rule)' of the profile did this on purpose."
        var failure = ExchangeFailure(
            .aborted,
            "The answer was ended on purpose\(bytes) (\(end.way.rawValue)).",
            hint: hint
        )
        failure.isReset = end.way == .reset
        let silence = end.way == .hang ? RuleAnswer.longestSilence : .zero
        return AnswerEnd(after: end.after.map { Int64($0) }, silence: silence, failure)
    }

    func fields(_ context: ValueContext) throws(ValueError) -> [(name: String, value: FilledText)] {
        var filled: [(name: String, value: FilledText)] = []
        for field in fields { filled.append((field.name, try field.value.filled(context))) }
        return filled
    }

    /// The answer, unless it is from a file.
    func answer(_ context: ValueContext, _ fields: FileSource.Fields) throws(ValueError) -> LocalAnswer {
        var head = ResponseHead(status: status ?? 200)
        var body = ByteBuffer()
        switch content {
        case .none, .file: break
        case .text(let text):
            head.fields.append("Content-Type", "text/plain; charset=utf-8")
            body = ByteBuffer(string: try text.filled(context).text)
        case .json(let json):
            head.fields.append("Content-Type", "application/json")
            body = ByteBuffer(string: try json.filled(context).text)
        }
        head.fields.replace(fields)
        if ![204, 304].contains(head.status) { head.fields.append("Content-Length", String(body.readableBytes)) }
        return LocalAnswer(head: head, body: body)
    }
}

/// The file of an answer.
struct AnswerPath: Sendable {
    /// As in the profile.
    let path: ValueTemplate
    /// The directory before the first value, as in the profile; with values the file is never outside it.
    let folder: String
    /// The absolute path of the file, or with values of the directory.
    let absolute: String

    init?(_ node: Node, _ reader: inout ProfileReader) {
        guard let path = ValueTemplate(node, "file", &reader), let absolute = reader.path(node, "file") else {
            return nil
        }
        self.path = path
        guard path.constant == nil, let text = node.scalar?.string, let start = text.firstRange(of: "${")?.lowerBound
        else {
            (folder, self.absolute) = ("", absolute)
            return
        }
        let before = text[..<start]
        folder = before.lastIndex(of: "/").map { String(before[...$0]) } ?? ""
        self.absolute = reader.path(.text(folder.isEmpty ? "." : folder), "file") ?? absolute
    }

    func source(
        _ context: ValueContext,
        _ rule: MapLocal.Rule,
        _ answer: RuleAnswer,
        _ fields: FileSource.Fields
    ) throws(ValueError) -> FileSource {
        let filled = try path.filled(context)
        var source = FileSource(path: absolute, name: filled.shown, status: answer.status, fields: fields)
        source.onMiss = rule.onMiss
        if path.constant == nil {
            let rest = filled.text.hasPrefix(folder) ? filled.text.dropFirst(folder.count) : ""
            source.names = rest.split(separator: "/").map(String.init)
            source.hidesNames = filled.text != filled.shown
        }
        return source
    }
}

/// The answers of a rule, in turn.
struct AnswerSequence: Sendable {
    enum AtEnd: String, CaseIterable, Sendable {
        case stay, `repeat`, pass
    }

    enum Key: String, CaseIterable, Sendable {
        case url, client
    }

    /// `nil` lets the server answer.
    let turns: [RuleAnswer?]
    let atEnd: AtEnd
    /// Requests with the same key are counted together; `nil` for all.
    let key: Key?
    let counter: KeyCounter

    /// The answer for a request, and its number.
    func next(_ opening: ExchangeOpening) -> (number: Int, answer: RuleAnswer?) {
        let number = counter.next(key.map { $0.value(opening) })
        switch atEnd {
        case _ where number <= turns.count: return (number, turns[number - 1])
        case .stay: return (number, turns.last ?? nil)
        case .repeat: return (number, turns[(number - 1) % turns.count])
        case .pass: return (number, nil)
        }
    }

    /// Whether it matters how many requests came before.
    var isCounted: Bool { turns.count > 1 || atEnd == .pass }

    /// With counts of its own, for a dry run.
    var copy: AnswerSequence { AnswerSequence(turns: turns, atEnd: atEnd, key: key, counter: counter.copy) }
}

extension AnswerSequence.Key {
    fileprivate func value(_ opening: ExchangeOpening) -> String {
        switch self {
        case .url: opening.url.description
        case .client: String(opening.clientAddress.prefix(upTo: portStart(opening.clientAddress)))
        }
    }

    private func portStart(_ address: String) -> String.Index { address.lastIndex(of: ":") ?? address.endIndex }
}

extension FieldSection {
    /// Sets fields in place of all earlier fields with these names; an empty value leaves the field out.
    mutating func replace(_ fields: [(name: String, value: String)]) {
        for field in fields { removeAll(FieldName(field.name)) }
        for field in fields where !field.value.isEmpty { append(field.name, field.value) }
    }
}
