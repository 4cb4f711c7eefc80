import NIOCore
import Support
import Testing

@testable import HTTPModel

/// Exchanges to filter, and the clock that their times are read against.
enum FilterFixture {
    /// 2026-11-21T12:00:00Z.
    static let noon: Int64 = 1_795_262_400_000_000
    /// A zone one hour ahead of UTC.
    static let clock = FilterClock(now: noon) { _ in 3_600 }

    static func record(_ change: (inout ExchangeRecord) -> Void = { _ in }) -> ExchangeRecord {
        var record = ExchangeRecord(
            id: ExchangeID(12),
            kind: .http,
            startedAt: noon - 60_000_000,
            method: "POST",
            url: RequestURL(
                scheme: "https",
                host: "api.example.com",
                port: 443,
                path: "/v1/Users",
                query: "page=2&q=x"
            ),
            clientConnection: ConnectionID(1)
        )
        record.state = .complete
        record.status = 404
        record.mediaType = "application/problem+json"
        record.timings.total = 750_000
        record.sizes.requestBody = 1_000
        record.sizes.responseBody = 3_000
        record.sizes.responseWire = 3_500
        record.upstreamVersion = .http2
        change(&record)
        return record
    }

    static func exchange(_ record: ExchangeRecord) -> RecordedExchange {
        var messages = ExchangeMessages()
        messages.requestHead = ByteBuffer(
            string: "POST /v1/Users HTTP/1.1\r\nHost: api.example.com\r\nX-Team: Blue Birds\r\n\r\n"
        )
        messages.requestHeadSent = ByteBuffer(string: "POST /v1/Users HTTP/1.1\r\nX-Added: yes\r\n\r\n")
        messages.responseHead = ByteBuffer(
            string: "HTTP/1.1 404 Not Found\r\nContent-Type: application/problem+json\r\n\r\n"
        )
        messages.responseTrailers = ByteBuffer(string: "X-Checksum: abc\r\n")
        let upstream = ConnectionRecord(
            id: ConnectionID(2),
            leg: .upstream,
            openedAt: 0,
            localAddress: "10.0.0.1:5",
            peerAddress: "[2001:db8::7]:443"
        )
        let client = ConnectionRecord(
            id: ConnectionID(1),
            leg: .client,
            openedAt: 0,
            localAddress: "127.0.0.1:8080",
            peerAddress: "192.168.1.7:50000"
        )
        return RecordedExchange(record: record, messages: messages, client: client, upstream: upstream)
    }

