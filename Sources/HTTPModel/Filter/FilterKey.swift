/// A key of the filter language: what it takes and what it means. The parser reads by the same table.
package struct FilterKey: Sendable {
    /// The key as it is written before the colon.
    package let name: String
    /// What comes after the colon, for example `GLOB`.
    package let argument: String
    /// What the term selects, in one line.
    package let summary: String
    /// A term that compiles.
    package let example: String
    let reading: Reading

    /// How the value is read, and what it is compared with.
    enum Reading: Sendable {
        case text(FilterTest.TextField, ignoringCase: Bool = true)
        case number(FilterTest.NumberField, Quantity)
        case address(ConnectionRecord.Leg)
        case field(FilterTest.Side)
        case body(FilterTest.Side)
        case comment, query, url, status, grpc, mediaType, version, since, before, property, process
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

    // The summaries that leave no room for the rest of their line.
    private static let status = "the status code: one, a class, a comparison or a range; 0 while there is none"
    private static let grpc = "the gRPC status: its number or name, a comparison or a range; * for any"
    private static let mediaType = "the response's media type: a part of it, or with / or wildcards the whole"
    private static let size = "bytes as in the column SIZE: of the response's body; of a tunnel, those from the server"
    private static let messages = "messages of both directions of a stream, by now"
    private static let process =
        "the program on this machine that asked, by name or number; one that was gone at once may not be found"
    private static let property = "a fact or a kind of failure; the word error alone is is:error"
    private static let version = "the version of HTTP on either leg: h1, h2, h3, 1.0 or 1.1"
    private static let url = "the URL has the text, as for a bare word; with *, is like it"

    fileprivate static let all = [
        FilterKey("host", "GLOB", "the host, in its letters or in punycode", "host:*.example.com", .text(.host)),
        FilterKey("path", "GLOB", "the path, without the query", "path:/v1/*", .text(.path, ignoringCase: false)),
        FilterKey("query", "TEXT", "the query has the text; with *, is like it", "query:page=2", .query),
        FilterKey("url", "TEXT", url, "url:https://*/login*", .url),
        FilterKey("scheme", "GLOB", "http, https, ws, wss or tunnel", "scheme:https", .text(.scheme)),
        FilterKey("port", "N", "the port, given or not", "port:8080", .number(.port, .count)),
        FilterKey("method", "GLOB", "the method", "method:POST,PUT", .text(.method)),
        FilterKey("status", "CODE", status, "status:5xx", .status),
        FilterKey("grpc", "CODE", grpc, "grpc:unavailable", .grpc),
        FilterKey("type", "TYPE", mediaType, "type:json", .mediaType),
        FilterKey("size", "N", size, "size:>1mb", .number(.size, .size)),
        FilterKey("time", "N", "how long it took in all; in ms without a unit", "time:>500ms", .number(.time, .time)),
        FilterKey("messages", "N", messages, "messages:>10", .number(.messages, .count)),
        FilterKey("id", "N", "the number in the session", "id:10..20", .number(.id, .count)),
        FilterKey("ip", "GLOB", "the server's address", "ip:10.0.*", .address(.upstream)),
        FilterKey("client", "GLOB", "the client's address", "client:192.168.1.7", .address(.client)),
        FilterKey("process", "GLOB", process, "process:curl", .process),
        FilterKey(
            "mode",
            "GLOB",
            "how it came in: regular, reverse:URL, socks5, transparent",
            "mode:socks5",
            .text(.mode)
        ),
        FilterKey("version", "h1|h2|h3", version, "version:h2", .version),
        FilterKey("since", "TIME", "begun at or after a time of day, an ISO time, or so long ago", "since:10m", .since),
        FilterKey("before", "TIME", "begun before a time of day, an ISO time, or so long ago", "before:14:30", .before),
        field("header", .either, "a field of request or response: its name, or name and value"),
        field("reqheader", .request, "a field of the request"),
        field("resheader", .response, "a field of the response"),
        FilterKey("comment", "TEXT", "its comment has the text; with *, is like it", "comment:flaky", .comment),
        FilterKey("colour", "NAME", "the colour that it was given", "colour:red", .text(.colour)),
        body("body", .either, "a body has the text, in whatever case"),
        body("reqbody", .request, "the request's body has the text"),
        body("resbody", .response, "the response's body has the text"),
        FilterKey("is", "WHAT", property, "is:changed", .property),
    ]
}

extension Filter {
    /// Every key, in the order in which help should show them.
    package static let reference = FilterKey.all

    /// How values are written as regular expressions.
    package static let expressionNote = """
        /…/ in host:, path:, url:, query:, header:, body: and process: is a regular expression (PCRE2), found anywhere: \
        path:/^\\/v[12]\\//, header:server:/nginx|apache/, header:/x/ for any field. A / within is written \\/. Case counts \
        in path: and query: only; (?i) and (?-i) change that. A path such as /users or /users/ stays a path, and "/…/" in \
        quotes is plain text. Where an expression takes too long it is given up, which counts as no match and is said.
        """

    /// What other programs call keys.
    static let otherNames = [
        "duration": "time", "latency": "time", "content-type": "type", "mime": "type", "code": "status",
        "domain": "host", "verb": "method", "protocol": "version", "note": "comment",
    ]

    /// The term that a word alone, which the URL is searched for, was probably meant to be; `nil` for any other word.
    package static func term(meantBy word: String) -> String? {
        if properties.contains(where: { $0.name == word.lowercased() }) { return "is:\(word.lowercased())" }
        let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY", "CONNECT"]
        if methods.contains(word.uppercased()) { return "method:\(word.uppercased())" }
        let isStatus = word.utf8.count == 3 && word.first?.isNumber == true && (try? Filter("status:\(word)")) != nil
        return isStatus ? "status:\(word)" : nil
    }

    /// What `is:` takes, with a line on each.
    package static var properties: [(name: String, summary: String)] {
        FilterProperty.all.map { ($0.name, $0.summary) }
    }
}

extension FilterValueReader {
    /// Reads the value of a term with this key.
    func test(_ value: FilterText, _ reading: FilterKey.Reading) throws(FilterError) -> FilterTest {
        if let test = try expression(value, reading) { return test }
        return switch reading {
        case .text(.mode, _) where value.plain.lowercased() == "reverse":
            // Such a mode has its server in it.
            .text(.mode, (try? Glob("reverse:*", ignoringCase: true)) ?? Glob(literal: "reverse", ignoringCase: true))
        case .text(let field, let ignoringCase): .text(field, try glob(value, ignoringCase: ignoringCase))
        case .number(let field, let quantity): .number(field, try range(value, quantity))
        case .address(let leg): .address(leg, try glob(value, ignoringCase: true))
        case .field(let side): try field(value, side)
        case .body(let side): .body(side, Glob(containing: value.plain, ignoringCase: true))
        case .comment: .text(.comment, try glob(value, ignoringCase: true, isFoundAnywhere: true))
        case .query: .text(.query, try glob(value, ignoringCase: false, isFoundAnywhere: true))
        case .url: .url(try glob(value, ignoringCase: true, isFoundAnywhere: true))
        case .status: .number(.status, try status(value))
        case .grpc: .number(.grpc, try grpcStatus(value))
        case .mediaType: try mediaType(value)
        case .version: .version(try version(value))
        case .since: .number(.startedAt, try time(value)...Int64.max)
        case .before: .number(.startedAt, Int64.min...(try time(value) - 1))
        case .property: .property(try property(value))
        case .process: try process(value)
        }
    }
}
