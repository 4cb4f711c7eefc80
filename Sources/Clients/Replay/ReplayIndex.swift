import Content
import Description
import HTTPModel
import NIOCore
import ProxyServer
import Recording
import Rules

/// The recorded exchanges by their compared requests; some 300 bytes for an exchange.
struct ReplayIndex: Sendable {
    enum LeftOut: String, Sendable, CaseIterable {
        case failed, blocked, unfinished, cut, webSocket, upgraded
        /// Excluded by the filter, or by `only` and `except`.
        case notChosen

        /// The noun after a count of such exchanges, and a clause that says why one of them gives no answer.
        var words: (noun: String, reason: String) {
            switch self {
            case .failed: ("that failed", "it failed, so there is no whole answer")
            case .blocked: ("that a rule blocked", "a rule blocked it, so no server answered")
            case .unfinished: ("that did not end", "it did not end, so there is no whole answer")
            case .cut: ("with an incomplete body", "its body was not recorded whole")
            case .webSocket: ("WebSockets", "it is a WebSocket, and those are not replayed")
            case .upgraded:
                ("that went on in another protocol", "it went on in another protocol, which is not replayed")
            case .notChosen: ("that were not chosen", "the filter, or 'replay' in the profile, leaves it out")
            }
        }

        func counted(_ count: Int) -> String {
            self == .webSocket && count == 1 ? "1 WebSocket" : "\(count) \(words.noun)"
        }
    }

    struct Entry: Sendable {
        var id: Int64
        var condition: Fingerprint?
        /// Why the entry gives no answer; `nil` if it gives one.
        var leftOut: LeftOut?
        var query: Fingerprint
        var header: Fingerprint
        var body: Fingerprint
    }

    /// The requests of one method to one URL, with any query.
    struct Endpoint: Sendable, Hashable {
        var url: RequestURL
        var method: String
    }

    private(set) var entries: [Entry] = []
    /// In the recorded order.
    private(set) var answers: [Fingerprint: [Int32]] = [:]
    private(set) var endpoints: [(key: Endpoint, entries: [Int32])] = []
    private(set) var leftOut: [LeftOut: Int] = [:]
    private(set) var masked = 0

    var count: Int { entries.count { $0.leftOut == nil } }

    /// Further endpoints are not searched for the nearest request.
    private static let mostEndpoints = 100_000

    init(_ reader: SessionReader, numbers: Set<Int64>?, rules: ReplayRules, matching: ComparedRequest.Matching) throws {
        var places: [Endpoint: Int32] = [:]
        // Requests as received, if they differ from the sent ones; they are added after all sent requests.
        var received: [(Fingerprint, Int32)] = []
        try reader.forEachRequest { recorded in
            let record = recorded.record
            guard [.http, .webSocket, .upgraded].contains(record.kind) else { return }
            let isChosen = numbers?.contains(record.id.number) ?? true
            let reason = isChosen && rules.admits(record.url) ? ReplayIndex.leftOut(recorded) : .notChosen
            if let reason { leftOut[reason, default: 0] += 1 }
            let sent = try reader.compared(recorded, .sent, matching)
            let fingerprints = sent.fingerprints
            let number = Int32(clamping: entries.count)
            let fields = recorded.requestFields(.sent)
            let entry = Entry(
                id: record.id.number,
                condition: AnswerCondition.of(status: record.receivedStatus(recorded.messages), fields),
                leftOut: reason,
                query: fingerprints.query,
                header: fingerprints.header,
                body: fingerprints.body
            )
            entries.append(entry)
            var url = record.sentURL ?? record.url
            url.query = nil
            url.scheme = ComparedRequest.normalized(scheme: url.scheme)
            url.path = ComparedRequest.normalized(path: url.path)
            let key = Endpoint(url: url, method: sent.method)
            if let place = places[key] {
                endpoints[Int(place)].entries.append(number)
            } else if endpoints.count < ReplayIndex.mostEndpoints {
                places[key] = Int32(endpoints.count)
                endpoints.append((key, [number]))
            }
            guard reason == nil else { return }
            if !record.extras.masked.isEmpty { masked += 1 }
            answers[fingerprints.all, default: []].append(number)
            if !record.flags.isDisjoint(with: [.requestChanged, .requestBodyChanged]) {
                received.append((try reader.compared(recorded, .received, matching).fingerprints.all, number))
            }
        }
        let known = Set(received.map(\.0)).filter { answers[$0] != nil }
        for (fingerprint, number) in received where !known.contains(fingerprint) {
            answers[fingerprint, default: []].append(number)
        }
    }

