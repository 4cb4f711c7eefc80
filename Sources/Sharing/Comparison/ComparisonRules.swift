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
        "if-none-match", "if-modified-since", "alt-svc", "nel", "report-to",
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
            if place.hasPrefix("$") || place.hasPrefix(".") || place.contains("[") {
                let path = place.hasPrefix("$") ? String(place.dropFirst()) : place
                let rooted = path.hasPrefix(".") || path.hasPrefix("[") ? path : "." + path
                paths.append(rooted.replacing("[*]", with: "[]"))
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

    private static func reason(_ old: String, _ new: String, depth: Int = 0) -> Reason? {
        if VolatileValue.isMoment(old), VolatileValue.isMoment(new) { return .moment }
        if let shape = VolatileValue.shape(old), shape == VolatileValue.shape(new) { return .identifier }
        guard depth < 2, old.utf8.count <= 16 << 10, new.utf8.count <= 16 << 10 else { return nil }
        if depth == 0, old.contains("/"), PathShape.of(old) == PathShape.of(new) { return .identifier }
        let marks = depth == 0 ? separators : inner
        let (left, right) = (pieces(old, marks), pieces(new, marks))
        guard left.count == right.count, left.count > 1 || depth == 0 else { return nil }
        var found: Reason?
        for (before, after) in zip(left, right) where before != after {
            guard let reason = reason(before, after, depth: depth + 1) else { return nil }
            found = reason
        }
        return found
    }

    private static let separators = Set(";=&\"'<>".utf8)
    private static let inner = Set(" ,|".utf8)

    private static func pieces(_ text: String, _ separators: Set<UInt8>) -> [String] {
        text.utf8.split(omittingEmptySubsequences: false) { separators.contains($0) }.map { piece in
            String(decoding: piece, as: UTF8.self).trimmingSpaces
        }
    }
}

extension String {
    fileprivate var trimmingSpaces: String {
        let trimmed = drop { $0 == " " }
        return String(trimmed.reversed().drop { $0 == " " }.reversed())
    }
}

/// Values that are another each time by what they are.
enum VolatileValue {
    enum Shape: Hashable {
        case uuid
        case hexadecimal(length: Int)
        case random
        case token
    }

    /// Whether a value is a date with a time of day, or seconds, milliseconds or microseconds since 1970 from 2001 to 2100.
    static func isMoment(_ text: String) -> Bool {
        let bytes = Array(text.utf8.prefix(48))
        guard let first = bytes.first, bytes.count == text.utf8.count else { return false }
        if bytes.allSatisfy({ $0 &- 0x30 < 10 || $0 == UInt8(ascii: ".") }) {
            let whole = bytes.prefix { $0 != UInt8(ascii: ".") }
            guard bytes.count(where: { $0 == UInt8(ascii: ".") }) <= 1, [10, 13, 16].contains(whole.count) else {
                return false
            }
            let seconds = Int(String(decoding: whole.prefix(10), as: UTF8.self)) ?? 0
            return (978_307_200...4_102_444_800).contains(seconds)
        }
        func isDigit(_ index: Int) -> Bool { bytes[index] &- 0x30 < 10 }
        // 2026-11-22T10:57:03Z, with a blank for the T, with a fraction and a zone (RFC 3339).
        if bytes.count >= 16, isDigit(0), isDigit(3), bytes[4] == 0x2D, bytes[7] == 0x2D, bytes[13] == 0x3A {
            return [0x54, 0x74, 0x20].contains(bytes[10]) && isDigit(5) && isDigit(8) && isDigit(11) && isDigit(14)
        }
        // Sun, 22 Nov 2026 10:57:03 GMT (RFC 9110 §5.6.7).
        let letters = (first | 0x20) &- 0x61 < 26
        guard letters, bytes.count >= 24, bytes.contains(0x3A) else { return false }
        let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]
        return days.contains(String(decoding: bytes.prefix(3), as: UTF8.self).lowercased())
            && (bytes[3] == UInt8(ascii: ",") || bytes[3] == UInt8(ascii: " "))
    }

    /// What a value looks like that was made by chance; `nil` for others, whole numbers among them.
    static func shape(_ text: String) -> Shape? {
        let bytes = text.utf8
        guard bytes.count >= 16, bytes.count <= 8 << 10, let first = bytes.first else { return nil }
        if bytes.allSatisfy({ $0 &- 0x30 < 10 || $0 == UInt8(ascii: "-") }) { return nil }
        if bytes.count == 36, bytes.filter({ $0 == UInt8(ascii: "-") }).count == 4, PathShape.isIdentifier(text) {
            return .uuid
        }
        let isHex = bytes.allSatisfy { $0 &- 0x30 < 10 || ($0 | 0x20) &- 0x61 < 6 }
        if isHex { return bytes.contains { $0 &- 0x30 < 10 } ? .hexadecimal(length: bytes.count) : nil }
        // A JSON Web Token, or another one of three parts.
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        if parts.count == 3, first == UInt8(ascii: "e"), parts.allSatisfy({ isBase64($0.utf8) && $0.utf8.count >= 8 }) {
            return .token
        }
        return isBase64(bytes) && PathShape.isIdentifier(text) ? .random : nil
    }

    private static func isBase64(_ bytes: some Sequence<UInt8>) -> Bool {
        bytes.allSatisfy { byte in
            byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 26 || "-_=+/".utf8.contains(byte)
        }
    }
}
