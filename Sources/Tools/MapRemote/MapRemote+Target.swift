import ExchangeCore
import HTTPModel
import Rules
import Text

/// The target of a map-remote rule: parts of a URL, in which `$1` is a capture.
struct RemoteTarget: Sendable {
    private enum Form: Sendable {
        case fixed(RemoteParts)
        case text(Part)
        case fields([Location.Field: Part])
    }

    /// A text with captures and values.
    private struct Part: Sendable {
        let template: ValueTemplate
        let replacement: Replacement
        var isFixed: Bool { !replacement.hasGroups && template.constant != nil }

        init(_ template: ValueTemplate) { (self.template, replacement) = (template, Replacement(template)) }
    }

    /// The values of one request, by the text that has them.
    struct Values {
        fileprivate var filled: [Location.Field?: [FilledText]] = [:]
        var haveSecrets: Bool { filled.values.joined().contains { $0.text != $0.shown } }
    }

    private let form: Form
    /// The highest number of a capture in the target; 0 if it has no captures.
    let highestCapture: Int
    /// Whether the remainder of the path is appended: not if the path has captures.
    let appendsRemainder: Bool
    let hasPath: Bool
    let hasQuery: Bool

    /// Reads `[protocol://][host[:port]][/path][?query]`.
    init(_ text: ValueTemplate) throws(RemoteParts.TargetError) {
        let (front, path) = RemoteTarget.split(text.named(RemoteTarget.sample))
        hasPath = path.hasPrefix("/")
        hasQuery = path.contains("?")
        if text.beginning.map({ RemoteTarget.split($0).path.isEmpty }) == true {
            throw RemoteParts.TargetError(message: RemoteTarget.misplaced)
        }
        let part = Part(text)
        if !part.replacement.hasGroups {
            let parts = try RemoteParts(RemoteTarget.filled(part))
            form = part.isFixed ? .fixed(parts) : .text(part)
        } else {
            if let scheme = RemoteParts.scheme(of: front), !RemoteTarget.template(scheme).hasGroups {
                _ = try RemoteParts.scheme(scheme)
            }
            form = .text(part)
        }
        highestCapture = part.replacement.highestGroup
        appendsRemainder = !RemoteTarget.template(path.prefix { $0 != "?" }).hasGroups
    }

    /// Reads the parts of a URL one by one.
    init(_ fields: [Location.Field: ValueTemplate]) throws(RemoteParts.TargetError) {
        let parts = fields.filter { $0.value.constant != "" }.mapValues { Part($0) }
        hasPath = parts[.path] != nil
        hasQuery = parts[.query] != nil
        for (field, part) in parts where part.template.constant == nil && field != .path && field != .query {
            throw RemoteParts.TargetError(message: RemoteTarget.misplaced, field: field)
        }
        // Parts without captures can be checked now.
        let checked = parts.filter { !$0.value.replacement.hasGroups }
        let fixed = try RemoteParts(checked.mapValues { RemoteTarget.filled($0) })
        form = parts.values.allSatisfy(\.isFixed) ? .fixed(fixed) : .fields(parts)
        highestCapture = parts.values.map(\.replacement.highestGroup).max() ?? 0
        appendsRemainder = parts[.path]?.replacement.hasGroups != true
    }

    private static let misplaced = "values act in the path and the query of 'to', not in protocol, host and port"
    /// Stands for a value whose text does not matter.
    private static let sample = "v"

    private static func filled(_ part: Part, _ captures: [String] = [], _ values: [String]? = nil) -> String {
        part.replacement.filled(captures, values: values ?? part.template.valueNames.map { _ in sample })
    }

    /// The values for one request.
    func values(_ context: ValueContext) throws(ValueError) -> Values {
        var values = Values()
        switch form {
        case .fixed: break
        case .text(let part): values.filled[nil] = try part.template.values(context)
        case .fields(let parts):
            for field in Location.Field.allCases { values.filled[field] = try parts[field]?.template.values(context) }
        }
        return values
    }

    /// The parts with captures and values. In a trace, secret values have their names. Without values, as for tunnels,
    /// path and query are not usable.
    func parts(
        _ captures: [String],
        _ values: Values?,
        isTrace: Bool = false
    ) throws(RemoteParts.TargetError) -> RemoteParts {
        func filled(_ part: Part, _ field: Location.Field?) -> String {
            let texts = values.map { values in
                (values.filled[field] ?? []).map { isTrace && $0.shown != $0.text ? $0.shown : $0.text.asURLPart }
            }
            return RemoteTarget.filled(part, captures, texts)
        }
        let parts: RemoteParts
        let hasValues: Bool
        switch form {
        case .fixed(let fixed): return fixed
        case .text(let part):
            parts = try RemoteParts(filled(part, nil))
            hasValues = part.template.constant == nil
        case .fields(let fields):
            parts = try RemoteParts(Dictionary(uniqueKeysWithValues: fields.map { ($0, filled($1, $0)) }))
            hasValues = fields[.path]?.template.constant == nil
        }
        if hasValues, parts.path?.split(separator: "/").contains(where: { $0 == "." || $0 == ".." }) == true {
            throw RemoteParts.TargetError(message: "with its values the path has a part '.' or '..'")
        }
        return parts
    }

    /// Everything before the path, and the path with the query.
    private static func split(_ text: String) -> (front: Substring, path: Substring) {
        var rest = text[...]
        if let scheme = RemoteParts.scheme(of: rest) { rest = rest.dropFirst(scheme.count + 3) }
        let start = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
        return (text[..<start], rest[start...])
    }

