import Content
import ExchangeCore
import Expressions
import HTTPModel
import NIOCore
import Rules
import Text

/// The rewrite tool: named sets of rules that edit heads and bodies; each set has its own locations.
///
/// Rules for heads run when a head arrives, rules for bodies when the body is complete; within each group the user's
/// order counts. A body is buffered only if a rule edits it and if it can be text: a stream, a part of a body (206) or
/// a binary type passes unmodified, and the trace says so.
struct Rewrite: RuleTool {
    struct Rule: ToolRule {
        var heading: RuleHeading
        let set: RewriteSet
    }

    let rules: RuleList<Rule>

    func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
        let found = rules.matches(opening)
        return found.isEmpty ? nil : RewritingHandler(found, opening)
    }

    static func directions(of rule: Rule) -> Set<FlowDirection> { rule.set.directions }
}

/// Applies the rules of some sets to one exchange.
private final class RewritingHandler: StageHandler {
    private let found: [RuleMatch<Rewrite.Rule>]
    private var sets: [RewriteSet]
    /// Of the sets with edits of values.
    private let values: [ObjectIdentifier: ValueContext]
    /// The method as the client sent it.
    private let method: String
    private(set) var requestDemand = BodyDemand.none
    private(set) var responseDemand = BodyDemand.none

    /// Credentials are for the server that a rule names, so the client's name for an address must be verified.
    var needsVerifiedName: Bool { sets.contains(where: \.addsCredentials) }

    private let allowance = MatchingAllowance()

    init(_ found: [RuleMatch<Rewrite.Rule>], _ opening: ExchangeOpening) {
        self.found = found
        sets = found.map(\.rule.set)
        let withValues = found.filter(\.rule.set.hasValues)
        values = Dictionary(
            withValues.map { (ObjectIdentifier($0.rule.set), ValueContext(opening, $0)) },
            uniquingKeysWith: { first, _ in first }
        )
        method = opening.head.method
    }

    // MARK: - Heads

    func requestHead(_ head: inout RequestHead, _ exchange: inout StageExchange) -> Verdict {
        var place: RequestPlace?
        for (set, rule) in rules(\.requestHead) {
            if let claim = exchange.claim, !claim.isVerified, rule.addsCredentials {
                let word = "that \(claim.address) is \(exchange.url.host) is only the client's word"
                exchange.note("\(rule.name): credentials were not added, because \(word)")
                continue
            }
            apply(rule, .request, &exchange) { exchange in
                switch rule.edit {
                case .header(let edit): return try edit.apply(to: &head.fields).map { "request header: \($0)" }
                case .query(let edit):
                    return try edited(&place, &head, &exchange) { url in
                        var parameters = QueryParameters(url.query)
                        guard let change = try edit.apply(to: &parameters) else { return nil }
                        url.query = parameters.query
                        return "query: \(change)"
                    }
                case .cookie(let edit):
                    return try edit.apply(toRequest: &head.fields).map { "request cookie: \($0)" }
                case .place(let edit): return try edited(&place, &head, &exchange) { try edit.apply(to: &$0) }
                case .value(let edit) where edit.place.part == .query:
                    return try edited(&place, &head, &exchange) { url in
                        var writer = PlaceWriter(
                            isRequest: true,
                            fields: FieldSection(),
                            query: url.query.map { Array($0.utf8) }
                        )
                        guard let change = try apply(edit, of: set, to: &writer) else { return nil }
                        url.query = writer.query.map { String(decoding: $0, as: UTF8.self) }
                        return change
                    }
                case .value(let edit): return try apply(edit, of: set, to: &head.fields, .request)
                case .status, .body: return nil
                }
            } absence: { exchange in
                switch rule.edit {
                case .header(let edit): edit.absence(in: head.fields, "request header")
                case .query(let edit):
                    edit.absence(in: QueryParameters((place?.url ?? exchange.url).query), "parameter")
                case .cookie(let edit): edit.absence(in: head.fields, .cookie)
                case .place(let edit): edit.absence(in: place?.url ?? exchange.url)
                case .value(let edit): edit.absence
                case .status, .body: ""
                }
            }
        }
        if sets.contains(where: { !$0.bodies(.request).isEmpty }) {
            requestDemand = demand(head.fields, .request, &exchange)
        }
        return .forward
    }

