/// A tool as one of several that act on the same exchange, and all that it does there.
///
/// The cases stand in the order in which requests pass the tools.
enum ComposedTool: String, CaseIterable, Sendable, CustomStringConvertible {
    case allow
    case block
    case noCaching = "no-caching"
    case blockCookies = "block-cookies"
    case rewrite
    case mapRemote = "map-remote"
    case mapLocal = "map-local"
    case breakpoints
    case dnsSpoofing = "dns-spoofing"
    case throttle
    case mirror

    var description: String { rawValue }

    /// The order in which responses pass the tools.
    static let responseOrder: [ComposedTool] = [
        .noCaching, .blockCookies, .rewrite, .mirror, .breakpoints, .throttle,
    ]
}

/// Some tools that act on one exchange.
struct Composition: Sendable, CustomStringConvertible {
    let number: Int
    let tools: Set<ComposedTool>

    init(_ number: Int, _ tools: [ComposedTool]) {
        self.number = number
        self.tools = Set(tools)
    }

    var description: String { ComposedTool.allCases.filter(tools.contains).map(\.rawValue).joined(separator: " + ") }

    /// Whether a line of the server's is about it.
    func isSeen(in line: String) -> Bool { line.contains("/c\(number)/") || line.contains("/remote\(number)/") }

    /// Each tool alone, all pairs, and all that let a request pass.
    static let all: [Composition] = {
        let tools = ComposedTool.allCases
        var sets: [[ComposedTool]] = [[]] + tools.map { [$0] }
        for (index, first) in tools.enumerated() { sets += tools[(index + 1)...].map { [first, $0] } }
        sets.append(tools.filter { $0 != .allow && $0 != .block })
        sets.append(tools.filter { $0 != .allow && $0 != .block && $0 != .mapLocal })
        return sets.enumerated().map { Composition($0.offset, $0.element) }
    }()

    /// What the client asks for; the path is the composition's own, and all rules go by it.
    func url(_ port: Int) -> String { "https://localhost:\(port)/c\(number)/page?x=1" }
    /// Which requests are this composition's.
    func location(_ port: Int) -> String { "https://localhost:\(port)/c\(number)/*" }

    static let requestFields = ["Cookie: client=1", "Cache-Control: max-age=60", "If-None-Match: \"old\""]
    static let localBody = "place a file\n"

    // MARK: - The profile

    /// A profile with the rules of some compositions, which contradict each other wherever they can.
    static func profile(_ compositions: [Composition], secure: Int, other: Int) -> String {
        func rules(_ tool: ComposedTool, _ text: (Composition) -> String) -> String {
            let entries = compositions.filter { $0.tools.contains(tool) }.map { "  - \(text($0))\n" }
            return entries.isEmpty ? "" : "\(tool):\n" + entries.joined()
        }
        let allowed = compositions.filter { !$0.tools.contains(.allow) }.map { "\"\($0.location(secure))\"" }
        return """
            version: 1
            allow: { at: [\(allowed.joined(separator: ", "))], action: 403 }
            \(rules(.block) { "{ at: \"\($0.location(secure))\", action: 410 }" })
            \(rules(.noCaching) { "{ only: \"\($0.location(secure))\" }" })
            \(rules(.blockCookies) { "{ only: \"\($0.location(secure))\" }" })
            \(rules(.rewrite) {
                """
                at: "\($0.location(secure))"
                    rules:
                      - { modify: header, on: request, name: Cache-Control, to: rewritten }
                      - { add: header, on: request, name: Cookie, to: "late=1" }
                      - { modify: path, match: page, to: edited }
                      - { modify: query, name: x, to: "2" }
                      - { add: header, on: response, name: Set-Cookie, to: "late=2" }
                      - { modify: header, on: response, name: Expires, to: rewritten }
                      - { modify: status, to: "203" }
                      - { modify: body, on: response, match: place, to: location }
                """
            })
            \(rules(.mapRemote) {
                "{ from: \"\($0.location(secure))\", to: \"https://localhost:\(other)/remote\($0.number)/\" }"
            })
            \(rules(.mapLocal) { "{ from: \"\($0.location(secure))\", to: files/ }" })
            \(rules(.mirror) { "{ only: \"\($0.location(secure))\", to: mirrored/ }" })
            \(rules(.breakpoints) {
                "{ at: \"\($0.location(secure))\", on: [request, response], after: 30ms, then: execute }"
            })
            \(rules(.throttle) { "{ only: \"\($0.location(secure))\", latency: 60 }" })
            \(compositions.contains { $0.tools.contains(.dnsSpoofing) }
                ? "dns-spoofing: { host: localhost, address: 127.0.0.2 }" : "")

            """
    }
}

