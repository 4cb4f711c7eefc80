import ExchangeCore
import HTTPModel
import Rules

/// Where a map-remote rule sends requests: parts of a URL, in which `$1` stands for what was found.
struct RemoteTarget: Sendable {
    private enum Form: Sendable {
        case fixed(RemoteParts)
        case text(CaptureTemplate)
        case fields([Location.Field: CaptureTemplate])
    }

    private let form: Form
    /// The highest capture that it refers to; 0 for none.
    let highestCapture: Int
    /// Whether what is left of the path is added to that of the target: not where the path says itself what goes there.
    let appendsRemainder: Bool
    /// Whether it says anything about the path.
    let hasPath: Bool
    /// Whether it has a query of its own.
    let hasQuery: Bool

    /// Reads `[protocol://][host[:port]][/path][?query]`.
    init(_ text: String) throws(RemoteParts.Problem) {
        let (front, path) = RemoteTarget.split(text)
        hasPath = path.hasPrefix("/")
        hasQuery = path.contains("?")
        let template = CaptureTemplate(text)
        guard template.hasCaptures else {
            form = .fixed(try RemoteParts(template.filled([])))
            highestCapture = 0
            appendsRemainder = true
            return
        }
        if let scheme = RemoteParts.scheme(of: front), !RemoteTarget.hasCaptures(scheme) {
            _ = try RemoteParts.scheme(scheme)
        }
        form = .text(template)
        highestCapture = template.highestCapture
        appendsRemainder = !RemoteTarget.hasCaptures(path.prefix { $0 != "?" })
    }

    /// Takes the parts of a URL one by one.
    init(_ fields: [Location.Field: String]) throws(RemoteParts.Problem) {
        let fields = fields.filter { !$0.value.isEmpty }
        hasPath = fields[.path] != nil
        hasQuery = fields[.query] != nil
        let templates = fields.mapValues { CaptureTemplate($0) }
        // What has nothing to be filled in can be checked now.
        let fixed = try RemoteParts(templates.filter { !$0.value.hasCaptures }.mapValues { $0.filled([]) })
        guard templates.values.contains(where: \.hasCaptures) else {
            form = .fixed(fixed)
            highestCapture = 0
            appendsRemainder = true
            return
        }
        form = .fields(templates)
        highestCapture = templates.values.map(\.highestCapture).max() ?? 0
        appendsRemainder = templates[.path]?.hasCaptures != true
    }

    /// The target with what was found filled in.
    func parts(_ captures: [String]) throws(RemoteParts.Problem) -> RemoteParts {
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

    private static func hasCaptures(_ text: some StringProtocol) -> Bool { CaptureTemplate(String(text)).hasCaptures }
}

/// A text in which `$1` to `$9` stand for what was found, and `$$` for a dollar sign; a lone `$` is one too, as in
/// `/$metadata`.
private struct CaptureTemplate: Sendable {
    /// What stands between the captures; a number before each but the first says which one.
    private var pieces: [(capture: Int, text: String)] = [(0, "")]

    /// Whether there is anything to fill in.
    var hasCaptures: Bool { pieces.count > 1 }

    var highestCapture: Int { pieces.map(\.capture).max() ?? 0 }

    init(_ text: String) {
        var rest = text[...]
        while let character = rest.popFirst() {
            if character == "$", rest.first == "$" {
                rest.removeFirst()
            } else if character == "$", let number = rest.first?.wholeNumberValue, rest.first?.isASCII == true {
                rest.removeFirst()
                pieces.append((number, ""))
                continue
            }
            pieces[pieces.count - 1].text.append(character)
        }
    }

    /// The text with captures filled in; one that is not there, as `$0`, is nothing.
    func filled(_ captures: [String]) -> String {
        pieces.reduce(into: "") { text, piece in
            if captures.indices.contains(piece.capture - 1) { text += captures[piece.capture - 1] }
            text += piece.text
        }
    }
}

/// The parts of a URL that a request is to get; `nil` keeps what it has.
struct RemoteParts: Sendable, Hashable {
    /// Why a text is no place to send requests to.
    struct Problem: Error {
        /// In words, without a full stop.
        let message: String
        /// The part it is about, where they were given one by one.
        var field: Location.Field?
    }

