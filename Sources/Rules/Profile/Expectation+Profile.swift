import ExchangeCore
import HTTPModel
import NIOCore

/// How profiles write their own tests.
extension Expectation {
    static let requestKeys: [GrammarKey] = [
        GrammarKey("method", .text, "The method.", example: "method: POST", fallback: "GET"),
        GrammarKey(
            "url",
            .text,
            "What is asked for; after CONNECT host and port.",
            example: "url: https://api.example.com/v1/users"
        ),
        headers,
        body,
    ]

    static let responseKeys: [GrammarKey] = [
        GrammarKey("status", .number(100...999, unit: ""), "The status code.", example: "status: 404", fallback: "200"),
        headers,
        body,
    ]

    private static let headers = GrammarKey(
        "headers",
        .names(.list(.text)),
        "The fields; Host and Content-Length are added where they are not there.",
        example: "headers: { Accept: application/json, Cookie: [ a=1, b=2 ] }",
        fallback: "none"
    )
    private static let body = GrammarKey("body", .text, "The body.", example: "body: '{\"a\":1}'", fallback: "none")

    static let sentKeys: [GrammarKey] = [
        GrammarKey("method", .text, "The method that goes out.", example: "method: GET"),
        GrammarKey("url", .pattern, "The URL that goes out.", example: "url: http://localhost:3000/users"),
        GrammarKey(
            "address",
            .pattern,
            "What is connected to in place of the host, where dns-spoofing names something; ~ for nothing.",
            example: "address: 127.0.0.1"
        ),
        testedHeaders,
        testedBody,
    ]

    static let answerKeys: [GrammarKey] = [
        GrammarKey("status", .text, "The status code, or a class of them.", example: "status: 2xx"),
        testedHeaders,
        testedBody,
    ]

    private static let testedHeaders = GrammarKey(
        "headers",
        .names(.pattern),
        "The fields: the whole value, /a regular expression/ found in it, or ~ for a field that is not there.",
        example: "headers: { X-Sluice: seen, Server: /nginx/, Cookie: ~ }"
    )
    private static let testedBody = GrammarKey(
        "body",
        .pattern,
        "The body without its content coding: the whole text, or /a regular expression/ found in it.",
        example: "body: '/\"plan\":\"pro\"/'"
    )

    /// What stands under `expect`.
    package static let keys: [GrammarKey] = [
        GrammarKey(
            "name",
            .text,
            "What the test is called.",
            example: "name: users are a fixture",
            fallback: "its request"
        ),
        GrammarKey(
            "request",
            .either(.text, .mapping(requestKeys)),
            "The request that a client sends: METHOD URL, or a mapping.",
            example: "request: GET https://api.example.com/v1/users"
        ),
        GrammarKey(
            "response",
            .mapping(responseKeys),
            "What a server answers, if one is asked.",
            example: "response: { status: 200, headers: { Set-Cookie: a=1 }, body: hello }",
            fallback: "200 without a body"
        ),
        GrammarKey(
            "fires",
            .list(.text),
            "The tools, or rules as tool/name, that fire: exactly these, in the order in which each first does.",
            example: "fires: [ map-remote, rewrite ]"
        ),
        GrammarKey(
            "sends",
            .either(.text, .mapping(sentKeys)),
            "What goes out: its URL, 'nothing', or a mapping of what matters.",
            example: "sends: http://localhost:3000/v1/users"
        ),
        GrammarKey(
            "answers",
            .either(.text, .mapping(answerKeys)),
            "What the client is answered: a status, or a mapping of what matters.",
            example: "answers: { status: 200, headers: { X-Sluice: seen } }"
        ),
        GrammarKey("blocked", .flag, "Whether a list refuses the request.", example: "blocked: true"),
        GrammarKey(
            "held",
            .either(.flag, .list(.choice(["request", "response"]))),
            "Which messages are held at a breakpoint; true for the request, false for none.",
            example: "held: [ request, response ]"
        ),
        GrammarKey("fails", .flag, "Whether it ends as though the network had failed.", example: "fails: true"),
    ]

