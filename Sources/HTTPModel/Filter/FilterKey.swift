/// A key of the filter language, for the parser and the help.
package struct FilterKey: Sendable {
    package let name: String
    /// The text after the colon, for example `GLOB`.
    package let argument: String
    package let summary: String
    package let example: String
    let reading: Reading

    enum Reading: Sendable {
        case text(FilterTest.TextField, ignoringCase: Bool = true)
        case number(FilterTest.NumberField, Quantity)
        case address(ConnectionRecord.Leg)
        case field(FilterTest.Side)
        case body(FilterTest.Side)
        case comment, query, url, status, grpc, mediaType, version, since, before, property, process, trace, session,
            label, graphql
    }

    init(_ name: String, _ argument: String, _ summary: String, _ example: String, _ reading: Reading) {
        self.name = name
        self.argument = argument
        self.summary = summary
        self.example = example
        self.reading = reading
    }

    private static func field(_ name: String, _ side: FilterTest.Side, _ summary: String) -> FilterKey {
        FilterKey(name, "\"NAME: TEXT\"", summary, "\(name):\"content-type: json\"", .field(side))
    }

    private static func body(_ name: String, _ side: FilterTest.Side, _ summary: String) -> FilterKey {
        FilterKey(name, "TEXT", summary, "\(name):\"not found\"", .body(side))
    }

    private static let status = "the status code: a number, a class, a comparison or a range; 0 before the response"
    private static let grpc = "the gRPC status: its number or name, a comparison or a range; * for any"
    private static let mediaType = "the response's media type: a part of it, or with / or wildcards the whole"
    private static let size = "bytes as in the column SIZE: of the response's body; of a tunnel, those from the server"
    private static let mode = "the mode of the listener: regular, reverse:URL, socks5, transparent"
    private static let messages = "messages of both directions of a stream so far"
    private static let process =
        "the client program on this machine, by name or process number; a program that ended at once may be missing"
    private static let property = "a property or a kind of failure; the word error alone means is:error"
    private static let version = "the version of HTTP on either leg: h1, h2, h3, 1.0 or 1.1"
    private static let trace =
        "the trace id in the request's traceparent: all of it or its beginning; * for any"
    private static let session = "the identifier of its recording: all of it or its beginning"
    private static let label = "a label of its recording (run --label)"
    private static let graphql = "the name of a GraphQL operation; of a persisted one without a name, its hash"
    private static let url = "the URL contains the text, like a bare word; * is a wildcard"

    fileprivate static let all = [
        FilterKey("host", "GLOB", "the host, in its letters or in punycode", "host:*.example.com", .text(.host)),
        FilterKey("path", "GLOB", "the path, without the query", "path:/v1/*", .text(.path, ignoringCase: false)),
        FilterKey("query", "TEXT", "the query contains the text; * is a wildcard", "query:page=2", .query),
        FilterKey("url", "TEXT", url, "url:https://*/login*", .url),
        FilterKey("scheme", "GLOB", "http, https, ws, wss or tunnel", "scheme:https", .text(.scheme)),
        FilterKey("port", "N", "the port, given or not", "port:8080", .number(.port, .count)),
        FilterKey("method", "GLOB", "the method", "method:POST,PUT", .text(.method)),
        FilterKey("status", "CODE", status, "status:5xx", .status),
        FilterKey("grpc", "CODE", grpc, "grpc:unavailable", .grpc),
        FilterKey("graphql", "GLOB", graphql, "graphql:AddItem", .graphql),
        FilterKey("type", "TYPE", mediaType, "type:json", .mediaType),
        FilterKey("size", "N", size, "size:>1mb", .number(.size, .size)),
        FilterKey("time", "N", "the total duration; in ms without a unit", "time:>500ms", .number(.time, .time)),
        FilterKey("messages", "N", messages, "messages:>10", .number(.messages, .count)),
        FilterKey("id", "N", "the number in the session", "id:10..20", .number(.id, .count)),
        FilterKey("ip", "GLOB", "the server's address", "ip:10.0.*", .address(.upstream)),
        FilterKey("client", "GLOB", "the client's address", "client:192.168.1.7", .address(.client)),
        FilterKey("process", "GLOB", process, "process:curl", .process),
        FilterKey("mode", "GLOB", mode, "mode:socks5", .text(.mode)),
        FilterKey("version", "h1|h2|h3", version, "version:h2", .version),
        FilterKey("since", "TIME", "began at or after a time of day, an ISO time, or 10m ago", "since:10m", .since),
        FilterKey("before", "TIME", "began before a time of day, an ISO time, or 10m ago", "before:14:30", .before),
        field("header", .either, "a header field of request or response: its name, or name and value"),
        field("reqheader", .request, "a header field of the request"),
        field("resheader", .response, "a header field of the response"),
        FilterKey("trace-id", "HEX", trace, "trace-id:4bf92f35", .trace),
        FilterKey("session", "HEX", session, "session:0f3b", .session),
        FilterKey("label", "NAME=VALUE", label, "label:branch=main", .label),
        FilterKey("comment", "TEXT", "its comment contains the text; * is a wildcard", "comment:flaky", .comment),
        FilterKey("colour", "NAME", "its colour", "colour:red", .text(.colour)),
        body("body", .either, "a body contains the text, in any case"),
        body("reqbody", .request, "the request's body contains the text"),
        body("resbody", .response, "the response's body contains the text"),
        FilterKey("is", "WHAT", property, "is:changed", .property),
    ]
}

