package import Content
package import HTTPModel

/// The differences between two exchanges that do not matter.
package struct ComparisonRules: Sendable, Hashable {
    /// Why a difference is left out.
    package enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The user named its place.
        case named
        /// A field that differs in every exchange, or depends on the body.
        case field
        /// Both values are times.
        case moment
        /// Both values are identifiers of the same shape.
        case identifier
    }

    /// Fields that differ in every exchange, or describe how a message is framed.
    package static let volatileFields: Set<String> = [
        "date", "age", "expires", "last-modified", "x-request-id", "request-id", "x-correlation-id", "traceparent",
        "tracestate", "x-amzn-trace-id", "x-cloud-trace-context", "cf-ray", "x-runtime", "x-response-time",
        "server-timing", "x-served-by", "x-timer", "x-amz-request-id", "x-amz-id-2", "x-cache", "x-cache-hits", "via",
        "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection", "etag",
        "if-none-match", "if-modified-since", "alt-svc", "nel", "report-to", "x-sluice-mark",
    ]

    private var names: Set<String> = []
    private var places: [Place] = []
    /// Whether volatile fields, times and identifiers are left out although no rule names them.
    package let ignoresVolatile: Bool

    /// With `isExact` only what the rules name is left out.
    package init(ignoring rules: [IgnoreRule] = [], isExact: Bool = false) {
        ignoresVolatile = !isExact
        for rule in rules {
            switch rule {
            case .name(let name): names.insert(name.lowercased())
            case .place(let place): places.append(place)
            }
        }
    }

    var namesNothing: Bool { names.isEmpty && places.isEmpty }

    /// Why a difference is left out regardless of its values; `nil` if it counts.
    func reason(_ subject: ExchangeDifference.Subject) -> Reason? {
        if ignores(subject) { return .named }
        guard ignoresVolatile, case .place(let place) = subject else { return nil }
        return ComparisonRules.isVolatile(place) ? .field : nil
    }

    /// Whether the place is a header field that differs in every exchange.
    static func isVolatile(_ place: Place) -> Bool {
        place.part == .header && place.name.map { volatileFields.contains($0) } ?? false
    }

    func ignores(_ subject: ExchangeDifference.Subject) -> Bool {
        if namesNothing { return false }
        if names.contains(subject.name.lowercased()) { return true }
        guard case .place(let place) = subject else { return false }
        return places.contains { $0.covers(place) }
    }

    /// A JSON text without its ignored values; `nil` if the whole text is ignored.
    func kept(of tree: JSONTree, _ root: Place.Root) -> JSONTree? {
        let paths = places.filter { $0.root == root && $0.part == .json }
        guard !names.isEmpty || !paths.isEmpty else { return tree }
        var ignored = Set(paths.flatMap { tree.nodes(at: $0.steps) })
        for node in tree.nodes.indices where !names.isEmpty {
            if let name = tree.name(of: node), names.contains(name.lowercased()) { ignored.insert(node) }
        }
        if ignored.contains(0) { return nil }
        return ignored.isEmpty ? tree : tree.without(ignored)
    }

    package func kept(of fields: [FormField], _ part: Place.Part) -> [FormField] {
        if namesNothing { return fields }
        var counts: [String: Int] = [:]
        return fields.filter { field in
            let index = counts[field.name, default: 0]
            counts[field.name] = index + 1
            return !ignores(.place(Place(.request, part, [.member(field.name), .element(index)])))
        }
    }

    /// Why the difference of two values is left out; `nil` if it counts. `name` is the member's or parameter's name.
    func reason(_ old: String, _ new: String, name: String? = nil) -> Reason? {
        guard ignoresVolatile else { return nil }
        if let name, ComparisonRules.namesIdentifier(name), ComparisonRules.isShort(old), ComparisonRules.isShort(new) {
            return .identifier
        }
        return ComparisonRules.reason(old, new)
    }

    private static func isShort(_ value: String) -> Bool { !value.isEmpty && value.utf8.count <= 64 }

    /// `id`, `orderId`, `order_id`, `uuid` and the like.
    private static func namesIdentifier(_ name: String) -> Bool {
        let lower = name.lowercased()
        return ["id", "uuid", "guid", "nonce", "etag"].contains(lower) || name.hasSuffix("Id") || name.hasSuffix("ID")
            || lower.hasSuffix("_id") || lower.hasSuffix("-id") || lower.hasSuffix("uuid")
    }

    private typealias Bytes = UnsafeBufferPointer<UInt8>

    private static func reason(_ old: String, _ new: String) -> Reason? {
        var (old, new) = (old, new)
        return old.withUTF8 { old in new.withUTF8 { reason(old, $0, depth: 0) } }
    }

    /// Compares the whole texts, and then their pieces between separators, each with the piece at the same position.
    private static func reason(_ old: Bytes, _ new: Bytes, depth: Int) -> Reason? {
        if VolatileValue.isMoment(old), VolatileValue.isMoment(new) { return .moment }
        if let shape = VolatileValue.shape(old), shape == VolatileValue.shape(new) { return .identifier }
        guard depth < 2, old.count <= 16 << 10, new.count <= 16 << 10 else { return nil }
        if depth == 0, old.contains(UInt8(ascii: "/")), PathShape.isSame(old, new) { return .identifier }
        let marks = depth == 0 ? separators : inner
        let count = old.count { marks[Int($0)] }
        guard count == new.count(where: { marks[Int($0)] }), count > 0 || depth == 0 else { return nil }
        var found: Reason?
        var (left, right) = (old[...], new[...])
        for _ in 0...count {
            let (before, after) = (piece(&left, marks), piece(&right, marks))
            guard !before.elementsEqual(after) else { continue }
            guard let reason = reason(before, after, depth: depth + 1) else { return nil }
            found = reason
        }
        return found
    }

    private static let separators = table(";=&\"'<>")
    private static let inner = table(" ,|")

    private static func table(_ signs: String) -> [Bool] {
        let signs = Set(signs.utf8)
        return (0...255).map { signs.contains($0) }
    }

    /// Takes the piece before the next separator, or the whole rest, without the spaces around it.
    private static func piece(_ rest: inout Slice<Bytes>, _ signs: [Bool]) -> Bytes {
        let end = rest.firstIndex { signs[Int($0)] } ?? rest.endIndex
        var piece = rest[..<end]
        rest = end < rest.endIndex ? rest[(end + 1)...] : rest[end...]
        while piece.first == 0x20 { piece.removeFirst() }
        while piece.last == 0x20 { piece.removeLast() }
        return Bytes(rebasing: piece)
    }
}