    /// Reads one entry; `nil` where it cannot be used.
    init?(_ node: Node, _ reader: inout ProfileReader) {
        guard let fields = reader.fields(node, "an expectation", keys: Expectation.keys) else { return nil }
        let request = reader.required(fields, "request", "an expectation").flatMap { RehearsedRequest($0, &reader) }
        let written = fields["name"].flatMap { reader.text($0, "name") } ?? ""
        let response = fields["response"].flatMap { RehearsedResponse($0, &reader) } ?? RehearsedResponse()
        var checks: [Check] = []
        if let node = fields["fires"] { checks.append(.fires(Expectation.fired(node, &reader))) }
        if let node = fields["sends"], let check = Expectation.sends(node, &reader) { checks.append(check) }
        if let node = fields["answers"], let check = Expectation.answers(node, &reader) { checks.append(check) }
        if let node = fields["blocked"], let flag = reader.flag(node, "blocked") { checks.append(.isBlocked(flag)) }
        if let node = fields["held"], let held = Expectation.held(node, &reader) { checks.append(.isHeld(held)) }
        if let node = fields["fails"], let flag = reader.flag(node, "fails") { checks.append(.fails(flag)) }
        let names = ["fires", "sends", "answers", "blocked", "held", "fails"]
        if names.allSatisfy({ fields[$0] == nil }) {
            reader.error("an expectation needs one of \(names.joined(separator: ", "))", at: node)
        }
        // By now all that is wrong with it was found.
        guard let request else { return nil }
        name = written.isEmpty ? "\(request.method) \(request.url)" : written
        place = reader.place(node)
        self.request = request
        self.response = response
        self.checks = checks
    }

    /// `[ tool, tool/rule ]`.
    private static func fired(_ node: Node, _ reader: inout ProfileReader) -> [FiredName] {
        reader.list(node).compactMap { entry in
            guard let text = reader.text(entry, "fires") else { return nil }
            let slash = text.firstIndex(of: "/")
            let tool = String(text[..<(slash ?? text.endIndex)])
            let rule = slash.map { String(text[text.index(after: $0)...]) }
            if let tool = reader.tools[key: tool] {
                return FiredName(tool: tool.id, rule: rule)
            }
            let known = reader.tools.inOrder.map(\.key)
            reader.error("there is no tool '\(tool.prefix(40))'\(Suggestion.text(for: tool, among: known))", at: entry)
            return nil
        }
    }

    private static func sends(_ node: Node, _ reader: inout ProfileReader) -> Check? {
        guard node.mapping != nil else {
            guard let text = reader.text(node, "sends") else { return nil }
            if text == "nothing" { return .sendsNothing }
            guard RequestURL(text) != nil || RehearsedRequest(method: "CONNECT", target: text) != nil else {
                reader.error("sends must be a URL, 'nothing' or a mapping, not '\(text.prefix(40))'", at: node)
                return nil
            }
            return .sends(MessageTest(url: .text(RequestURL(text)?.description ?? text)))
        }
        return message(node, "sends", sentKeys, &reader).map { .sends($0) }
    }

    private static func answers(_ node: Node, _ reader: inout ProfileReader) -> Check? {
        guard node.mapping != nil else {
            return status(node, "answers", &reader).map { .answers(MessageTest(status: $0)) }
        }
        return message(node, "answers", answerKeys, &reader).map { .answers($0) }
    }

    /// Of the keys only those are there that the grammar has.
    private static func message(
        _ node: Node,
        _ what: String,
        _ keys: [GrammarKey],
        _ reader: inout ProfileReader
    ) -> MessageTest? {
        guard let fields = reader.fields(node, what, keys: keys) else { return nil }
        var test = MessageTest()
        test.method = fields["method"].flatMap { reader.text($0, "method") }
        test.url = fields["url"].flatMap { ValueTest($0, "url", &reader) }
        test.address = fields["address"].flatMap { ValueTest($0, "address", &reader) }
        test.status = fields["status"].flatMap { status($0, "status", &reader) }
        for (name, node) in fields["headers"].map({ reader.pairs($0, "headers") }) ?? [] {
            if let value = ValueTest(node, name, &reader) { test.fields.append((name, value)) }
        }
        test.body = fields["body"].flatMap { ValueTest($0, "body", &reader) }
        return test
    }