    private static func template(_ text: some StringProtocol) -> Replacement {
        Replacement(String(text), hasGroups: true)
    }
}

/// The new parts of a request's URL; `nil` to keep a part.
struct RemoteParts: Sendable, Hashable {
    /// Why a target is invalid.
    struct TargetError: Error {
        /// Without a full stop.
        let message: String
        /// The part with the error, if the user wrote the parts separately.
        var field: Location.Field?
    }

    /// `http` or `https`.
    private(set) var scheme: String?
    /// Without brackets.
    private(set) var host: String?
    private(set) var port: Int?
    private(set) var path: String?
    private(set) var query: String?

    /// Reads `[protocol://][host[:port]][/path][?query]`; a protocol without a port means its default port.
    init(_ text: String) throws(TargetError) {
        var rest = text[...]
        if let scheme = RemoteParts.scheme(of: rest) {
            self.scheme = try RemoteParts.scheme(scheme)
            rest = rest.dropFirst(scheme.count + 3)
            port = RequestURL.defaultPort(of: self.scheme ?? "")
        }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        if !authority.isEmpty {
            guard let (host, port) = RequestURL.splitAuthority(authority) else {
                throw TargetError(message: "'\(authority.prefix(80))' is not a host, nor a host and a port")
            }
            self.host = HostForms(host)?.ascii ?? host
            self.port = port ?? self.port
        } else if scheme != nil {
            let message = "the host after '://' is missing; to change only the protocol, write { protocol: … }"
            throw TargetError(message: message)
        }
        try setTarget(rest.dropFirst(authority.count))
    }

    /// Reads the parts one by one; empty parts are ignored.
    init(_ fields: [Location.Field: String]) throws(TargetError) {
        for (field, text) in fields where !text.isEmpty {
            do throws(TargetError) {
                try set(field, text)
            } catch {
                throw TargetError(message: error.message, field: field)
            }
        }
        // A capture in the path may contain a query.
        if let path, let mark = path.firstIndex(of: "?") {
            if query == nil { query = String(path[path.index(after: mark)...]) }
            self.path = String(path[..<mark])
        }
    }

    private mutating func set(_ field: Location.Field, _ text: String) throws(TargetError) {
        switch field {
        case .protocol: scheme = try RemoteParts.scheme(text)
        case .host:
            guard let host = text.asHost else {
                let hint = RequestURL.splitAuthority(text)?.port == nil ? "" : "; the port has a key of its own"
                throw TargetError(message: "'\(text.prefix(80))' is no host\(hint)")
            }
            self.host = HostForms(host)?.ascii ?? host
        case .port:
            guard let number = Int(text), (1...65_535).contains(number) else {
                throw TargetError(message: "'\(text.prefix(20))' is no port")
            }
            port = number
        case .path:
            let path = text.hasPrefix("/") ? text : "/" + text
            try RemoteParts.check(path)
            self.path = path
        case .query:
            let query = text.hasPrefix("?") ? String(text.dropFirst()) : text
            try RemoteParts.check(query)
            self.query = query
        }
    }

    private mutating func setTarget(_ text: Substring) throws(TargetError) {
        try RemoteParts.check(text)
        let path = text.prefix { $0 != "?" }
        if !path.isEmpty { self.path = String(path) }
        let query = text.dropFirst(path.count + 1)
        if !query.isEmpty { self.query = String(query) }
    }

    /// Refuses characters that a request target cannot have (RFC 9112 §3.2).
    static func check(_ target: some StringProtocol) throws(TargetError) {
        for scalar in target.unicodeScalars {
            if scalar.value <= 0x20 || scalar.value == 0x7F {
                let message = "a path or query cannot have spaces or control characters; write %20 for a space"
                throw TargetError(message: message)
            }
            if scalar == "#" { throw TargetError(message: "'#' begins a fragment, which is never sent; write %23") }
        }
    }

    /// The text before `://`; `nil` if it is missing or part of a path or query.
    static func scheme(of text: some StringProtocol) -> String? {
        let front = text.prefix { $0 != "/" && $0 != "?" }
        guard front.last == ":", text.dropFirst(front.count).hasPrefix("//") else { return nil }
        return String(front.dropLast())
    }

    /// The protocol to speak; a WebSocket begins as HTTP.
    static func scheme(_ text: String) throws(TargetError) -> String {
        switch text.lowercased() {
        case "http", "ws": return "http"
        case "https", "wss": return "https"
        default:
            let known = "there are http, https, ws and wss"
            throw TargetError(message: "'\(text.prefix(40))' is no protocol to map to; \(known)")
        }
    }

    /// Applies the new scheme, host and port to a destination.
    func place(_ destination: inout Destination) {
        let before = destination.scheme
        if let scheme { destination.scheme = scheme }
        if let port {
            destination.port = port
        } else if destination.port == RequestURL.defaultPort(of: before) {
            // A default port becomes the default port of the new scheme.
            destination.port = RequestURL.defaultPort(of: destination.scheme) ?? destination.port
        }
        if let host {
            destination.host = host
            // TLS uses and verifies the new host's name, and that name is looked up.
            destination.serverName = nil
            destination.address = nil
        }
    }
}

extension String {
    fileprivate var asURLPart: String {
        String(decoding: PercentEncoding.encode(self, keeping: PercentEncoding.unreserved), as: UTF8.self)
    }
}