    static func body(_ side: BodySide) -> ByteBuffer? {
        switch side {
        case .requestReceived: ByteBuffer(string: #"{"name": "Ada"}"#)
        case .requestSent: ByteBuffer(string: #"{"name": "Grace"}"#)
        case .responseReceived: ByteBuffer(string: "No such\nuser, sorry*")
        case .responseSent: nil
        }
    }
}

@Suite("Filters")
struct FilterTests {
    private func passes(_ expression: String, _ change: (inout ExchangeRecord) -> Void = { _ in }) throws -> Bool {
        let filter = try Filter(expression, clock: FilterFixture.clock)
        let record = FilterFixture.record { record in
            record.extras.process = ClientProcess(id: 1_234, name: "curl")
            change(&record)
        }
        return filter.matches(FilterFixture.exchange(record), body: FilterFixture.body)
    }

    @Test(
        "let pass what their terms say",
        arguments: [
            "", "  ", "host:*.example.com", "host:API.example.com", "host:other,api.*", "path:/v1/*", "path:/v1/Users",
            "method:post",
            "method:GET,POST", "status:4xx", "status:404", "status:>=400", "status:>403", "status:<500", "status:<=404",
            "status:400..499", "status:400..", "status:..404", "type:json", "type:problem+json", "type:application/*",
            "type:*json", "type:APPLICATION", "size:>2kb", "size:3kb", "size:3000b", "size:<1mib", "size:2.5kb..1mb",
            "size:1..5kb",
            "time:>500ms", "time:>500", "time:<1s", "time:700..800ms", "time:>0.7s", "url:v1/users?page",
            "url:https://*x",
            "url:\"page=2&q\"", "query:page=2", "query:page=?", "url:https://api", "query:page=?&*", "scheme:HTTPS",
            "port:443", "port:>400", "id:10..20",
            "id:12",
            "id:1,12", "ip:2001:db8::7", "ip:[2001:db8::7]:443", "ip:2001:*", "client:192.168.1.*",
            "client:192.168.1.7:50000",
            "version:h1", "version:h2", "version:1.1", "header:x-team", "header:X-Te*", "header:\"x-team: blue birds\"",
            "header:x-team:bird", "header:x-team:blue*s", "header:x-added", "header:x-checksum:abc", "reqheader:host",
            "resheader:content-type:json", "reqheader:\"x-team:\"", "body:ada", "body:\"No such\\nuser\"",
            "body:\"sorry*\"",
            "reqbody:ADA", "resbody:such", "body:none,sorry", "is:complete", "users", "V1", "API.example*page",
            "\"page=2\"",
            "https://api.example.com/v1", "example.com", "since:10m", "since:12:58", "before:13:00", "since:2026-11-21",
            "since:2026-11-21T11:58:00Z", "since:2026-11-21T12:58:30+01:00", "since:2026-11-21T12:58", "!since:30s",
            "before:30s",
            "host:api* method:POST", "host:api* and status:404", "host:nope or status:404", "not host:nope",
            "!host:nope",
            "-host:nope", "not not users", "!!users", "(host:nope or users) status:4xx", "host:nope status:1 or users",
            "users (status:500 or (method:POST !is:failed))", "nope or HOST:api*", "(users)and(v1)",
            "path:/^\\/v[0-9]+\\//", "path:/(?i)users$/", "path:/x|Us/,/y", "host:/^api\\./", "host:/API/",
            "(host:/example/)", "header:x-team:/blue birds/", "header:x-te*:/^blue|RED$/", "body:/no such\\s+user/",
            "resbody:/(?-i)No such/", "url:/\\?page=\\d/", "query:/page=[0-9]+/ users", "!host:/^example/",
            "is:error", "error", "process:curl", "process:CU*", "process:1234", "process:>1000", "process:/^c.rl$/",
        ]
    )
    func passing(expression: String) throws {
        #expect(try passes(expression))
    }

    @Test(
        "hold back everything else",
        arguments: [
            "host:example.com", "host:a?.example.com", "path:/v1", "path:/v1/users", "method:GET", "status:5xx",
            "status:0",
            "status:>404", "type:js", "type:jso", "type:text/*", "size:>3kb", "size:<3kb", "time:<500ms",
            "query:Page=2", "url:nope", "scheme:http", "port:80", "id:13..",
            "id:..11",
            "ip:192.168.1.7", "client:10.*", "version:1.0", "header:x-tea", "header:x-team:red", "resheader:x-team",
            "reqheader:content-type", "body:grace", "resbody:ada", "reqbody:such", "body:sorry?", "is:failed",
            "is:tls", "path:/users$/", "path:/v1/", "path:/v1", "path:\"/Users$/\"", "host:/^example/",
            "header:x-team:/^birds/", "body:/^such$/", "process:cur", "process:123", "process:/^url/",
            "is:changed", "nope", "since:30s", "before:10m", "before:2026-11-21", "users !status:404",
            "not users or nope",
            "not (users or nope)", "host:nope or nope or status:1", "users and nope", "\"users\" \"and\" nope",
        ]
    )
    func holdingBack(expression: String) throws {
        #expect(try !passes(expression))
    }

    @Test(
        "find a host in other letters by either form",
        arguments: [
            ("bücher.test", true), ("BÜCHER.test", true), ("*.bücher.test", false), ("bücher.*", true),
            ("www.bücher.test,bücher.test", true), ("xn--bcher-kva.test", true), ("bücher", false), ("bü*.test", false),
        ]
    )
    func hostForms(pattern: String, isFound: Bool) throws {
        #expect(try passes("host:\(pattern)") { $0.url.host = "xn--bcher-kva.test" } == isFound)
        #expect(try passes("!host:\(pattern)") { $0.url.host = "xn--bcher-kva.test" } != isFound)
        #expect(try passes("host:*.bücher.test") { $0.url.host = "www.xn--bcher-kva.test" })
        #expect(try passes("host:bücher.test,bü*.test") { $0.url.host = "bücher.test" })
    }

    @Test("know every fact and kind of failure")
    func properties() throws {
        // What lists show as SIZE: the response, or what came through a tunnel.
        #expect(try passes("size:3kb") { $0.sizes.requestBody = 1_000_000 })
        #expect(try passes("size:3.5kb") { $0.kind = .tunnel } && !passes("size:3.5kb"))
        for code in ExchangeFailure.Code.allCases {
            #expect(try passes("is:\(code.rawValue)") { $0.failure = ExchangeFailure(code, "") })
            #expect(try passes("error is:\(code.rawValue)") { $0.failure = ExchangeFailure(code, "") })
            #expect(try !passes("is:\(code.rawValue)"))
        }
        let facts: [(String, (inout ExchangeRecord) -> Void)] = [
            ("blocked", { $0.state = .blocked }), ("changed", { $0.flags = .requestChanged }),
            ("changed", { $0.flags = .responseChanged }), ("commented", { $0.extras.annotation.comment = "" }),
            ("failed", { $0.state = .failed }),
            ("held", { $0.flags = .held }), ("imported", { $0.extras.origin = "HAR a.har" }),
            ("grpc", { $0.mediaType = "application/grpc-web+proto" }), ("grpc", { $0.grpc = GRPCOutcome(status: 0) }),
            ("incomplete", { $0.flags = .responseBodyIncomplete }), ("inflight", { $0.state = .inFlight }),
            ("interrupted", { $0.state = .interrupted }), ("local", { $0.flags = .answeredLocally }),
            ("malformed", { $0.kind = .malformed }), ("request-changed", { $0.flags = .requestChanged }),
            ("response-changed", { $0.flags = .responseChanged }), ("retried", { $0.flags = .retried }),
            ("reused", { $0.flags = .upstreamReused }), ("tunnel", { $0.kind = .tunnel }),
            ("tunnel", { $0.kind = .decryptedTunnel }), ("upgraded", { $0.kind = .upgraded }),
            ("upgraded", { $0.kind = .webSocket }), ("websocket", { $0.kind = .webSocket }),
        ]
        for (name, change) in facts {
            #expect(try passes("is:\(name)", change), "\(name)")
            #expect(try !passes("is:\(name)"), "\(name)")
        }
        let noError: (inout ExchangeRecord) -> Void = { $0.status = 200 }
        #expect(try !passes("is:error", noError))
        #expect(try passes("is:error") { $0.status = 400 })
        #expect(try passes("is:error") { ($0.status, $0.state) = (200, .failed) })
        #expect(try passes("is:error") { ($0.status, $0.grpc) = (200, GRPCOutcome(status: 5)) })
        #expect(Set(facts.map(\.0)).union(["complete", "error"]).count == FilterProperty.Fact.allCases.count)
        #expect(Filter.properties.count == FilterProperty.Fact.allCases.count + ExchangeFailure.Code.allCases.count)
    }

    @Test("leave out an exchange without an answer from comparisons of its status and time")
    func unanswered() throws {
        let unanswered: (inout ExchangeRecord) -> Void = {
            $0.status = 0
            $0.timings.total = nil
        }
        #expect(try !passes("status:<400", unanswered))
        #expect(try passes("status:0", unanswered))
        #expect(try !passes("time:<1h", unanswered))
        #expect(try passes("!time:>1s", unanswered))
    }

    @Test("select gRPC calls by the number or name of their status, and none where there is none")
    func grpc() throws {
        let unavailable: (inout ExchangeRecord) -> Void = { $0.grpc = GRPCOutcome(status: 14, message: "down") }
        for term in ["14", "unavailable", "UNAVAILABLE", ">0", "1..", "12..14", "0,14", "ok,14", "*", "<15"] {
            #expect(try passes("grpc:" + term, unavailable), "\(term)")
            #expect(try !passes("grpc:" + term), "\(term)")
        }
        for term in ["0", "ok", "13", "<14", "deadline_exceeded", "cancelled,16"] {
            #expect(try !passes("grpc:" + term, unavailable), "\(term)")
        }
        #expect(try passes("grpc:deadline-exceeded,DeadlineExceeded") { $0.grpc = GRPCOutcome(status: 4) })
        #expect(try passes("grpc:*") { $0.grpc = GRPCOutcome(status: -1) })
        #expect(try passes("grpc:9999") { $0.grpc = GRPCOutcome(status: 9_999) })
        #expect(try passes("!grpc:*"))
    }

    @Test("count the messages of both directions")
    func messages() throws {
        let chat: (inout ExchangeRecord) -> Void = { ($0.tally.fromClient, $0.tally.fromServer) = (4, 7) }
        for term in [">10", "11", "10..", "<12"] { #expect(try passes("messages:" + term, chat), "\(term)") }
        for term in [">11", "4", "7", "0"] { #expect(try !passes("messages:" + term, chat), "\(term)") }
        #expect(try passes("messages:0"))
    }

    @Test("search the URL for what looks like a comparison but may stand in a query")
    func queriesWithoutKey() throws {
        for word in ["page=2", "q=x", "id=5", "type=a", "time=1", "path=x", "\"status=404\"", "status\\=404", "=404"] {
            let filter = try Filter(word, clock: FilterFixture.clock)
            let text = word.filter { $0 != "\"" && $0 != "\\" }
            let record = FilterFixture.record { $0.url.query = text }
            #expect(filter.decides(record) == true, "\(word)")
            #expect(try Filter(filter.description) == filter, "\(word)")
        }
    }

    @Test("search bodies as sent where a stage changed them")
    func changedBodies() throws {
        #expect(try passes("reqbody:grace") { $0.flags = .requestChanged })
        #expect(try !passes("resbody:grace") { $0.flags = .requestChanged })
    }

    @Test("are decided by the record alone where one of its terms is enough")
    func decided() throws {
        let record = FilterFixture.record()
        for expression in ["body:x header:y host:nope", "header:y or body:x or users", "!(body:x status:500)"] {
            let filter = try Filter(expression, clock: FilterFixture.clock)
            #expect(filter.needs == .bodies || !expression.contains("body"))
            #expect(filter.decides(record) != nil)
        }
        #expect(try Filter("header:a or header:b or client:c").decides(record) == nil)
        #expect(try Filter("not header:a status:500").decides(record) == false)
        #expect(try Filter("header:a,b").needs == .messages)
        #expect(try Filter("host:a,b").needs == .record)
    }

    @Test("find a trace by its id, whole or by its beginning")
    func traces() throws {
        func passes(_ filter: String, _ traceparent: String, field: String = "Traceparent") throws -> Bool {
            var exchange = FilterFixture.exchange(FilterFixture.record())
            exchange.messages.requestHead = ByteBuffer(string: "GET / HTTP/1.1\r\n\(field): \(traceparent)\r\n\r\n")
            return try Filter(filter, clock: FilterFixture.clock).matches(exchange, body: FilterFixture.body)
        }
        let parent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
        for id in ["4bf92f3577b34da6a3ce929d0e0e4736", "4BF92f35", "4", "*", "*4736", "4?f9*"] {
            #expect(try passes("trace-id:\(id)", parent), "\(id)")
            #expect(try !passes("trace-id:\(id)", parent, field: "x-traceparent"), "\(id)")
            #expect(try !passes("trace-id:\(id)", "nonsense"), "\(id)")
        }
        for id in ["bf92", "00", "00f067aa", "4736", "*bf92f", "4bf92f3577b34da6a3ce929d0e0e4737"] {
            #expect(try !passes("trace-id:\(id)", parent), "\(id)")
        }
    }

    @Test("explain every key with an example that compiles")
    func reference() throws {
        #expect(Set(Filter.reference.map(\.name)).count == Filter.reference.count)
        for key in Filter.reference {
            #expect(key.example.hasPrefix(key.name + ":"))
            #expect(throws: Never.self, "\(key.name)") { try Filter(key.example) }
            #expect(!key.summary.isEmpty && !key.summary.contains("\n") && !key.argument.isEmpty)
        }
    }
}
