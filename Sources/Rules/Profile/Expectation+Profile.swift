import ExchangeCore
import HTTPModel
import NIOCore
import Text

extension Expectation {
    static let requestKeys: [GrammarKey] = [
        GrammarKey("method", .text, example: "POST", fallback: "GET").means("The method."),
        GrammarKey("url", .text, example: "https://api.example.com/v1/users")
            .means("The request target; host and port for CONNECT."),
        headers,
        body,
    ]

    static let responseKeys: [GrammarKey] = [
        GrammarKey("status", .number(100...999, unit: ""), example: "404", fallback: "200").means("The status code."),
        headers,
        body,
    ]

    private static let headers = GrammarKey("headers", .names(.list(.text)), fallback: "none")
        .example("{ Accept: application/json, Cookie: [ a=1, b=2 ] }")
        .means("The header fields; Host and Content-Length are added if missing.")
    private static let body = GrammarKey("body", .text, example: "'{\"a\":1}'", fallback: "none").means("The body.")

    static let sentKeys: [GrammarKey] = [
        GrammarKey("method", .text, example: "GET").means("The sent method."),
        GrammarKey("url", .pattern, example: "http://localhost:3000/users").means("The sent URL."),
        GrammarKey("address", .pattern, example: "127.0.0.1")
            .means("The address from dns-spoofing to connect to; ~ for none."),
        testedHeaders,
        testedBody,
    ]

    static let answerKeys: [GrammarKey] = [
        GrammarKey("status", .text, example: "2xx").means("The status code, or a class of them."),
        testedHeaders,
        testedBody,
    ]

    private static let testedHeaders = GrammarKey("headers", .names(.pattern))
        .example("{ X-Sluice: seen, Server: /nginx/, Cookie: ~ }")
        .means("The header fields: the whole value, a /regular expression/ found in it, or ~ for a missing field.")
    private static let testedBody = GrammarKey("body", .pattern, example: "'/\"plan\":\"pro\"/'")
        .means("The decoded body: the whole text, or a /regular expression/ found in it.")

    static let keys: [GrammarKey] = [
        GrammarKey("name", .text, example: "users are a fixture", fallback: "its request").means("The test's name."),
        GrammarKey("request", .either(.text, .mapping(requestKeys)), example: "GET https://api.example.com/v1/users")
            .means("The request that a client sends: METHOD URL, or a mapping."),
        GrammarKey("response", .mapping(responseKeys), fallback: "200 without a body")
            .example("{ status: 200, headers: { Set-Cookie: a=1 }, body: hello }")
            .means("The server's answer, if a server is asked."),
        GrammarKey("fires", .list(.text), example: "[ map-remote, rewrite ]")
            .means("The tools, or rules as tool/name, that act: exactly these, in this order."),
        GrammarKey("sends", .either(.text, .mapping(sentKeys)), example: "http://localhost:3000/v1/users")
            .means("The sent request: its URL, 'nothing', or a mapping."),
        GrammarKey("answers", .either(.text, .mapping(answerKeys)))
            .example("{ status: 200, headers: { X-Sluice: seen } }")
            .means("The client's answer: a status, or a mapping."),
        GrammarKey("blocked", .flag, example: "true").means("Whether a list refuses the request."),
        GrammarKey("held", .either(.flag, .directions), example: "[ request, response ]")
            .means("Which messages are held at a breakpoint; true for the request, false for none."),
        GrammarKey("fails", .flag, example: "true").means("Whether the exchange fails like a network failure."),
    ]

    init?(_ node: Node, _ reader: inout ProfileReader) {
        guard let fields = reader.fields(node, "an expectation", keys: Expectation.keys) else { return nil }
        let request = reader.required(fields, "request", "an expectation").flatMap { DryRunRequest($0, &reader) }
        let written = reader.text(fields, "name") ?? ""
        let response = fields["response"].flatMap { DryRunResponse($0, &reader) } ?? DryRunResponse()
        var checks: [Check] = []
        if let node = fields["fires"] { checks.append(.fires(Expectation.fired(node, &reader))) }
        if let node = fields["sends"], let check = Expectation.sends(node, &reader) { checks.append(check) }
        if let node = fields["answers"], let check = Expectation.answers(node, &reader) { checks.append(check) }
        if let flag = reader.flag(fields, "blocked") { checks.append(.isBlocked(flag)) }
        if let node = fields["held"] { checks.append(.isHeld(Expectation.held(node, &reader))) }
        if let flag = reader.flag(fields, "fails") { checks.append(.fails(flag)) }
        let names = ["fires", "sends", "answers", "blocked", "held", "fails"]
        if names.allSatisfy({ fields[$0] == nil }) {
            reader.error("an expectation needs one of \(names.joined(separator: ", "))", at: node)
        }
        // Returned only now, so that all errors in the expectation are found.
        guard let request else { return nil }
        name = written.isEmpty ? "\(request.method) \(request.url)" : written
        place = reader.place(node)
        (self.request, self.response, self.checks) = (request, response, checks)
    }

    /// `[ tool, tool/rule ]`.
    private static func fired(_ node: Node, _ reader: inout ProfileReader) -> [FiredName] {
        node.members.compactMap { entry in
            guard let text = reader.text(entry, "fires") else { return nil }
            let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if let tool = reader.tools[key: parts[0]] {
                return FiredName(tool: tool.id, rule: parts.count > 1 ? parts[1] : nil)
            }
            let hint = Suggestion.text(for: parts[0], among: reader.tools.inOrder.map(\.key))
            reader.error("unknown tool '\(parts[0].prefix(40))'\(hint)", at: entry)
            return nil
        }
    }

