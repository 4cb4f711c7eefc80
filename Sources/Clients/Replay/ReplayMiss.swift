import HTTPModel
import NIOCore
import ProxyServer
import Recording
import Text

/// A request without a recorded answer, and the nearest recorded request.
struct ReplayMiss: Sendable {
    let failure: ExchangeFailure
    let text: String
    var count = 1

    /// Equal misses are reported together.
    var key: String { text }

    init(_ request: AskedRequest, _ reason: String, nearest: String = "") {
        let asked = "\(request.head.method) \(request.url)"
        let message = nearest.isEmpty ? reason : "Nothing recorded answers \(asked)."
        failure = ExchangeFailure(.notRecorded, message, hint: nearest)
        text = VisibleText.of("\(asked): \(nearest.isEmpty ? reason : nearest)")
    }

    init(_ failure: ExchangeFailure, _ text: String) { (self.failure, self.text) = (failure, VisibleText.of(text)) }

    /// Finds the nearest request. Throws `SessionError`.
    init(_ request: AskedRequest, in replay: Replay, _ source: RecordedRequests) throws {
        let compared = replay.compared(request)
        let asked = "\(request.head.method) \(request.url)"
        if let answers = replay.index.answers[compared.fingerprint], let last = answers.last {
            let fields = request.head.fields
            let met = AnswerCondition.met(by: fields)
            let entries = answers.map { replay.index.entries[Int($0)] }
            if entries.contains(where: { $0.condition.map { met.contains($0) } ?? true }) {
                let numbers = entries.suffix(8).map { String($0.id) }.joined(separator: ", ")
                let given =
                    entries.count == 1 ? "The recorded answer was" : "All \(entries.count) recorded answers were"
                let noun = entries.count > 1 ? "exchanges" : "exchange"
                let which = entries.count > 8 ? "the last exchanges are \(numbers)" : "\(noun) \(numbers)"
                self.init(request, "\(given) given already to \(asked) (\(which)).")
            } else {
                let id = replay.index.entries[Int(last)].id
                let found = try source.request(id, replay.matching)
                let status = found?.0.record.receivedStatus(found?.0.messages ?? ExchangeMessages()) ?? 0
                let recorded = found?.0.requestFields(.sent) ?? FieldSection()
                let differences = AnswerCondition.differences(status: status, fields, recorded)
                let nearest = "the answer was \(status), for its condition: \(ReplayMiss.list(differences))"
                self.init(request, "", nearest: "The nearest is exchange \(id), the same request: \(nearest).")
            }
            return
        }
        guard let (recorded, entry, differences) = try ReplayMiss.nearest(compared, replay, source) else {
            self.init(request, "Nothing recorded answers \(asked): the recording has no requests.")
            return
        }
        if request.head.fields.contains(.upgrade, token: "websocket") {
            let isRecorded = entry.leftOut == .webSocket && differences.isEmpty
            let place = isRecorded ? " It is exchange \(recorded.id) of the recording." : ""
            self.init(request, "WebSockets are not replayed, so nothing answers \(asked).\(place)")
            return
        }
        let url = recorded.sentURL ?? recorded.url
        var nearest = "The nearest is exchange \(recorded.id), \(recorded.method) \(url)"
        if differences.isEmpty {
            nearest += ", the same request: \(entry.leftOut?.reason ?? "it is the same")."
        } else {
            nearest += ": \(ReplayMiss.list(differences))."
            if let leftOut = entry.leftOut { nearest += " Besides, \(leftOut.reason)." }
        }
        self.init(request, "", nearest: nearest)
    }

    private static func list(_ differences: [ComparedRequest.Difference]) -> String {
        guard let first = differences.first else { return "no difference" }
        let rest = differences.count - 1
        guard rest > 0 else { return first.description }
        let places = differences.dropFirst().prefix(3).map(\.shownPlace).joined(separator: ", ")
        let more = rest > 3 ? " and \(rest - 3) more" : ""
        return "\(first.description); \(places)\(more) \(rest == 1 ? "differs" : "differ") too"
    }

    // MARK: - The nearest

    /// Differences are counted for this many requests with equally near URLs.
    private static let mostRead = 24

    private static func nearest(
        _ asked: ComparedRequest,
        _ replay: Replay,
        _ source: RecordedRequests
    ) throws -> (ExchangeRecord, ReplayIndex.Entry, [ComparedRequest.Difference])? {
        let index = replay.index
        var best = Int.min
        var places: [Int] = []
        for (place, endpoint) in index.endpoints.enumerated() {
            let score = score(endpoint, asked)
            if score > best { (best, places) = (score, []) }
            if score == best, places.count < mostRead { places.append(place) }
        }
        let parts = (asked.fingerprint(of: .query), asked.fingerprint(of: .header), asked.fingerprint(of: .body))
        // By the number of equal parts, then in the recorded order.
        var byRank = [[ReplayIndex.Entry]](repeating: [], count: 8)
        for number in places.lazy.flatMap({ index.endpoints[$0].entries }) {
            let entry = index.entries[Int(number)]
            let rank =
                (entry.query == parts.0 ? 4 : 0) + (entry.body == parts.2 ? 2 : 0) + (entry.header == parts.1 ? 1 : 0)
            if byRank[rank].count < mostRead { byRank[rank].append(entry) }
        }
        var found: (ExchangeRecord, ReplayIndex.Entry, [ComparedRequest.Difference])?
        for entry in byRank.reversed().joined().prefix(mostRead) {
            guard let (recorded, request) = try source.request(entry.id, replay.matching) else { continue }
            let differences = asked.differences(from: request)
            // Of equally different ones, one that answers is preferred.
            let isNearer = found.map { best in
                (differences.count, entry.leftOut == nil ? 0 : 1) < (best.2.count, best.1.leftOut == nil ? 0 : 1)
            }
            if isNearer ?? true { found = (recorded.record, entry, differences) }
        }
        return found
    }

    /// The path counts most.
    private static func score(_ endpoint: ReplayIndex.Endpoint, _ asked: ComparedRequest) -> Int {
        var score = 0
        if endpoint.url.host == asked.value(of: .host) { score += 200 }
        if endpoint.method == asked.value(of: .method) { score += 100 }
        if String(endpoint.url.port) == asked.value(of: .port) { score += 20 }
        if endpoint.url.scheme == asked.value(of: .scheme) { score += 10 }
        let path = asked.value(of: .path) ?? ""
        if endpoint.url.path == path { return score + 1_000 }
        let (left, right) = (segments(endpoint.url.path), segments(path))
        let longest = max(left.count, right.count, 1)
        let before = zip(left, right).prefix { $0 == $1 }.count
        let after = zip(left.reversed(), right.reversed()).prefix { $0 == $1 }.count
        return score + 500 * min(longest, before + after) / longest
    }

    private static func segments(_ path: String) -> [Substring] { path.split(separator: "/") }
}