// MARK: - The model

/// What is to become of an exchange: a request that passes some tools, in the documented order, and its answer.
struct ComposedExchange {
    /// Ports of the server.
    let secure: Int
    let other: Int
    let composition: Composition

    // The request as it would be sent now.
    var path: String
    var query = "x=1"
    var port: Int
    var address = "127.0.0.1"
    var cookies = ["client=1"]
    var cacheControl = "max-age=60"
    var condition = "\"old\""
    var pragma = ""

    // The answer as the client would get it now.
    var refusal: Int?
    var file: String?
    var status = 200
    var word = "place"
    var responseCacheControl = "max-age=100"
    var expires = "Tue, 01 Jan 2030 00:00:00 GMT"
    var setCookies = ["server=1; Path=/", "second=2"]
    var hasValidators = true

    var mirrored: String?
    var isHeld = false
    /// The tools that say they did something, in order.
    var trace: [String] = []
    /// The least time the exchange takes, in milliseconds.
    var milliseconds = 0.0

    /// Plays a composition.
    init(_ composition: Composition, secure: Int, other: Int) {
        (self.composition, self.secure, self.other) = (composition, secure, other)
        path = "/c\(composition.number)/page"
        port = secure
        for tool in ComposedTool.allCases where composition.tools.contains(tool) {
            request(tool)
            if refusal != nil { return }
        }
        if file != nil {
            (responseCacheControl, expires, setCookies, hasValidators) = ("", "", [], false)
        }
        for tool in ComposedTool.responseOrder where composition.tools.contains(tool) { response(tool) }
    }

    private mutating func fired(_ tool: ComposedTool) {
        if trace.last != tool.rawValue { trace.append(tool.rawValue) }
    }

    private mutating func request(_ tool: ComposedTool) {
        switch tool {
        case .allow: refusal = 403
        case .block: refusal = 410
        case .noCaching: (cacheControl, pragma, condition) = ("no-cache", "no-cache", "")
        case .blockCookies: cookies = []
        case .rewrite:
            cacheControl = "rewritten"
            cookies.append("late=1")
            path = path.replacing("page", with: "edited")
            query = "x=2"
        // What is left over of the path is that of the URL as the client sent it.
        case .mapRemote: (path, port) = ("/remote\(composition.number)/page", other)
        case .mapLocal: file = Composition.localBody
        case .breakpoints:
            isHeld = true
            milliseconds += 30
        case .dnsSpoofing:
            // What is answered here is looked up nowhere.
            guard file == nil else { return }
            address = "127.0.0.2"
        case .throttle: milliseconds += 60
        case .mirror: return
        }
        fired(tool)
    }

    private mutating func response(_ tool: ComposedTool) {
        switch tool {
        case .noCaching: (responseCacheControl, expires, hasValidators) = ("no-cache", "0", false)
        case .blockCookies:
            guard !setCookies.isEmpty else { return }
            setCookies = []
        case .rewrite:
            setCookies.append("late=2")
            if !expires.isEmpty { expires = "rewritten" }
            (status, word) = (203, "location")
        case .mirror:
            guard file == nil else { return }
            mirrored = body
        case .breakpoints: milliseconds += 30
        default: return
        }
        fired(tool)
    }

    /// The body as the client would get it now; only the parts that a test looks at.
    private var body: String { "\(word) \(file == nil ? "\(address):\(port)" : "a file")" }

    /// Everything that can be seen of it.
    func facts(version: String) -> [String: String] {
        var facts = [
            "client's version": version, "status": "\(refusal ?? status)", "trace": trace.joined(separator: " "),
            "held": "\(isHeld)", "blocked": "\(refusal != nil)", "mirrored": mirrored ?? "",
        ]
        if refusal != nil { return facts.merging(["body": "Sluice: Blocked"]) { $1 } }
        facts.merge([
            "body": body, "response Cache-Control": responseCacheControl, "Expires": expires,
            "Set-Cookie": setCookies.joined(separator: " | "), "validators": "\(hasValidators)",
        ]) { $1 }
        guard file == nil else { return facts }
        let url = "https://localhost:\(port)\(path)?\(query)"
        facts.merge([
            "server saw": "\(address):\(port) GET \(path)?\(query)", "url": url, "server's version": "HTTP/\(version)",
            "cookie": cookies.joined(separator: "; "), "cache": cacheControl, "pragma": pragma, "match": condition,
            "sent": url == composition.url(secure) ? "" : url,
        ]) { $1 }
        return facts
    }
}
