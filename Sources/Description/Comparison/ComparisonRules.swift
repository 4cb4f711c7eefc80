import HTTPModel

/// In what two exchanges may differ and behave the same all the same.
package struct ComparisonRules: Sendable, Hashable {
    /// Why a difference is left out.
    package enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The user named its place.
        case named
        /// A field that is another in every exchange, or follows from the body.
        case field
        /// Both are moments.
        case moment
        /// Both are identifiers of one shape.
        case identifier
    }

    /// Fields that are another in every exchange, or say how a message was framed.
    package static let volatileFields: Set<String> = [
        "date", "age", "expires", "last-modified", "x-request-id", "request-id", "x-correlation-id", "traceparent",
        "tracestate", "x-amzn-trace-id", "x-cloud-trace-context", "cf-ray", "x-runtime", "x-response-time",
        "server-timing", "x-served-by", "x-timer", "x-amz-request-id", "x-amz-id-2", "x-cache", "x-cache-hits", "via",
        "content-length", "transfer-encoding", "connection", "keep-alive", "proxy-connection", "etag",
        "if-none-match", "if-modified-since", "alt-svc", "nel", "report-to", "x-sluice-mark",
    ]

    /// Names of fields, parameters and JSON members, in lower case.
    private var names: Set<String> = []
    /// Places in JSON, with `[]` for any element.
    private var paths: [String] = []
    /// Whether fields, moments and identifiers are left out without being named.
    package let ignoresVolatile: Bool

    /// Takes names of fields, parameters and JSON members, and places in JSON such as `$.meta.took` or `.items[].id`, with all
    /// below them. `isExact`: nothing else is left out.
    package init(ignoring places: [String] = [], isExact: Bool = false) {
        ignoresVolatile = !isExact
        for place in places {
            if ComparisonRules.isPath(place) {
                paths.append(ComparisonRules.steps(place).replacing("[*]", with: "[]"))
            } else {
                names.insert(place.lowercased())
            }
        }
    }

    // MARK: - By place

    /// Why a header field of a name is left out whatever its value; `nil` where it counts.
    func reason(field name: String) -> Reason? {
        let name = name.lowercased()
        if names.contains(name) { return .named }
        return ignoresVolatile && ComparisonRules.volatileFields.contains(name) ? .field : nil
    }

    package func ignores(parameter name: String) -> Bool { names.contains(name.lowercased()) }

    /// Whether a place in JSON, as `$.items[3].id`, or what is above it, was named.
    package func ignores(path: String, member: String?) -> Bool {
        if let member, names.contains(member.lowercased()) { return true }
        guard !paths.isEmpty else { return false }
        let exact = String(path.dropFirst(path.hasPrefix("$") ? 1 : 0))
        let general = ComparisonRules.withoutIndices(exact)
        return paths.contains { pattern in
            [exact, general].contains { place in
                guard place.hasPrefix(pattern) else { return false }
                let next = place.dropFirst(pattern.count).first
                return next == nil || next == "." || next == "["
            }
        }
    }

    /// A place in JSON with `[]` for each element: `$.items[].id`.
    package static func withoutIndices(_ path: String) -> String {
        guard path.utf8.contains(UInt8(ascii: "[")) else { return path }
        var general: [UInt8] = []
        var isIndex = false
        for byte in path.utf8 {
            if isIndex, byte &- 0x30 < 10 { continue }
            isIndex = byte == UInt8(ascii: "[")
            general.append(byte)
        }
        return String(decoding: general, as: UTF8.self)
    }

    // MARK: - By look

    /// Why the difference of two values is left out; `nil` where it counts. `name` is that of the member or parameter.
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

    /// Looks at the whole texts, then at the pieces between signs, each with the one in its place.
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

    /// Takes what is before the next sign, or all that is left; without the spaces around it.
    private static func piece(_ rest: inout Slice<Bytes>, _ signs: [Bool]) -> Bytes {
        let end = rest.firstIndex { signs[Int($0)] } ?? rest.endIndex
        var piece = rest[..<end]
        rest = end < rest.endIndex ? rest[(end + 1)...] : rest[end...]
        while piece.first == 0x20 { piece.removeFirst() }
        while piece.last == 0x20 { piece.removeLast() }
        return Bytes(rebasing: piece)
    }
}