    /// `http` or `https`.
    private(set) var scheme: String?
    /// Without brackets.
    private(set) var host: String?
    private(set) var port: Int?
    private(set) var path: String?
    private(set) var query: String?

    /// Reads `[protocol://][host[:port]][/path][?query]`; a protocol without a port means its usual one.
    init(_ text: String) throws(Problem) {
        var rest = text[...]
        if let scheme = RemoteParts.scheme(of: rest) {
            self.scheme = try RemoteParts.scheme(scheme)
            rest = rest.dropFirst(scheme.count + 3)
            port = RequestURL.defaultPort(of: self.scheme ?? "")
        }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        if !authority.isEmpty {
            guard let (host, port) = RequestURL.splitAuthority(authority) else {
                throw Problem(message: "'\(authority.prefix(80))' is no host, nor a host and a port")
            }
            self.host = host
            self.port = port ?? self.port
        } else if scheme != nil {
            throw Problem(message: "there is no host after '://'; to change only the protocol, write { protocol: … }")
        }
        try setTarget(rest.dropFirst(authority.count))
    }

    /// Takes the parts one by one; blank ones count for nothing.
    init(_ fields: [Location.Field: String]) throws(Problem) {
        for (field, text) in fields where !text.isEmpty {
            do throws(Problem) {
                try set(field, text)
            } catch {
                throw Problem(message: error.message, field: field)
            }
        }
        // A capture in the path may bring a query with it.
        if let path, let mark = path.firstIndex(of: "?") {
            if query == nil { query = String(path[path.index(after: mark)...]) }
            self.path = String(path[..<mark])
        }
    }

    private mutating func set(_ field: Location.Field, _ text: String) throws(Problem) {
        switch field {
        case .protocol: scheme = try RemoteParts.scheme(text)
        case .host:
            guard let host = text.asHost else {
                let hint = RequestURL.splitAuthority(text)?.port == nil ? "" : "; the port has a key of its own"
                throw Problem(message: "'\(text.prefix(80))' is no host\(hint)")
            }
            self.host = host
        case .port:
            guard let number = Int(text), (1...65_535).contains(number) else {
                throw Problem(message: "'\(text.prefix(20))' is no port")
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

    private mutating func setTarget(_ text: Substring) throws(Problem) {
        try RemoteParts.check(text)
        let path = text.prefix { $0 != "?" }
        if !path.isEmpty { self.path = String(path) }
        let query = text.dropFirst(path.count + 1)
        if !query.isEmpty { self.query = String(query) }
    }

    /// Refuses what cannot stand in a request target (RFC 9112 §3.2).
    static func check(_ target: some StringProtocol) throws(Problem) {
        for scalar in target.unicodeScalars {
            if scalar.value <= 0x20 || scalar.value == 0x7F {
                throw Problem(
                    message: "a path or query cannot have blanks or control characters; write %20 for a blank"
                )
            }
            if scalar == "#" { throw Problem(message: "'#' begins a fragment, which is never sent; write %23") }
        }
    }

    /// What stands before `://`; `nil` where that is not there, or is part of a path or query.
    static func scheme(of text: some StringProtocol) -> String? {
        let front = text.prefix { $0 != "/" && $0 != "?" }
        guard front.last == ":", text.dropFirst(front.count).hasPrefix("//") else { return nil }
        return String(front.dropLast())
    }

    /// The protocol to speak; a WebSocket begins as HTTP.
    static func scheme(_ text: String) throws(Problem) -> String {
        switch text.lowercased() {
        case "http", "ws": return "http"
        case "https", "wss": return "https"
        default:
            throw Problem(message: "'\(text.prefix(40))' is no protocol to map to; there are http, https, ws and wss")
        }
    }

    /// Changes where a request goes.
    func place(_ destination: inout Destination) {
        let before = destination.scheme
        if let scheme { destination.scheme = scheme }
        if let port {
            destination.port = port
        } else if destination.port == RequestURL.defaultPort(of: before) {
            // Kept is that it is the usual port, not which one that was.
            destination.port = RequestURL.defaultPort(of: destination.scheme) ?? destination.port
        }
        if let host {
            destination.host = host
            // The new host is also whom TLS is to name and verify, and where its name leads.
            destination.serverName = nil
            destination.address = nil
        }
    }
}