    func responseHead(_ head: inout ResponseHead, _ exchange: inout StageExchange) -> Verdict {
        sets = found.filter(\.holds).map(\.rule.set)
        for (set, rule) in rules(\.responseHead) {
            apply(rule, .response, &exchange) { _ in
                switch rule.edit {
                case .header(let edit): try edit.apply(to: &head.fields).map { "response header: \($0)" }
                case .cookie(let edit): try edit.apply(toResponse: &head.fields).map { "response cookie: \($0)" }
                case .status(let edit): try edit.apply(to: &head)
                case .value(let edit): try apply(edit, of: set, to: &head.fields, .response)
                case .query, .place, .body: nil
                }
            } absence: { _ in
                switch rule.edit {
                case .header(let edit): edit.absence(in: head.fields, "response header")
                case .cookie(let edit): edit.absence(in: head.fields, .setCookie)
                case .status: "the status is \(head.status)"
                case .value(let edit): edit.absence
                case .query, .place, .body: ""
                }
            }
        }
        guard sets.contains(where: { !$0.bodies(.response).isEmpty }) else { return .forward }
        switch head.status {
        case 101:
            exchange.note("a stream follows the protocol change; body rules do not apply to it")
            miss(.response, "the protocol changes, and a stream follows")
        case 206:
            exchange.note("a partial body (206) passes unmodified, because it must fit the other parts")
            miss(.response, "a partial body (206) passes unmodified")
        case _ where method == "HEAD", 204, 304: miss(.response, "there is none")
        default: responseDemand = demand(head.fields, .response, &exchange)
        }
        return .forward
    }

    private func rules(
        _ part: @escaping (RewriteSet) -> [RewriteRule]
    ) -> some Sequence<(set: RewriteSet, rule: RewriteRule)> {
        sets.lazy.flatMap { set in part(set).lazy.map { (set: set, rule: $0) } }
    }

    private func apply(_ edit: ValueEdit, of set: RewriteSet, to writer: inout PlaceWriter) throws -> String? {
        try values[ObjectIdentifier(set)].flatMap { try edit.apply(to: &writer, $0) }
    }

    private func apply(
        _ edit: ValueEdit,
        of set: RewriteSet,
        to fields: inout FieldSection,
        _ direction: FlowDirection
    ) throws -> String? {
        var writer = PlaceWriter(isRequest: direction == .request, fields: fields)
        let change = try apply(edit, of: set, to: &writer)
        if change != nil { fields = writer.fields }
        return change
    }

    /// Makes one edit and traces it; `absence` returns why the edit changed nothing.
    private func apply(
        _ rule: RewriteRule,
        _ direction: FlowDirection,
        _ exchange: inout StageExchange,
        _ edit: (inout StageExchange) throws -> String?,
        absence: (StageExchange) -> String
    ) {
        do {
            let change = try MatchingAllowance.$current.withValue(allowance) { try edit(&exchange) }
            if let change {
                exchange.fired(rule: rule.name, change)
            } else {
                MissedEdits.current?.add(rule.name, direction, absence(exchange))
            }
        } catch {
            MissedEdits.current?.add(rule.name, direction, RewritingHandler.reason(error))
            exchange.note("\(rule.name): \(RewritingHandler.reason(error)); nothing was changed")
        }
    }

    /// Adds to `MissedEdits`, if a dry run collects them, why rules for bodies change nothing.
    private func miss(_ direction: FlowDirection, _ reason: @autoclosure () -> String) {
        guard MissedEdits.current != nil else { return }
        for set in sets {
            for rule in set.bodies(direction) { RewritingHandler.miss(rule, direction, reason()) }
        }
    }

    private static func miss(_ rule: RewriteRule, _ direction: FlowDirection, _ reason: @autoclosure () -> String) {
        MissedEdits.current?.add(rule.name, direction, "\(direction) body: \(reason())")
    }