    private static func leftOut(_ recorded: RecordedRequest) -> LeftOut? {
        let record = recorded.record
        if record.kind == .webSocket { return .webSocket }
        if record.kind == .upgraded { return .upgraded }
        switch record.state {
        case .failed: return .failed
        case .blocked: return .blocked
        case .inFlight, .interrupted: return .unfinished
        case .complete: break
        }
        let cut: ExchangeRecord.Flags = [.responseBodyIncomplete, .requestBodyIncomplete, .endedWithoutCloseNotify]
        guard record.flags.isDisjoint(with: cut) else { return .cut }
        guard let bytes = recorded.messages.responseHead, let head = StoredHead.response(bytes) else { return .failed }
        guard (200...999).contains(head.status) else { return .failed }
        let hasBody = record.method != "HEAD" && head.status != 204 && head.status != 304
        guard hasBody, record.extras.masked.isEmpty, let text = head.fields.value(of: .contentLength),
            let length = Int64(text), length > record.sizes.responseBody
        else { return nil }
        // A body that was encoded again when an archive was imported has another length.
        let isRecoded = record.sizes.responseBody > 0 && head.fields.contains(.contentEncoding)
        return isRecoded ? nil : .cut
    }
}

/// The fields on which an answer depends.
enum AnswerCondition {
    private static let validators: [FieldName] = [
        "if-match", "if-none-match", "if-modified-since", "if-unmodified-since",
    ]
    private static let ranges: [FieldName] = ["range", "if-range"]

    /// 304 and 412 depend on validators, 206 and 416 on ranges (RFC 9110 §13, §14).
    static func of(status: Int, _ fields: FieldSection) -> Fingerprint? {
        switch status {
        case 304, 412: fingerprint(validators, fields)
        case 206, 416: fingerprint(ranges, fields)
        default: nil
        }
    }

    static func met(by fields: FieldSection) -> Set<Fingerprint> {
        [fingerprint(validators, fields), fingerprint(ranges, fields)]
    }

    static func difference(status: Int, _ fields: FieldSection, _ recorded: FieldSection) -> ExchangeDifference {
        let names = status == 206 || status == 416 ? ranges : validators
        return ExchangeDifference(recorded: request(names, recorded), asked: request(names, fields))
    }

    private static func fingerprint(_ names: [FieldName], _ fields: FieldSection) -> Fingerprint {
        request(names, fields).fingerprints.header
    }

    private static func request(_ names: [FieldName], _ fields: FieldSection) -> ComparedRequest {
        var request = ComparedRequest()
        request.headers = ComparedRequest.headers(names, of: fields)
        return request
    }
}

extension RecordedRequest {
    func requestHead(_ version: MessageVersion) -> ByteBuffer? {
        version == .sent ? messages.requestHeadSent ?? messages.requestHead : messages.requestHead
    }

    func requestFields(_ version: MessageVersion) -> FieldSection {
        requestHead(version).flatMap { StoredHead.request($0)?.fields } ?? FieldSection()
    }
}

extension SessionReader {
    func compared(
        _ recorded: RecordedRequest,
        _ version: MessageVersion,
        _ matching: ComparedRequest.Matching
    ) throws -> ComparedRequest {
        let record = recorded.record
        let head = recorded.requestHead(version).flatMap { StoredHead.request($0) }
        let method = version == .sent ? head?.method ?? record.method : record.method
        let url = version == .sent ? record.sentURL ?? record.url : record.url
        return ComparedRequest(method, url, head?.fields ?? FieldSection(), try body(recorded, version), matching)
    }

    private func body(_ recorded: RecordedRequest, _ version: MessageVersion) throws -> ComparedBody {
        let record = recorded.record
        var body = ComparedBody()
        let isChanged = record.flags.contains(.requestBodyChanged) && version == .sent
        guard record.sizes.requestBody > 0 || isChanged else { return body }
        if let short = isChanged ? recorded.bodySent : recorded.body {
            body.add(short)
            return body
        }
        let side: BodySide = version == .sent ? .requestSent : .requestReceived
        try RecordedBody(source: self, id: record.id, side: side).forEachPiece { body.add($0) }
        return body
    }

    func request(_ id: Int64, _ matching: ComparedRequest.Matching) throws -> (RecordedRequest, ComparedRequest)? {
        guard let exchange = try self.exchange(ExchangeID(id)) else { return nil }
        let recorded = RecordedRequest(record: exchange.record, messages: exchange.messages)
        return (recorded, try compared(recorded, .sent, matching))
    }
}
