package import Content
package import HTTPModel
import NIOCore
import Text

/// The differences between two exchanges, bodies decoded. Differences that ``ComparisonRules`` ignore are only counted.
package struct ExchangeDifference: Sendable {
    package struct Change: Sendable, Hashable {
        package let subject: Subject
        /// The old and the new value, shortened if long; `nil` if the value is missing.
        package let old: String?
        package let new: String?
    }

    package enum Part: String, Sendable, Hashable, CaseIterable {
        case request, status, fields, body
    }

    package struct Side {
        package var exchange: RecordedExchange
        package var source: any ExchangeSource

        package init(_ exchange: RecordedExchange, _ source: any ExchangeSource) {
            (self.exchange, self.source) = (exchange, source)
        }
    }

    /// How many bytes of each body are compared by their meaning; later bytes are only compared as bytes.
    package static let bodyLimit = 1 << 20
    /// Further changes of an exchange are only counted.
    package static let mostChanges = 200
    private static let longestValue = 200
    private static let mostMessages = 2_000

    package private(set) var changes: [Change] = []
    /// Includes changes that were not kept.
    package private(set) var count = 0
    /// How many differences were left out, and why.
    package private(set) var leftOut: [ComparisonRules.Reason: Int] = [:]

    package var isSame: Bool { count == 0 }

    private let rules: ComparisonRules
    /// Whether the order of fields with the same name, and each byte of a text, count.
    private let isStrict: Bool

    /// Compares received requests (not if `ofResponses`), and responses in one version. Throws the sources' errors.
    package init(
        _ old: Side,
        _ new: Side,
        rules: ComparisonRules,
        ofResponses: Bool = false,
        responses version: MessageVersion = .sent
    ) throws {
        (self.rules, isStrict) = (rules, false)
        let pair = [old, new]
        if !ofResponses {
            compareRequests(old.exchange, new.exchange)
            let sizes = pair.map { Optional($0.exchange.record.sizes.requestBody) }
            try compareBodies(.request, sizes.map { (.requestReceived, $0) }, of: pair)
        }
        let responses = pair.map { ComparedResponse(exchange: $0.exchange, version: version) }
        compareResponses(responses[0], responses[1])
        try compareBodies(.response, responses.map { ($0.side, $0.bodySize) }, of: pair)
        if pair.contains(where: { $0.exchange.record.kind == .webSocket }) { try compareMessages(of: pair) }
    }

    /// Compares a request with a recorded one; every difference counts.
    package init(recorded old: ComparedRequest, asked new: ComparedRequest) {
        (rules, isStrict) = (ComparisonRules(isExact: true), true)
        fact(.place(Place(.request, .method)), old.method, new.method)
        fact(.scheme, old.scheme, new.scheme)
        fact(.place(Place(.request, .host)), old.host, new.host)
        fact(.port, old.port, new.port)
        fact(.place(Place(.request, .path)), old.path, new.path)
        fields(.request, .query, old.query, new.query)
        fields(.request, .header, old.headers, new.headers)
        compare(.request, old.body, new.body)
    }

    // MARK: - Heads

    private mutating func compareRequests(_ left: RecordedExchange, _ right: RecordedExchange) {
        let (before, after) = (left.record, right.record)
        fact(.place(Place(.request, .method)), before.method, after.method)
        fact(.scheme, before.url.scheme, after.url.scheme)
        fact(.place(Place(.request, .host)), before.url.host, after.url.host)
        fact(.port, String(before.url.port), String(after.url.port))
        let (path, other) = (before.url.path, after.url.path)
        if rules.ignoresVolatile, path != other, PathShape.of(path) == PathShape.of(other) {
            leave(.identifier)
        } else {
            fact(.place(Place(.request, .path)), path, other)
        }
        if before.url.query != after.url.query {
            let lists = [before, after].map { FormFields.parse(query: $0.url.query ?? "") }
            fields(.request, .query, lists[0], lists[1])
        }
        headers(.request, left.messages.requestHead, right.messages.requestHead)
    }

    private mutating func compareResponses(_ left: ComparedResponse, _ right: ComparedResponse) {
        let (before, after) = (left.exchange.record, right.exchange.record)
        func status(_ response: ComparedResponse) -> String { response.status > 0 ? String(response.status) : "none" }
        fact(.place(Place(.response, .status)), status(left), status(right))
        fact(.failure, before.failure?.code.rawValue, after.failure?.code.rawValue)
        fact(.grpcStatus, before.grpc.map { String($0.status) }, after.grpc.map { String($0.status) })
        headers(.response, left.head, right.head)
    }

    private mutating func fact(_ subject: Subject, _ old: String?, _ new: String?) {
        guard old != new || isStrict && !(old ?? "").utf8.elementsEqual((new ?? "").utf8) else { return }
        rules.ignores(subject) ? leave(.named) : count(subject, old, new)
    }

    private mutating func headers(_ root: Place.Root, _ old: ByteBuffer?, _ new: ByteBuffer?) {
        guard old != new else { return }
        let sections = [old, new].map { bytes in
            FieldDifference.fields(bytes.map { StoredHead.fieldsAfterStartLine($0) } ?? FieldSection())
                .filter { !$0.name.hasPrefix(":") }
        }
        fields(root, .header, sections[0], sections[1])
    }

    private mutating func fields(_ root: Place.Root, _ part: Place.Part, _ old: [FormField], _ new: [FormField]) {
        let entries = FieldDifference.entries(old, new, ignoringCase: part == .header, isStrict: isStrict)
        for entry in entries where !entry.isSame {
            add(.place(entry.place(root, part)), entry.old, entry.new, name: entry.name)
        }
    }

    // MARK: - Bodies

    private typealias Body = (side: BodySide, size: Int64?)

    private mutating func compareBodies(_ root: Place.Root, _ bodies: [Body], of pair: [Side]) throws {
        let records = pair.map(\.exchange.record)
        // The bytes after an upgrade or in a tunnel differ each time.
        guard records.allSatisfy({ $0.kind == .http }) else { return }
        if bodies.allSatisfy({ $0.size == 0 }), records.allSatisfy({ $0.state != .inFlight }) { return }
        var whole = [ByteBuffer(), ByteBuffer()]
        for (index, one) in pair.enumerated() {
            try RecordedBody(source: one.source, id: one.exchange.record.id, side: bodies[index].side)
                .read(ExchangeDifference.bodyLimit + 1, into: &whole[index])
        }
        let isLong = whole.contains { $0.readableBytes > ExchangeDifference.bodyLimit }
        if whole[0] == whole[1], !isLong { return }
        let loaded = zip(pair, bodies).map { one, body in
            LoadedBody(one.exchange, body.side, source: one.source, limit: ExchangeDifference.bodyLimit)
        }
        let countBefore = count + leftOut.values.reduce(0, +)
        if loaded[0].bytes != loaded[1].bytes { compare(root, BodyMeaning(loaded[0]), BodyMeaning(loaded[1])) }
        guard isLong || loaded.contains(where: \.isCut), count + leftOut.values.reduce(0, +) == countBefore else {
            return
        }
        if try !ExchangeDifference.isSame(bodies.map(\.side), of: pair) {
            let sizes = bodies.map { $0.size.map(Measures.size) ?? "other bytes" }
            count(.rest(root, after: Int64(ExchangeDifference.bodyLimit)), sizes[0], sizes[1])
        }
    }

    /// Whether two bodies have the same bytes, of any length.
    private static func isSame(_ sides: [BodySide], of pair: [Side]) throws -> Bool {
        var offset: Int64 = 0
        while true {
            let pieces = try zip(pair, sides).map { one, side in
                try one.source.body(of: one.exchange.record.id, side: side, offset: offset, limit: 256 << 10)
            }
            guard pieces[0] == pieces[1] else { return false }
            guard pieces[0].readableBytes > 0 else { return true }
            offset += Int64(pieces[0].readableBytes)
        }
    }

    private mutating func compare(_ root: Place.Root, _ old: BodyMeaning, _ new: BodyMeaning) {
        let body = Subject.place(Place(root, .body))
        if rules.ignores(body) { return leave(.named) }
        switch BodyMeaning.Pair(old, new) {
        case .same: break
        case .json(let before, let after): json(root, before, after)
        case .named(let part, let before, let after): fields(root, part, before, after)
        case .text(let before, let after):
            // Line ends and Unicode spellings of a letter are no difference, unless each byte counts.
            if !lines(root, before, after), isStrict { bytes(body, old, new) }
        case .bytes: bytes(body, old, new)
        }
    }

    private mutating func bytes(_ subject: Subject, _ old: BodyMeaning, _ new: BodyMeaning) {
        let words = old.words(beside: new)
        count(subject, words.0, words.1)
    }

    private mutating func json(_ root: Place.Root, _ old: JSONTree?, _ new: JSONTree?) {
        let kept = [old, new].map { $0.flatMap { rules.kept(of: $0, root) } }
        let changes = JSONDifference.changes(kept[0], kept[1])
        if !rules.namesNothing {
            let ignored = JSONDifference.changes(old, new).count - changes.count
            if ignored > 0 { leftOut[.named, default: 0] += ignored }
        }
        for change in changes {
            let name: String? = if case .member(let name) = change.steps.last { name } else { nil }
            if let old = change.old, let new = change.new, new.isOfType(of: old),
                let reason = rules.reason(old.plain, new.plain, name: name)
            {
                leave(reason)
            } else {
                count(.place(Place(root, .json, change.steps)), change.old?.text, change.new?.text)
            }
        }
    }

    private mutating func lines(_ root: Place.Root, _ old: String, _ new: String) -> Bool {
        let (before, after) = (LineDifference.lines(old), LineDifference.lines(new))
        guard let hunks = LineDifference.hunks(before, after) else {
            let words = "\(after.count.of("line")), most of them others"
            count(.place(Place(root, .body)), before.count.of("line"), words)
            return true
        }
        for hunk in hunks {
            for offset in 0..<max(hunk.old.count, hunk.new.count) {
                let left = offset < hunk.old.count ? String(before[hunk.old.lowerBound + offset]) : nil
                let right = offset < hunk.new.count ? String(after[hunk.new.lowerBound + offset]) : nil
                let line = right == nil ? hunk.old.lowerBound + offset : hunk.new.lowerBound + offset
                add(.line(root, line + 1), left, right)
            }
        }
        return !hunks.isEmpty
    }

    // MARK: - Messages

    private mutating func compareMessages(of pair: [Side]) throws {
        typealias Message = (number: Int, text: String)
        let lists = try pair.map { side in
            var lists: [StreamedMessage.Direction: [Message]] = [:]
            guard let timeline = MessageTimeline(side.exchange, source: side.source) else { return lists }
            var count = 0
            while count < ExchangeDifference.mostMessages, let message = try timeline.next() {
                guard message.isCounted else { continue }
                count += 1
                let text = message.text ?? "\(message.size) bytes \(message.base64)"
                lists[message.direction, default: []].append((count, text))
            }
            return lists
        }
        for direction in StreamedMessage.Direction.allCases {
            let (before, after) = (lists[0][direction] ?? [], lists[1][direction] ?? [])
            fact(.messages(direction), String(before.count), String(after.count))
            for (left, right) in zip(before, after) where left.text != right.text {
                let root = Place.Root.message(right.number)
                let body = Subject.place(Place(root, .body))
                let meanings = [left, right].map {
                    BodyMeaning(LoadedBody(bytes: ByteBuffer(string: $0.text), mediaType: nil))
                }
                if !rules.ignores(body), case .json(let before, let after) = BodyMeaning.Pair(meanings[0], meanings[1])
                {
                    json(root, before, after)
                } else {
                    add(body, left.text, right.text)
                }
            }
        }
    }

    // MARK: - Counting

    /// Counts a difference, or the reason to leave it out. The value's `name` may show that the value is an identifier.
    private mutating func add(_ subject: Subject, _ old: String?, _ new: String?, name: String? = nil) {
        var reason = rules.reason(subject)
        if reason == nil, let old, let new { reason = rules.reason(old, new, name: name) }
        reason.map { leave($0) } ?? count(subject, old, new)
    }

    private mutating func count(_ subject: Subject, _ old: String?, _ new: String?) {
        count += 1
        guard changes.count < ExchangeDifference.mostChanges else { return }
        func cut(_ value: String) -> String { value.shortened(to: ExchangeDifference.longestValue) }
        changes.append(Change(subject: subject, old: old.map(cut), new: new.map(cut)))
    }

    private mutating func leave(_ reason: ComparisonRules.Reason) { leftOut[reason, default: 0] += 1 }
}