    package static func status(_ node: Node, _ what: String, _ reader: inout ProfileReader) -> StatusTest? {
        guard let text = reader.text(node, what) else { return nil }
        if let test = StatusTest(text) { return test }
        reader.error("\(what) must be a status such as 200 or 2xx, not '\(text.prefix(40))'", at: node)
        return nil
    }

    private static func held(_ node: Node, _ reader: inout ProfileReader) -> Set<FlowDirection>? {
        switch node.scalar?.string {
        case "true": return [.request]
        case "false": return []
        default:
            let choices: [(String, FlowDirection)] = [("request", .request), ("response", .response)]
            return Set(reader.list(node).compactMap { reader.choice($0, "held", choices) })
        }
    }
}

extension ValueTest {
    /// `~` for absent, `/…/` for a regular expression, else the whole text.
    fileprivate init?(_ node: Node, _ what: String, _ reader: inout ProfileReader) {
        guard let text = reader.text(node, what) else { return nil }
        if node.isNothing {
            self = .absent
        } else if text.utf8.count > 2, text.hasPrefix("/"), text.hasSuffix("/") {
            guard let pattern = reader.pattern(node, text, isCaseSensitive: true, isWhole: false) else { return nil }
            self = .expression(pattern, source: text)
        } else {
            self = .text(text.hasPrefix("\\/") ? String(text.dropFirst()) : text)
        }
    }
}

extension RehearsedRequest {
    /// `METHOD URL`, or a mapping.
    fileprivate init?(_ node: Node, _ reader: inout ProfileReader) {
        guard node.mapping != nil else {
            guard let text = reader.text(node, "request") else { return nil }
            guard let request = RehearsedRequest(text) else {
                reader.error(
                    "request must be METHOD URL, as in GET https://example.com/, not '\(text.prefix(40))'",
                    at: node
                )
                return nil
            }
            self = request
            return
        }
        guard let fields = reader.fields(node, "request", keys: Expectation.requestKeys),
            let url = reader.required(fields, "url", "request"), let target = reader.text(url, "url")
        else { return nil }
        let method = fields["method"].flatMap { reader.text($0, "method") } ?? "GET"
        guard let request = RehearsedRequest(method: method, target: target) else {
            reader.error("'\(method.prefix(20)) \(target.prefix(40))' is no request", at: url)
            return nil
        }
        self = request
        self.fields = fields["headers"].map { reader.headerFields($0) } ?? []
        body = fields["body"].flatMap { reader.text($0, "body") }.map { ByteBuffer(string: $0) }
    }
}

extension RehearsedResponse {
    fileprivate init?(_ node: Node, _ reader: inout ProfileReader) {
        guard let fields = reader.fields(node, "response", keys: Expectation.responseKeys) else { return nil }
        self.init()
        status = reader.number(fields, "status").map { Int($0) } ?? 200
        self.fields = fields["headers"].map { reader.headerFields($0) } ?? []
        body = fields["body"].flatMap { reader.text($0, "body") }.map { ByteBuffer(string: $0) }
    }
}

extension ProfileReader {
    /// The entries of a mapping whose keys are the user's.
    package mutating func pairs(_ node: Node, _ what: String) -> [(String, Node)] {
        guard let mapping = node.mapping else {
            error("\(what) must be a mapping of names to values, not \(node.kind)", at: node)
            return []
        }
        return mapping.compactMap { member in
            if let name = member.key.scalar?.string { return (name, member.value) }
            error("a name must be a text", at: member.key)
            return nil
        }
    }

    /// Header fields as a mapping of names to a value or several.
    fileprivate mutating func headerFields(_ node: Node) -> [(name: String, value: String)] {
        var fields: [(name: String, value: String)] = []
        for (name, node) in pairs(node, "headers") {
            guard !name.isEmpty, name.utf8.allSatisfy(ProfileReader.isTokenByte) else {
                error("'\(name.prefix(40))' cannot be the name of a header", at: node)
                continue
            }
            for entry in list(node) {
                guard let value = text(entry, name) else { continue }
                if value.utf8.contains(where: { ($0 < 0x20 && $0 != 0x09) || $0 == 0x7F }) {
                    error("the value of a header cannot have line breaks or control characters", at: entry)
                } else {
                    fields.append((name, value))
                }
            }
        }
        return fields
    }
}
