import ExchangeCore
import HTTPModel
import Rules
import Text

/// The target of a map-remote rule: parts of a URL, in which `$1` is a capture.
struct RemoteTarget: Sendable {
    private enum Form: Sendable {
        case fixed(RemoteParts)
        case text(Replacement)
        case fields([Location.Field: Replacement])
    }

    private let form: Form
    /// The highest number of a capture in the target; 0 if it has no captures.
    let highestCapture: Int
    /// Whether the remainder of the path is appended: not if the path has captures.
    let appendsRemainder: Bool
    let hasPath: Bool
    let hasQuery: Bool

    /// Reads `[protocol://][host[:port]][/path][?query]`.
    init(_ text: String) throws(RemoteParts.TargetError) {
        let (front, path) = RemoteTarget.split(text)
        hasPath = path.hasPrefix("/")
        hasQuery = path.contains("?")
        let template = RemoteTarget.template(text)
        if !template.hasGroups {
            form = .fixed(try RemoteParts(template.plain))
        } else {
            if let scheme = RemoteParts.scheme(of: front), !RemoteTarget.template(scheme).hasGroups {
                _ = try RemoteParts.scheme(scheme)
            }
            form = .text(template)
        }
        highestCapture = template.highestGroup
        appendsRemainder = !RemoteTarget.template(path.prefix { $0 != "?" }).hasGroups
    }

    /// Reads the parts of a URL one by one.
    init(_ fields: [Location.Field: String]) throws(RemoteParts.TargetError) {
        let fields = fields.filter { !$0.value.isEmpty }
        hasPath = fields[.path] != nil
        hasQuery = fields[.query] != nil
        let templates = fields.mapValues { RemoteTarget.template($0) }
        // Parts without captures can be checked now.
        let fixed = try RemoteParts(templates.filter { !$0.value.hasGroups }.mapValues(\.plain))
        form = templates.values.contains(where: \.hasGroups) ? .fields(templates) : .fixed(fixed)
        highestCapture = templates.values.map(\.highestGroup).max() ?? 0
        appendsRemainder = templates[.path]?.hasGroups != true
    }

    func parts(_ captures: [String]) throws(RemoteParts.TargetError) -> RemoteParts {
        switch form {
        case .fixed(let parts): return parts
        case .text(let template): return try RemoteParts(template.filled(captures))
        case .fields(let templates): return try RemoteParts(templates.mapValues { $0.filled(captures) })
        }
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