    private static func reason(_ error: any Error) -> String {
        (error as? UnusableEditError)?.reason ?? "the regular expression took too long and was stopped"
    }

    /// Makes one edit of the URL, and updates target, destination and Host.
    private func edited(
        _ place: inout RequestPlace?,
        _ head: inout RequestHead,
        _ exchange: inout StageExchange,
        _ edit: (inout RequestURL) throws -> String?
    ) throws -> String? {
        let current = try place ?? RequestPlace(head, exchange)
        var next = current
        let change = try edit(&next.url)
        place = next
        if change != nil { next.commit(after: current, &head, &exchange) }
        return change
    }

    // MARK: - Bodies

    /// Demands the whole body for the rules that edit it, unless the body cannot be edited.
    private func demand(
        _ fields: FieldSection,
        _ direction: FlowDirection,
        _ exchange: inout StageExchange
    ) -> BodyDemand {
        let type = fields.value(of: .contentType).flatMap { MediaType($0) }
        if let kind = LiveStream.kind(fields, direction) {
            exchange.note("a stream (\(kind)) passes unmodified; body rules do not apply to it")
            miss(direction, "a stream (\(kind)) is not edited")
        } else if fields.contains("content-range") {
            exchange.note("a partial body (Content-Range) passes unmodified, because it must fit the other parts")
            miss(direction, "a partial body (Content-Range) passes unmodified")
        } else if !canEdit(type, direction, &exchange) {
            return .none
        } else if let type, !type.isTextual, RewritingHandler.binaryTypes.contains(type.type) {
            exchange.note("the \(direction) body passes unmodified: \(type.essence) is not text")
            miss(direction, "\(type.essence) is not text")
        } else {
            return .whole(limit: BodyLimits.edited, decoded: true)
        }
        return .none
    }

    /// Whether any rule can edit a body of this type; the trace has the rules that cannot.
    private func canEdit(_ type: MediaType?, _ direction: FlowDirection, _ exchange: inout StageExchange) -> Bool {
        var canEdit = false
        for (_, rule) in rules({ $0.bodies(direction) }) {
            guard case .value(let edit) = rule.edit, !rule.canEdit(type) else {
                canEdit = true
                continue
            }
            let reason = "\(type?.essence ?? "a body of no stated type") cannot have \(edit.place)"
            RewritingHandler.miss(rule, direction, reason)
            // A message without a type usually has no body.
            if type != nil { exchange.note("\(rule.name): \(direction) body: \(reason); nothing was changed") }
        }
        return canEdit
    }

    /// Binary types, except for their textual subtypes such as `image/svg+xml` (RFC 7303, RFC 6839).
    private static let binaryTypes: Set<String> = ["image", "audio", "video", "font", "model"]

    func whole(
        _ direction: FlowDirection,
        _ fields: inout FieldSection,
        _ body: inout ByteBuffer,
        _ exchange: inout StageExchange
    ) -> Verdict {
        // A request without a body does not get one.
        if direction == .response || body.readableBytes > 0 || fields.contains(.contentLength) {
            rewrite(&fields, &body, direction, &exchange)
        } else {
            miss(.request, "there is none")
        }
        return .forward
    }

    /// Refuses a message whose body cannot be buffered, if a strict set edits this body.
    func overflowed(
        _ direction: FlowDirection,
        _ fields: inout FieldSection,
        _ exchange: inout StageExchange
    ) -> Verdict {
        guard sets.contains(where: { $0.isStrict && !$0.bodies(direction).isEmpty }) else { return .forward }
        let reason = exchange.lacksRoom ? "the memory for bodies is full" : "it is larger than 16 MiB"
        let text = "A strict rewrite set has to edit the \(direction) body, but \(reason)."
        exchange.note(text)
        let tooLarge = direction == .request ? 413 : 502
        let status = exchange.lacksRoom ? 503 : tooLarge
        return .refuse(.explanation(status: status, title: "A body could not be edited", text: text))
    }

