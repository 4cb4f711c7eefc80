package import Content
package import HTTPModel
import NIOCore
import Text

/// What is another in one exchange than in the one that it is compared with: places with their values, JSON by path.
///
/// What is left out by ``ComparisonRules`` is counted. Bodies are compared without their content coding.
package struct ExchangeDifference: Sendable {
    package struct Change: Sendable, Hashable {
        /// For example `status`, `request header accept`, `response $.items[2].name`.
        package var place: String
        /// The values, cut where they are long; `nil` where there is none.
        package var old: String?
        package var new: String?

        /// What of an exchange a place belongs to.
        package var part: Part {
            if ["status", "failure", "gRPC status"].contains(place) { return .status }
            if place.hasPrefix("response header ") { return .fields }
            return place.hasPrefix("response ") || place.hasPrefix("message") ? .body : .request
        }
    }

    /// What of an exchange may differ.
    package enum Part: String, Sendable, Hashable, CaseIterable {
        case request, status, fields, body
    }

    /// An exchange and what its bodies are read from.
    package struct Side {
        package var exchange: RecordedExchange
        package var source: any ExchangeSource

        package init(_ exchange: RecordedExchange, _ source: any ExchangeSource) {
            (self.exchange, self.source) = (exchange, source)
        }
    }

    /// Of each body so many bytes are compared by what they mean; what follows only by its bytes.
    package static let bodyLimit = 1 << 20
    /// More changes of one exchange are counted and not kept.
    package static let mostChanges = 200
    private static let longestValue = 200
    private static let mostMessages = 2_000

    package private(set) var changes: [Change] = []
    /// How many there are, those that were not kept included.
    package private(set) var count = 0
    /// How many differences were left out, and why.
    package private(set) var leftOut: [ComparisonRules.Reason: Int] = [:]

    package var isSame: Bool { count == 0 }

    private let rules: ComparisonRules

    /// Compares two exchanges, the first taken for the older one: the requests as they were received from the clients, and the
    /// responses as they were sent to them, or as they were `received` from the servers. Throws the sources' errors.
    ///
    /// - Parameter ofResponses: whether the responses alone are compared.
    package init(
        _ old: Side,
        _ new: Side,
        rules: ComparisonRules,
        ofResponses: Bool = false,
        responses version: MessageVersion = .sent
    ) throws {
        self.rules = rules
        let (left, right) = (old.exchange, new.exchange)
        if !ofResponses {
            compareRequests(left, right)
            let sizes = [left, right].map { Optional($0.record.sizes.requestBody) }
            try compareBodies("request", [.requestReceived, .requestReceived], sizes, old, new)
        }
        let responses = [ComparedResponse(left, version), ComparedResponse(right, version)]
        compareResponses(responses[0], responses[1])
        try compareBodies("response", responses.map(\.side), responses.map(\.bodySize), old, new)
        if left.record.kind == .webSocket || right.record.kind == .webSocket { try compareMessages(old, new) }
    }

    // MARK: - Heads

    private mutating func compareRequests(_ left: RecordedExchange, _ right: RecordedExchange) {
        let (before, after) = (left.record, right.record)
        fact("method", before.method, after.method)
        fact("scheme", before.url.scheme, after.url.scheme)
        fact("host", before.url.host, after.url.host)
        fact("port", String(before.url.port), String(after.url.port))
        if before.url.path != after.url.path {
            if rules.ignoresVolatile, PathShape.of(before.url.path) == PathShape.of(after.url.path) {
                leave(.identifier)
            } else {
                add("path", before.url.path, after.url.path)
            }
        }
        if before.url.query != after.url.query {
            parameters("request query", before.url.query ?? "", after.url.query ?? "")
        }
        fields("request header", left.messages.requestHead, right.messages.requestHead)
    }

    private mutating func compareResponses(_ left: ComparedResponse, _ right: ComparedResponse) {
        let (before, after) = (left.exchange.record, right.exchange.record)
        func status(_ response: ComparedResponse) -> String { response.status > 0 ? String(response.status) : "none" }
        fact("status", status(left), status(right))
        fact("failure", before.failure?.code.rawValue, after.failure?.code.rawValue)
        fact("gRPC status", before.grpc.map { String($0.status) }, after.grpc.map { String($0.status) })
        fields("response header", left.head, right.head)
    }

    private mutating func fact(_ place: String, _ old: String?, _ new: String?) {
        guard old != new else { return }
        if rules.ignores(parameter: place) { leave(.named) } else { add(place, old, new) }
    }

    private mutating func parameters(_ title: String, _ old: String, _ new: String) {
        let lists = [old, new].map { FormFields.parse(query: $0).map { (name: $0.name, value: $0.value) } }
        for entry in FieldDifference.entries(lists[0], lists[1], ignoringCase: false) {
            change(entry, "\(title) \(entry.name)", rules.ignores(parameter: entry.name) ? .named : nil)
        }
    }

    private mutating func fields(_ title: String, _ old: ByteBuffer?, _ new: ByteBuffer?) {
        guard old != new else { return }
        let sections = [old, new].map { bytes in
            (bytes.map { StoredHead.fieldsAfterStartLine($0) } ?? FieldSection()).filter { !$0.name.hasPrefix(":") }
                .map { (name: $0.name, value: $0.value) }
        }
        for entry in FieldDifference.entries(sections[0], sections[1]) {
            change(entry, "\(title) \(entry.name.lowercased())", rules.reason(field: entry.name))
        }
    }

    private mutating func change(
        _ entry: FieldDifference.Entry,
        _ place: String,
        _ reason: ComparisonRules.Reason?
    ) {
        switch entry.change {
        case .same: return
        case .added(let value): reason.map { leave($0) } ?? add(place, nil, value)
        case .removed(let value): reason.map { leave($0) } ?? add(place, value, nil)
        case .changed(let old, let new):
            if let reason = reason ?? rules.reason(old, new, name: entry.name) {
                leave(reason)
            } else {
                add(place, old, new)
            }
        }
    }

    // MARK: - Bodies

    private mutating func compareBodies(
        _ title: String,
        _ sides: [BodySide],
        _ known: [Int64?],
        _ old: Side,
        _ new: Side
    ) throws {
        let records = [old.exchange.record, new.exchange.record]
        // What follows an upgrade or passes a tunnel is another each time.
        guard records.allSatisfy({ $0.kind == .http }) else { return }
        if known == [0, 0], records.allSatisfy({ $0.state != .inFlight }) { return }
        var whole = [ByteBuffer(), ByteBuffer()]
        for (index, one) in [old, new].enumerated() {
            try RecordedBody(source: one.source, id: one.exchange.record.id, side: sides[index])
                .read(ExchangeDifference.bodyLimit + 1, into: &whole[index])
        }
        let isLong = whole.contains { $0.readableBytes > ExchangeDifference.bodyLimit }
        if whole[0] == whole[1], !isLong { return }
        let bodies = zip([old, new], sides).map { one, side in
            LoadedBody(one.exchange, side, source: one.source, limit: ExchangeDifference.bodyLimit)
        }
        let countBefore = count + leftOut.values.reduce(0, +)
        compare(title, bodies[0], bodies[1])
        guard isLong || bodies.contains(where: \.isCut), count + leftOut.values.reduce(0, +) == countBefore else {
            return
        }
        if try !ExchangeDifference.isSame(sides, old, new) {
            let limit = Measures.size(Int64(ExchangeDifference.bodyLimit))
            let sizes = known.map { $0.map(Measures.size) ?? "other bytes" }
            add("\(title) body, after \(limit)", sizes[0], sizes[1])
        }
    }

    /// Whether two bodies have the same bytes, of any length.
    private static func isSame(_ sides: [BodySide], _ old: Side, _ new: Side) throws -> Bool {
        var offset: Int64 = 0
        while true {
            let pieces = try zip([old, new], sides).map { one, side in
                try one.source.body(of: one.exchange.record.id, side: side, offset: offset, limit: 256 << 10)
            }
            guard pieces[0] == pieces[1] else { return false }
            guard pieces[0].readableBytes > 0 else { return true }
            offset += Int64(pieces[0].readableBytes)
        }
    }

    private mutating func compare(_ title: String, _ old: LoadedBody, _ new: LoadedBody) {
        guard old.bytes != new.bytes else { return }
        if let before = old.tree, let after = new.tree {
            return compare(title, JSONDifference(before, after))
        }
        let isForm = [old, new].allSatisfy { $0.mediaType?.essence == "application/x-www-form-urlencoded" }
        let texts = [old, new].map { $0.bytes.readableBytes == 0 ? "" : $0.text?.text }
        guard let before = texts[0], let after = texts[1] else {
            let place = zip(old.bytes.readableBytesView, new.bytes.readableBytesView).enumerated()
                .first { $0.element.0 != $0.element.1 }?.offset
            let first = place ?? min(old.bytes.readableBytes, new.bytes.readableBytes)
            let sizes = [old, new].map { "\(Measures.size($0.recordedSize)), other bytes from \(first) on" }
            return add("\(title) body", sizes[0], sizes[1])
        }
        isForm ? parameters("\(title) form", before, after) : lines(title, before, after)
    }

    private mutating func compare(_ title: String, _ difference: JSONDifference) {
        for change in difference.places() {
            if rules.ignores(path: change.path, member: change.member) {
                leave(.named)
            } else if let old = change.old, let new = change.new, new.isOfType(of: old),
                let reason = rules.reason(old.plain, new.plain, name: change.member)
            {
                leave(reason)
            } else {
                add("\(title) \(change.path)", change.old?.text, change.new?.text)
            }
        }
    }

    private mutating func lines(_ title: String, _ old: String, _ new: String) {
        let (before, after) = (LineDifference.lines(old), LineDifference.lines(new))
        guard let hunks = LineDifference.hunks(before, after) else {
            return add("\(title) body", before.count.of("line"), "\(after.count.of("line")), most of them others")
        }
        for hunk in hunks {
            let paired = min(hunk.old.count, hunk.new.count)
            for offset in 0..<max(hunk.old.count, hunk.new.count) {
                let left = offset < hunk.old.count ? String(before[hunk.old.lowerBound + offset]) : nil
                let right = offset < hunk.new.count ? String(after[hunk.new.lowerBound + offset]) : nil
                if offset < paired, let left, let right, let reason = rules.reason(left, right) {
                    leave(reason)
                } else {
                    let line = right == nil ? hunk.old.lowerBound + offset : hunk.new.lowerBound + offset
                    add("\(title) line \(line + 1)", left, right)
                }
            }
        }
    }

    // MARK: - Messages

    private mutating func compareMessages(_ old: Side, _ new: Side) throws {
        let lists = try [old, new].map { side in
            var lists: [StreamedMessage.Direction: [String]] = [:]
            guard let timeline = MessageTimeline(side.exchange, source: side.source) else { return lists }
            var count = 0
            while count < ExchangeDifference.mostMessages, let message = try timeline.next() {
                guard message.isCounted else { continue }
                count += 1
                lists[message.direction, default: []].append(message.text ?? "\(message.size) bytes \(message.base64)")
            }
            return lists
        }
        for direction in StreamedMessage.Direction.allCases {
            let name = direction == .fromClient ? "client" : "server"
            let (before, after) = (lists[0][direction] ?? [], lists[1][direction] ?? [])
            if before.count != after.count {
                add("messages of the \(name)", String(before.count), String(after.count))
            }
            for (index, (left, right)) in zip(before, after).enumerated() where left != right {
                let title = "message \(index + 1) of the \(name)"
                if let trees = [left, right].trees {
                    compare(title, JSONDifference(trees.0, trees.1))
                } else if let reason = rules.reason(left, right) {
                    leave(reason)
                } else {
                    add(title, left, right)
                }
            }
        }
    }

    // MARK: - Counting

    private mutating func add(_ place: String, _ old: String?, _ new: String?) {
        count += 1
        guard changes.count < ExchangeDifference.mostChanges else { return }
        func cut(_ value: String) -> String { value.shortened(to: ExchangeDifference.longestValue) }
        changes.append(Change(place: place, old: old.map(cut), new: new.map(cut)))
    }

    private mutating func leave(_ reason: ComparisonRules.Reason) { leftOut[reason, default: 0] += 1 }
}

extension LoadedBody {
    /// The body as JSON; `nil` where it is none, or not all of it was read.
    fileprivate var tree: JSONTree? {
        guard !isCut, bytes.readableBytes > 0, let text = text?.text,
            mediaType?.isJSON == true || text.utf8.first == UInt8(ascii: "{")
        else { return nil }
        return try? JSONTree(Array(text.utf8))
    }
}

extension [String] {
    /// Two texts as JSON; `nil` where one is none.
    fileprivate var trees: (JSONTree, JSONTree)? {
        let trees: [JSONTree] = compactMap { text in
            ["{", "["].contains(text.first) ? try? JSONTree([UInt8](text.utf8)) : nil
        }
        return trees.count == 2 && count == 2 ? (trees[0], trees[1]) : nil
    }
}
