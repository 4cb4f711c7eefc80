import Content
import Description
import HTTPModel
import NIOCore
import ProxyServer
import Recording
import Text

struct ReplayMiss: Sendable {
    let failure: ExchangeFailure
    let text: String
    var count = 1

    init(_ request: AskedRequest, _ reason: String, nearest: String = "") {
        let asked = "\(request.head.method) \(request.url)"
        let message = nearest.isEmpty ? reason : "Nothing recorded answers \(asked)."
        failure = ExchangeFailure(.notRecorded, message, hint: nearest)
        text = VisibleText.of("\(asked): \(nearest.isEmpty ? reason : nearest)")
    }

    init(_ failure: ExchangeFailure, _ text: String) { (self.failure, self.text) = (failure, VisibleText.of(text)) }

    /// Finds the nearest request. Throws `SessionError`.
    init(_ request: AskedRequest, in replay: Replay, _ source: SessionReader) throws {
        let compared = replay.compared(request)
        let asked = "\(request.head.method) \(request.url)"
        if let answers = replay.index.answers[compared.fingerprints.all], let last = answers.last {
            let fields = request.head.fields
            let met = AnswerCondition.met(by: fields)
            let entries = answers.map { replay.index.entries[Int($0)] }
            if entries.contains(where: { $0.condition.map { met.contains($0) } ?? true }) {
                let numbers = entries.suffix(8).map { String($0.id) }.joined(separator: ", ")
                let given =
                    entries.count == 1 ? "The recorded answer was" : "All \(entries.count) recorded answers were"
                let noun = entries.count > 8 ? "the last exchanges are" : entries.count > 1 ? "exchanges" : "exchange"
                self.init(request, "\(given) given already to \(asked) (\(noun) \(numbers)).")
            } else {
                let id = replay.index.entries[Int(last)].id
                let recorded = try source.request(id, replay.matching)?.0
                let status = recorded.map { $0.record.receivedStatus($0.messages) } ?? 0
                let old = recorded?.requestFields(.sent) ?? FieldSection()
                let difference = AnswerCondition.difference(status: status, fields, old)
                let nearest = "the answer was \(status), for its condition: \(ReplayMiss.list(difference))"
                self.init(request, "", nearest: "The nearest is exchange \(id), the same request: \(nearest).")
            }
            return
        }
        guard let (recorded, entry, difference) = try ReplayMiss.nearest(compared, replay, source) else {
            self.init(request, "Nothing recorded answers \(asked): the recording has no requests.")
            return
        }
        if request.head.fields.contains(.upgrade, token: "websocket") {
            let isRecorded = entry.leftOut == .webSocket && difference.isSame
            let place = isRecorded ? " It is exchange \(recorded.id) of the recording." : ""
            self.init(request, "WebSockets are not replayed, so nothing answers \(asked).\(place)")
            return
        }
        let url = recorded.sentURL ?? recorded.url
        var nearest = "The nearest is exchange \(recorded.id), \(recorded.method) \(url)"
        if difference.isSame {
            nearest += ", the same request: \(entry.leftOut?.words.reason ?? "it is the same")."
        } else {
            nearest += ": \(ReplayMiss.list(difference))."
            if let leftOut = entry.leftOut { nearest += " Besides, \(leftOut.words.reason)." }
        }
        self.init(request, "", nearest: nearest)
    }

    /// In characters.
    private static let longest = 80

    /// The first change with its values, and the places of others: `req.query.page is "3", recorded "2"`.
    private static func list(_ difference: ExchangeDifference) -> String {
        guard let first = difference.changes.first else { return "no difference" }
        func quoted(_ value: String) -> String {
            let short = value.shortened(to: longest)
            if case .place(let place) = first.subject, [.json, .body].contains(place.part) { return short }
            return JSONWriter.quoted(short)
        }
        let places = difference.changes.prefix(4).map { $0.subject.description.shortened(to: longest) }
        let recorded = first.old.map { "recorded \(quoted($0))" } ?? "recorded without it"
        let text = "\(places[0]) is \(first.new.map(quoted) ?? "missing"), \(recorded)"
        let rest = difference.count - places.count
        if places.count == 1 { return text }
        let others = places.dropFirst().joined(separator: ", ") + (rest > 0 ? " and \(rest) more" : "")
        return "\(text); \(others) \(difference.count == 2 ? "differs" : "differ") too"
    }

    /// Of requests with equally near URLs, only this many are compared in detail.
    private static let mostRead = 24

    private static func nearest(
        _ asked: ComparedRequest,
        _ replay: Replay,
        _ source: SessionReader
    ) throws -> (ExchangeRecord, ReplayIndex.Entry, ExchangeDifference)? {
        let index = replay.index
        var best = Int.min
        var places: [Int] = []
        for (place, endpoint) in index.endpoints.enumerated() {
            let score = score(endpoint.key, asked)
            if score > best { (best, places) = (score, []) }
            if score == best, places.count < mostRead { places.append(place) }
        }
        let parts = asked.fingerprints
        // By the equal parts (query before body before header), then in the recorded order.
        var byRank = [[ReplayIndex.Entry]](repeating: [], count: 8)
        for number in places.lazy.flatMap({ index.endpoints[$0].entries }) {
            let entry = index.entries[Int(number)]
            let rank =
                (entry.query == parts.query ? 4 : 0) + (entry.body == parts.body ? 2 : 0)
                + (entry.header == parts.header ? 1 : 0)
            if byRank[rank].count < mostRead { byRank[rank].append(entry) }
        }
        var found: (ExchangeRecord, ReplayIndex.Entry, ExchangeDifference)?
        for entry in byRank.reversed().joined().prefix(mostRead) {
            guard let (recorded, request) = try source.request(entry.id, replay.matching) else { continue }
            let difference = ExchangeDifference(recorded: request, asked: asked)
            // Of requests with equally many differences, one that gives an answer is preferred.
            let isNearer = found.map { best in
                (difference.count, entry.leftOut == nil ? 0 : 1) < (best.2.count, best.1.leftOut == nil ? 0 : 1)
            }
            if isNearer ?? true { found = (recorded.record, entry, difference) }
        }
        return found
    }

    /// The path counts most.
    private static func score(_ endpoint: ReplayIndex.Endpoint, _ asked: ComparedRequest) -> Int {
        var score = 0
        if endpoint.url.host == asked.host { score += 200 }
        if endpoint.method == asked.method { score += 100 }
        if String(endpoint.url.port) == asked.port { score += 20 }
        if endpoint.url.scheme == asked.scheme { score += 10 }
        if endpoint.url.path == asked.path { return score + 1_000 }
        let (left, right) = (segments(endpoint.url.path), segments(asked.path))
        let longest = max(left.count, right.count, 1)
        let before = zip(left, right).prefix { $0 == $1 }.count
        let after = zip(left.reversed(), right.reversed()).prefix { $0 == $1 }.count
        return score + 500 * min(longest, before + after) / longest
    }

    private static func segments(_ path: String) -> [Substring] { path.split(separator: "/") }
}