    private func rewrite(
        _ fields: inout FieldSection,
        _ body: inout ByteBuffer,
        _ direction: FlowDirection,
        _ exchange: inout StageExchange
    ) {
        let type = fields.value(of: .contentType).flatMap { MediaType($0) }
        do throws(UnusableEditError) {
            var text = try TextBody(body, mediaType: type)
            var changes: [(rule: String, change: String)] = []
            for (set, rule) in rules({ $0.bodies(direction) }) where rule.canEdit(type) {
                do {
                    let (change, absence) = try edited(&text, fields, direction, by: rule, of: set)
                    if let change {
                        changes.append((rule.name, change))
                    } else {
                        RewritingHandler.miss(rule, direction, absence())
                    }
                } catch {
                    let reason = RewritingHandler.reason(error)
                    RewritingHandler.miss(rule, direction, reason)
                    exchange.note("\(rule.name): \(direction) body: \(reason); nothing was changed")
                }
            }
            guard text.isEdited else { return }
            let edited = try text.encoded()
            let sizes = " (\(body.readableBytes.grouped) → \(edited.readableBytes.grouped) bytes)"
            for (index, (rule, change)) in changes.enumerated() {
                exchange.fired(rule: rule, "\(direction) body: \(change)\(index == changes.count - 1 ? sizes : "")")
            }
            body = edited
            RewritingHandler.removeDigests(&fields, &exchange)
        } catch {
            exchange.note("the \(direction) body passes unmodified: \(error.reason)")
            miss(direction, error.reason)
        }
    }

    /// Makes one edit of a body; returns the change, or why the edit changed nothing.
    private func edited(
        _ text: inout TextBody,
        _ fields: FieldSection,
        _ direction: FlowDirection,
        by rule: RewriteRule,
        of set: RewriteSet
    ) throws -> (change: String?, absence: () -> String) {
        switch rule.edit {
        case .body(let edit):
            let change = try MatchingAllowance.$current.withValue(allowance) { try edit.apply(to: &text) }
            let edited = text
            return (change, { edit.absence(in: edited) })
        case .value(let edit):
            var writer = PlaceWriter(isRequest: direction == .request, fields: fields)
            writer.body = text.bytes
            let change = try apply(edit, of: set, to: &writer)
            if change != nil { _ = text.replaceAll(with: writer.body) }
            return (change, { edit.absence })
        case .header, .query, .cookie, .place, .status: return (nil, { "" })
        }
    }

    /// Digests of the body's bytes (RFC 9530 and predecessors). `ETag` is kept: it names the server's version.
    private static let digests: [FieldName] = ["content-md5", "digest", "content-digest", "repr-digest"]

    private static func removeDigests(_ fields: inout FieldSection, _ exchange: inout StageExchange) {
        for name in digests where fields.removeAll(name) > 0 {
            exchange.note("removed \(name), which the edit made invalid")
        }
    }
}

/// The URL of a request as edited so far.
private struct RequestPlace {
    var url: RequestURL

    init(_ head: RequestHead, _ exchange: StageExchange) throws(UnusableEditError) {
        guard head.targetBytes.first == UInt8(ascii: "/") else {
            throw UnusableEditError(reason: "the target '\(head.target.clipped(to: 40))' has no path")
        }
        guard UTF8Check.isValid(head.targetBytes) else { throw UnusableEditError(reason: "the URL is not valid UTF-8") }
        url = exchange.url
        url.scheme = PlaceEdit.connectedScheme(url.scheme)
        url.setPathAndQuery(head.target)
    }

    /// Updates the message. The same host keeps its destination, which may be the address of a tunnel.
    func commit(after before: RequestPlace, _ head: inout RequestHead, _ exchange: inout StageExchange) {
        if url.path != before.url.path || url.query != before.url.query { head.target = url.pathAndQuery }
        guard (url.scheme, url.host, url.port) != (before.url.scheme, before.url.host, before.url.port) else { return }
        exchange.destination = Destination(scheme: url.scheme, host: url.host, port: url.port)
        head.fields.set("Host", url.authority)
    }
}