    private static func sends(_ node: Node, _ reader: inout ProfileReader) -> Check? {
        guard node.mapping == nil else { return message(node, "sends", &reader).map { .sends($0) } }
        return reader.parsed(node, "sends", as: "a URL, 'nothing' or a mapping") { text in
            if text == "nothing" { return .sendsNothing }
            guard RequestURL(text) != nil || DryRunRequest(method: "CONNECT", target: text) != nil else { return nil }
            return .sends(MessageTest(url: .text(RequestURL(text)?.description ?? text)))
        }
    }

    private static func answers(_ node: Node, _ reader: inout ProfileReader) -> Check? {
        guard node.mapping == nil else { return message(node, "answers", &reader).map { .answers($0) } }
        return status(node, "answers", &reader).map { .answers(MessageTest(status: $0)) }
    }

    /// Reads what is expected of a message; the grammar decides which keys it can have.
    private static func message(_ node: Node, _ what: String, _ reader: inout ProfileReader) -> MessageTest? {
        let keys = what == "sends" ? sentKeys : answerKeys
        guard let fields = reader.fields(node, what, keys: keys) else { return nil }
        var test = MessageTest()
        test.method = reader.text(fields, "method")
        test.url = fields["url"].flatMap { ValueTest($0, "url", &reader) }
        test.address = fields["address"].flatMap { ValueTest($0, "address", &reader) }
        test.status = fields["status"].flatMap { status($0, "status", &reader) }
        for (name, node) in fields["headers"].map({ reader.pairs($0, "headers") }) ?? [] {
            if let value = ValueTest(node, name, &reader) { test.fields.append((name, value)) }
        }
        test.body = fields["body"].flatMap { ValueTest($0, "body", &reader) }
        return test
    }

    static func status(_ node: Node, _ what: String, _ reader: inout ProfileReader) -> StatusTest? {
        reader.parsed(node, what, as: "a status such as 200 or 2xx") { StatusTest($0) }
    }

    private static func held(_ node: Node, _ reader: inout ProfileReader) -> Set<FlowDirection> {
        switch node.scalar?.string {
        case "true": [.request]
        case "false": []
        default: Set(reader.directions(node, "held").map(\.direction))
        }
    }
}

extension ValueTest {
    /// `~` for absent, `/…/` for a regular expression, otherwise the whole text.
    fileprivate init?(_ node: Node, _ what: String, _ reader: inout ProfileReader) {
        guard let text = reader.text(node, what) else { return nil }
        if node.isNothing {
            self = .absent
        } else if TextPattern.expression(in: text) != nil {
            guard let pattern = reader.pattern(node, text, isCaseSensitive: true, isWhole: false) else { return nil }
            self = .expression(pattern)
        } else {
            self = .text(TextPattern.plain(text))
        }
    }
}

extension DryRunRequest {
    /// `METHOD URL`, or a mapping.
    fileprivate init?(_ node: Node, _ reader: inout ProfileReader) {
        guard node.mapping != nil else {
            let form = "METHOD URL, as in GET https://example.com/"
            guard let request = reader.parsed(node, "request", as: form, { DryRunRequest($0) }) else { return nil }
            self = request
            return
        }
        guard let fields = reader.fields(node, "request", keys: Expectation.requestKeys),
            let url = reader.required(fields, "url", "request"), let target = reader.text(url, "url")
        else { return nil }
        let method = reader.text(fields, "method") ?? "GET"
        guard let request = DryRunRequest(method: method, target: target) else {
            reader.error("'\(method.prefix(20)) \(target.prefix(40))' is not a request", at: url)
            return nil
        }
        self = request
        (self.fields, body) = reader.content(fields)
    }
}

extension DryRunResponse {
    fileprivate init?(_ node: Node, _ reader: inout ProfileReader) {
        guard let fields = reader.fields(node, "response", keys: Expectation.responseKeys) else { return nil }
        status = reader.number(fields, "status").map { Int($0) } ?? 200
        (self.fields, body) = reader.content(fields)
    }
}

extension ProfileReader {
    fileprivate mutating func content(_ fields: ProfileFields) -> (fields: DryRunFields, body: ByteBuffer?) {
        let lines = fields["headers"].map { node in
            headers(node) { name, value in
                if !name.isToken { return "'\(name.prefix(40))' cannot be the name of a header" }
                return value.isFieldValue ? nil : "the value of a header cannot have line breaks or control characters"
            }
        }
        return (lines ?? [], text(fields, "body").map { ByteBuffer(string: $0) })
    }

    /// Header fields from a mapping of names to one or more values; `fault` says why a field is invalid.
    package mutating func headers(_ node: Node, fault: (_ name: String, _ value: String) -> String?) -> DryRunFields {
        var fields: DryRunFields = []
        for (name, node) in pairs(node, "headers") {
            for entry in node.members {
                guard let value = text(entry, name) else { continue }
                if let fault = fault(name, value) {
                    error(fault, at: entry)
                } else {
                    fields.append((name, value))
                }
            }
        }
        return fields
    }
}