extension Filter {
    package static let reference = FilterKey.all

    package static let expressionNote = """
        /…/ in host:, path:, url:, query:, header:, body: and process: is a regular expression (PCRE2), found anywhere: \
        path:/^\\/v[12]\\//, header:server:/nginx|apache/, header:/x/ for any field. A / within is written \\/. Case counts \
        in path: and query: only; (?i) and (?-i) change that. A path such as /users or /users/ stays a path, and "/…/" in \
        quotes is plain text. An expression that takes too long is stopped; that counts as no match and is reported.
        """

    static let otherNames = [
        "duration": "time", "latency": "time", "content-type": "type", "mime": "type", "code": "status",
        "domain": "host", "verb": "method", "protocol": "version", "note": "comment", "trace": "trace-id",
        "traceparent": "trace-id",
    ]

    /// A term for a bare word that was probably not meant for the URL.
    package static func term(meantBy word: String) -> String? {
        if properties.contains(where: { $0.name == word.lowercased() }) { return "is:\(word.lowercased())" }
        let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY", "CONNECT"]
        if methods.contains(word.uppercased()) { return "method:\(word.uppercased())" }
        let isStatus = word.utf8.count == 3 && word.first?.isNumber == true && (try? Filter("status:\(word)")) != nil
        return isStatus ? "status:\(word)" : nil
    }

    package static var properties: [(name: String, summary: String)] {
        FilterProperty.all.map { ($0.name, $0.summary) }
    }
}

extension FilterValueReader {
    func test(_ value: FilterText, _ reading: FilterKey.Reading) throws(FilterError) -> FilterTest {
        switch reading {
        case .text(.mode, _) where value.plain.lowercased() == "reverse":
            .text(.mode, (try? Glob("reverse:*", ignoringCase: true)) ?? Glob(literal: "reverse", ignoringCase: true))
        case .text(let field, let ignoringCase): .matches(.text(field), try pattern(value, ignoringCase: ignoringCase))
        case .number(let field, let quantity): .number(field, try range(value, quantity))
        case .address(let leg): .address(leg, try glob(value, ignoringCase: true))
        case .field(let side): try field(value, side)
        case .body(let side): .matches(.body(side), try bodyPattern(value))
        case .comment:
            .matches(.text(.comment), try pattern(value, ignoringCase: true, isFoundAnywhere: true))
        case .query: .matches(.text(.query), try pattern(value, ignoringCase: false, isFoundAnywhere: true))
        case .url: .matches(.url, try pattern(value, ignoringCase: true, isFoundAnywhere: true))
        case .status: .number(.status, try status(value))
        case .grpc: .number(.grpc, try grpcStatus(value))
        case .mediaType: try mediaType(value)
        case .version: .version(try version(value))
        case .since: .number(.startedAt, try time(value)...Int64.max)
        case .before: .number(.startedAt, Int64.min...(try time(value) - 1))
        case .property: .property(try property(value))
        case .process: try process(value)
        case .trace: try trace(value)
        case .session: try session(value)
        case .label: try label(value)
        case .graphql: .place(try test(value, at: Place(.graphql, .operation)))
        }
    }
}
