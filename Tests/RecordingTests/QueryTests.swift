import Content
import Foundation
import NIOCore
import Support
import Synchronization
import Testing

@testable import HTTPModel
@testable import Recording

@Suite("Queries of a session")
struct QueryTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    /// Records what differs in every column, with gaps between the numbers, heads and bodies.
    private func varied() throws -> (SessionReader, [Int64: Whole], Feed) {
        var random = SplitMix(12)
        let feed = try Feed(path: scratch.session)
        for leg in [ConnectionRecord.Leg.client, .upstream] {
            for number in Int64(0)..<3 {
                let id = ConnectionID(number * 2 + (leg == .client ? 1 : 2))
                let peer = ["10.0.0.7:5000", "[2001:db8::7]:443", "aYb:1"][Int(number)]
                feed.submit([
                    .connection(ConnectionRecord(id: id, leg: leg, openedAt: 1, localAddress: "a:1", peerAddress: peer))
                ])
            }
        }
        var all: [Int64: Whole] = [:]
        for number in Int64(1)...400 where number % 7 != 0 {
            let whole = try Whole(number, &random)
            all[number] = whole
            feed.submit(whole.events)
        }
        feed.recorder.flush()
        // The recorder goes along: what is in flight is interrupted when it ends.
        return (try SessionReader(path: scratch.session), all, feed)
    }

    @Test("say in how many exchanges an expression was given up")
    func givenUp() throws {
        let feed = try Feed(path: scratch.session)
        defer { feed.recorder.close() }
        let hostile = String(repeating: "a", count: 40) + "!"
        for number in Int64(1)...3 {
            var record = Samples.record(number, state: .complete)
            record.url.path = number == 2 ? "/short" : "/\(hostile)"
            feed(.opened(record, ExchangeMessages()))
            if number > 1 { feed(.body(record.id, .responseReceived, ByteBuffer(string: hostile))) }
            feed(.finished(record, ExchangeMessages()))
        }
        feed.recorder.flush()
        let reader = try SessionReader(path: scratch.session)
        func unfinished(_ text: String) throws -> (found: [Int64], count: Int, remark: String?) {
            let unfinished = UnfinishedSearches()
            let filter = try Filter(text)
            let found = try UnfinishedSearches.$current.withValue(unfinished) { try reader.numbers(matching: filter) }
            return (found, unfinished.count, unfinished.remark)
        }
        let path = try unfinished("path:/^\\/(a+)+$/")
        #expect(path.found.isEmpty && path.count == 2)
        #expect(path.remark?.hasPrefix("the search stopped in 2 exchanges") == true)
        #expect(try unfinished("url:/\\/(a+)+$/").count == 2)
        #expect(try unfinished("body:/^(a+)+$/").count == 2)
        // One that is found in an exchange is not given up in another term of it.
        #expect(try unfinished("path:/^\\/sh/").remark == nil)
        #expect(try unfinished("path:/^\\/sh/").found == [2])
        // Nobody asks, nothing is kept.
        #expect(try reader.numbers(matching: Filter("path:/^\\/(a+)+$/")).isEmpty)
    }

    @Test("find exactly what the filter finds in memory")
    func exactly() throws {
        let (reader, all, feed) = try varied()
        defer { feed.recorder.close() }
        let numbers = all.keys.sorted()
        let exchanges = try numbers.compactMap { try reader.exchange(ExchangeID($0)) }
        #expect(exchanges.count == numbers.count)
        var random = SplitMix(7)
        let properties = Filter.properties.map { "is:\($0.name)" }
        let generated = (0..<150).map { _ in FilterText.expression(&random, depth: 0) }
        for text in properties + FilterText.fixed + generated {
            let filter = try Filter(text)
            let expected = exchanges.filter { exchange in
                let places = ExchangePlaces(exchange, source: reader)
                return filter.matches(exchange, places: { (try? places.values(at: $0)) ?? [] }) {
                    all[exchange.record.id.number]?.bodies[$0]
                }
            }.map(\.record.id.number)
            let found = try reader.numbers(matching: filter)
            guard found == expected else {
                Issue.record("\(text): \(found) in place of \(expected), by \(SQLCondition(filter).sql)")
                return
            }
            // What a database without our functions decides never loses a match.
            let needed = try reader.numbers(matching: Filter(root: filter.root.necessary()))
            let others = try reader.numbers(matching: Filter(root: FilterNode.not(filter.root).necessary()))
            #expect(Set(found).isSubset(of: needed), "\(text)")
            #expect(Set(numbers).subtracting(found).isSubset(of: others), "not (\(text))")
            let sql = SQLCondition(filter, dialect: .postgreSQL("traffic"))
            #expect(!sql.sql.contains("sluice_") && !sql.joins.contains("JOIN"), "\(text): \(sql.sql)")
            let decided = exchanges.filter { filter.decides($0.record) == true }.map(\.record.id.number)
            #expect(Set(decided).isSubset(of: found), "\(text)")
        }
    }

    @Test("are made of any rows, in any order and direction, in blocks, and of all records")
    func rows() throws {
        let (reader, all, feed) = try varied()
        defer { feed.recorder.close() }
        let numbers = all.keys.sorted()
        let filter = try Filter("status:200,404")
        let passing = numbers.filter { filter.decides(all[$0]?.record ?? Samples.record(1)) == true }
        #expect(try reader.numbers(matching: filter, limit: 3) == Array(passing.prefix(3)))
        #expect(try reader.numbers(matching: filter, isDescending: true) == passing.reversed())
        let range: ClosedRange<Int64> = 50...80
        let except = Array(passing.filter(range.contains).prefix(2)) + [9]
        #expect(
            try reader.numbers(of: .range(range, except: except), matching: filter)
                == passing.filter { range.contains($0) && !except.contains($0) }
        )
        let some: [Int64] = [400, 1, 9_000, 200, 12]
        #expect(try reader.numbers(of: .numbers(some), matching: filter) == passing.filter(some.contains))
        #expect(try reader.numbers(of: .numbers([]), matching: .everything).isEmpty)
        for order in [SessionReader.Order.oldestFirst, .newestFirst] {
            var found: [Int64] = []
            try reader.forEachBlock(of: -5...Int64.max / 2, order: order, for: try Filter("body:x")) { block in
                found += try reader.numbers(of: .range(block), matching: filter)
                return true
            }
            #expect(found.sorted() == passing)
        }
        var records: [ExchangeRecord] = []
        try reader.forEachRecord(matching: filter, from: ExchangeID(100)) { records.append($0) }
        #expect(try records == passing.filter { $0 >= 100 }.map { try reader.record(ExchangeID($0)) })
        try reader.forEachRecord(matching: filter, from: ExchangeID(401)) { _ in Issue.record("there is none") }
        let inFlight = all.values.filter { $0.record.state == .inFlight }.map(\.record.id.number).sorted()
        #expect(try reader.numbersInFlight().sorted() == inFlight)
        let states = try reader.states(of: .range(1...400))
        #expect(states.map(\.number) == numbers)
        #expect(states.filter(\.isInFlight).map(\.number) == inFlight)
    }

    @Test("are ordered by any column, numbers behind it, those without a value first")
    func order() throws {
        let (reader, all, feed) = try varied()
        defer { feed.recorder.close() }
        let records = all.values.map(\.record).sorted { $0.id.number < $1.id.number }
        func numbers<Key: Comparable>(_ key: (ExchangeRecord) -> Key) -> [Int64] {
            records.sorted { (key($0), $0.id.number) < (key($1), $1.id.number) }.map(\.id.number)
        }
        for (order, expected) in [
            (ExchangeOrder.total, numbers { $0.timings.total ?? -1 }), (.status, numbers(\.status)),
            (.listedSize, numbers(\.listedSize)), (.method, numbers(\.method)),
            (.host, numbers(\.url.host)), (.number, numbers(\.id.number)), (.mediaType, numbers(\.mediaType)),
        ] {
            #expect(try reader.numbers(matching: .everything, by: order) == expected, "\(order)")
            let reversed = try reader.numbers(matching: .everything, by: order, isDescending: true)
            #expect(reversed == expected.reversed(), "\(order)")
        }
    }

    @Test("end when they are watched and told to, and say how far they are")
    func cancelled() throws {
        let feed = try Feed(path: scratch.session)
        for number in Int64(1)...2_000 { feed.submit(Samples.exchange(number)) }
        feed.recorder.close()
        let reader = try SessionReader(path: scratch.session)
        let seen = Mutex<[Int64]>([])
        #expect(throws: CancellationError.self) {
            try reader.numbers(matching: Filter("host:nowhere"), by: .path) { rows in
                seen.withLock { $0.append(rows) }
                return rows < 1_000
            }
        }
        let rows = seen.withLock { $0 }
        #expect(rows == rows.sorted() && rows.contains { $0 > 0 && $0 < 1_000 } && rows.last ?? 0 < 1_500)
        #expect(try reader.numbers(matching: Filter("host:api*")).count == 2_000)
    }

    @Test("take as many terms as a filter can have")
    func many() throws {
        let feed = try Feed(path: scratch.session)
        feed.submit(Samples.exchange(1))
        feed.recorder.close()
        let reader = try SessionReader(path: scratch.session)
        let words = Array(repeating: "a", count: 4_900)
        #expect(try reader.numbers(matching: Filter(words.joined(separator: " "))) == [1])
        #expect(try reader.numbers(matching: Filter("id:" + words.map { _ in "2" }.joined(separator: ","))).isEmpty)
    }

    @Test("nest as deep as parentheses may, and mean the same as in memory", arguments: 0..<8)
    func deep(seed: UInt64) throws {
        let feed = try Feed(path: scratch.session)
        for number in Int64(1)...6 { feed.submit(Samples.exchange(number)) }
        feed.recorder.close()
        let reader = try SessionReader(path: scratch.session)
        var random = SplitMix(seed)
        /// A filter of numbers that is nested so deep, and the numbers that it lets pass.
        func nested(_ depth: Int) -> (text: String, numbers: Set<Int64>) {
            let some = Set((Int64(1)...6).filter { _ in Bool.random(using: &random) } + [6])
            var (text, numbers) = ("id:" + some.map(String.init).joined(separator: ","), some)
            guard depth > 0 else { return (text, numbers) }
            if depth.isMultiple(of: 25) { (text, numbers) = nested(min(depth - 1, 9)) }
            let (inner, isAnd) = (nested(depth - 1), Bool.random(using: &random))
            numbers = isAnd ? numbers.intersection(inner.numbers) : numbers.union(inner.numbers)
            text = "(\(text) \(isAnd ? "and" : "or") \(inner.text))"
            return Bool.random(using: &random) ? (text, numbers) : ("!" + text, Set(1...6).subtracting(numbers))
        }
        for depth in [5, 7, 16, 60, Filter.maximumDepth] {
            let (text, numbers) = nested(depth)
            #expect(try reader.numbers(matching: Filter(text)) == numbers.sorted(), "\(text)")
        }
        for shape in ["!(a ", "(a or ", "(a ", "!(!a or "] {
            let text = String(repeating: shape, count: 100) + "b" + String(repeating: ")", count: 100)
            #expect(throws: Never.self) { try reader.numbers(matching: Filter(text)) }
        }
    }

    @Test("know their own recording, and can be asked of another")
    func recording() throws {
        var configuration = RecorderConfiguration(path: scratch.session, sluiceVersion: "1")
        configuration.labels = ["branch": "a b"]
        let feed = try Feed(configuration)
        var random = SplitMix(1)
        feed.submit(try Whole(1, &random).events)
        defer { feed.recorder.close() }
        feed.recorder.flush()
        let reader = try SessionReader(path: scratch.session)
        let identifier = try reader.identity().identifier.uuidString
        let (mine, other) = (identifier.prefix(6), "0f0f0f0f-0")
        for (text, matches) in [
            ("session:\(mine)", true), ("session:\(other)", false), ("label:\"branch=a b\"", true),
            ("label:branch=a", false), ("not session:\(other),\(mine)", false), ("label:x=y or session:\(mine)", true),
            ("not label:x=y host:*", true), ("!(label:\"branch=a b\" session:\(mine))", false),
        ] {
            let filter = try Filter(text)
            #expect(try reader.numbers(matching: filter).isEmpty != matches, "\(text)")
            let decided = filter.of(recording: identifier, ["branch": "a b"])
            #expect(try !decided.asksForRecording && reader.numbers(matching: decided).isEmpty != matches, "\(text)")
            #expect(try reader.numbers(matching: Filter(root: filter.root.necessary())).isEmpty != matches, "\(text)")
        }
    }

    @Test("are written for the database that they are for")
    func dialect() throws {
        let filter = try Filter("host:*.example,b status:4xx query:x")
        let condition = SQLCondition(filter, dialect: .postgreSQL("traffic"), firstArgument: 3)
        #expect(condition.sql.contains("strpos(coalesce(e.query, ''), $"))
        #expect(condition.sql.contains("lower(e.host) LIKE lower($"))
        #expect(condition.sql.contains("e.status BETWEEN 400 AND 499"))
        #expect(!condition.sql.contains("?") && condition.joins.isEmpty)
        #expect(SQLCondition(try Filter("header:a ip:b body:c")).joins.components(separatedBy: " JOIN ").count == 3)
    }

    @Test("count sites and segments, of those in flight or of the others")
    func structure() throws {
        let (reader, all, feed) = try varied()
        defer { feed.recorder.close() }
        let records = all.values.map(\.record)
        for isInFlight in [false, true] {
            let groups = try reader.structure(
                of: nil,
                rows: .all,
                matching: .everything,
                inFlight: isInFlight
            )
            let own = records.filter { ($0.state == .inFlight) == isInFlight }
            let sites = Dictionary(grouping: own) { "\($0.url.scheme)://\($0.url.authority)" }
            #expect(Set(groups.map(\.name)) == Set(sites.keys))
            for group in groups {
                let members = sites[group.name] ?? []
                #expect(group.count == members.count && group.newest == members.map(\.id.number).max())
                let errors = members.filter {
                    $0.status >= 400 || $0.grpc?.status ?? 0 > 0 || $0.failure != nil || $0.state == .failed
                }
                #expect(group.errors == errors.count)
                #expect(group.further == members.filter { !$0.url.path.isEmpty }.count)
            }
        }
        let site = RequestURL(scheme: "http", host: "::1", port: 443, path: "")
        let below = records.filter { $0.url.scheme == "http" && $0.url.host == "::1" && $0.url.port == 443 }
        for (segments, prefix) in [([], ""), (["x"], "/x"), (["x", "y y"], "/x/y y")] as [([String], String)] {
            var expected: [String: Int64] = [:]
            for path in below.map(\.url.path) where !path.isEmpty {
                var rest = Substring(path)
                guard rest.hasPrefix(prefix) else { continue }
                rest = rest.dropFirst(prefix.count)
                if rest.first == "/" { rest = rest.dropFirst() } else if !prefix.isEmpty { continue }
                expected[String(rest.prefix { $0 != "/" }), default: 0] += 1
            }
            let groups = try [false, true].flatMap {
                try reader.structure(of: site, segments: segments, rows: .all, matching: .everything, inFlight: $0)
            }
            #expect(!groups.isEmpty || !segments.isEmpty)
            #expect(Dictionary(groups.map { ($0.name, $0.count) }, uniquingKeysWith: +) == expected, "\(segments)")
        }
    }

    @Test("know the lowest and the highest number, and of an empty session none")
    func bounds() throws {
        let feed = try Feed(path: scratch.session)
        feed.recorder.flush()
        let reader = try SessionReader(path: scratch.session)
        #expect(try reader.bounds() == nil)
        feed.submit(Samples.exchange(5) + Samples.exchange(9))
        feed.recorder.flush()
        #expect(try reader.bounds() == 5...9)
        #expect(try reader.records([9, 7, 5]).map { $0?.id.number } == [9, nil, 5])
    }
}

/// An exchange with all that a filter can ask about.
private struct Whole {
    let record: ExchangeRecord
    /// The bodies decoded, as the reference looks at them.
    private(set) var bodies: [BodySide: ByteBuffer] = [:]
    private(set) var events: [RecordEvent] = []

    /// Bodies that have values.
    private static let structured = [
        "{\"a\":{\"b\":[1,\"ya\",2.50]},\"é\":null,\"id\":5}", "{\"id\":\"5\",\"a\":5,\"id\":7}",
        "[{\"id\":5.0},{\"id\":\"x\\u0079\"}]",
        "{\"a\":{\"b\":\"needle\"}" + String(repeating: " ", count: 70_000) + "}", "{\"id\":5", "{\"\\u0069d\":\"\"}",
        "{\"query\":\"mutation Add($x: Int) { add(x: $x) }\",\"variables\":{\"x\":[3]}}", "<r><id n=\"5\">ya</id></r>",
        "id=5&ya=%79a&id=",
    ].map { ByteBuffer(string: $0) }

    init(_ number: Int64, _ random: inout SplitMix) throws {
        func one<Value>(_ values: [Value]) -> Value { values[Int(random.next() % UInt64(values.count))] }
        var record = Samples.record(number, state: one([.complete, .complete, .inFlight, .blocked]))
        record.kind = one(ExchangeRecord.Kind.allCases)
        record.method = one(["GET", "POST", "get", "yaBé"])
        record.url.scheme = one(["http", "https", "tunnel", "ws"])
        record.url.host = one(["a.example", "::1", "ya", "Yb*.example", "y%_x"])
        record.url.port = one([80, 443, 8_080])
        // Of a tunnel just host and port are known.
        record.url.path =
            record.url.scheme == "tunnel"
            ? "" : one(["/", "*", "", "/x/\(number)", "/x/y y/a", "/ya\\b[%", "/x", "//x/y y", "ya", "/é_ya"])
        record.url.query = one([nil, "", "q=\(number)", "YA?b=é", "80"])
        record.status = one([0, 200, 404, 500])
        record.clientVersion = one([.http2, .http11, .http10])
        record.upstreamVersion = one([nil, .http10, .http2])
        record.mediaType = one(["", "application/json", "application/grpc+proto", "text/html", "application/x-json+y"])
        record.timings.total = one([nil, number * 1_000, 5, 7_250_000])
        record.tally.fromServer = one([0, 5, 9])
        record.sizes.responseWire = one([0, 900, 5_000])
        record.tally.fromClient = one([0, 3])
        record.flags = ExchangeRecord.Flags(rawValue: UInt32(truncatingIfNeeded: random.next()) & 0x7FFF)
        record.clientConnection = ConnectionID(one([1, 3, 5, 9]))
        record.upstreamConnection = one([nil, ConnectionID(2), ConnectionID(4), ConnectionID(6)])
        if random.next() % 5 == 0 {
            record.state = .failed
            record.failure = ExchangeFailure(one(ExchangeFailure.Code.allCases), "gone")
        }
        if random.next() % 3 == 0 {
            record.extras.process = ClientProcess(id: one([1, 4_321]), name: one(["sluice", "é x"]))
        }
        if random.next() % 6 == 0 { record.grpc = GRPCOutcome(status: one([0, 2, 10])) }
        if random.next() % 4 != 0 { record.startedAt = one([1_772_236_800_000_000, 1_709_164_800_000_000]) }

        var messages = ExchangeMessages()
        let fields = [
            "X-Y: ya\r\n", "x-y: b\r\n folded ya\r\n", "x-yz:\t yaB \r\n", ":path: /ya\r\n", "no colon\r\n",
            "A-b: yx\r\n", "Cookie: id=5; ya=b\r\n", "Set-Cookie: id=ya; Path=/\r\n",
            "Content-Type: application/json\r\n",
            "Content-Type: application/x-www-form-urlencoded\r\n", "Content-Type: text/xml\r\n",
        ]
        func head(_ start: String) -> ByteBuffer { ByteBuffer(string: start + one(fields) + one(fields) + "\r\n") }
        messages.requestHead = one([nil, head("GET / HTTP/1.1\r\n"), head("no-start-line\r\n")])
        messages.requestHeadSent = one([nil, nil, head("GET /ya HTTP/1.1\r\n")])
        messages.requestTrailers = one([nil, ByteBuffer(string: one(fields))])
        messages.responseTrailers = one([nil, ByteBuffer(string: one(fields))])
        let isCoded = random.next() % 3 == 0
        let coding = isCoded ? "Content-Encoding: gzip\r\n" : ""
        let isWide = random.next() % 4 == 0
        let start = "HTTP/1.1 200 OK\r\n\(coding)\(isWide ? "Content-Type: text/plain; charset=utf-16be\r\n" : "")"
        messages.responseHead = isCoded || isWide ? head(start) : one([nil, head("HTTP/1.1 oops\r\n")])
        messages.responseHeadSent = one([nil, head(start)])

        var bodies: [BodySide: ByteBuffer] = [:]
        var stored: [(BodySide, ByteBuffer)] = []
        // What comes of a body in flight is in the file only a second later.
        for side in BodySide.allCases where random.next() % 3 != 0 && record.state != .inFlight {
            // A stage that changed a body has said so, of the message and of the body.
            let changed: (ExchangeRecord.Flags, ExchangeRecord.Flags)? =
                switch side {
                case .requestSent: (.requestChanged, .requestBodyChanged)
                case .responseSent: (.responseChanged, .responseBodyChanged)
                default: nil
                }
            if let changed { record.flags.formUnion([changed.0, changed.1]) }
            var body = ByteBuffer(repeating: UInt8(ascii: "."), count: one([0, 0, 4_000, 65_534]))
            body.writeString(one(["ya", "YAB", "a(b", "needle", "hay", "é*x"]))
            if random.next() % 2 == 0 { body = one(Whole.structured) }
            let isOfResponse = side == .responseReceived || side == .responseSent
            if random.next() % 4 == 0, !isOfResponse || !isWide { body.writeRepeatingByte(0, count: 70_000) }
            bodies[side] = body
            if isOfResponse, isWide, let wide = TextEncoder.exactly(String(buffer: body), as: .utf16BigEndian) {
                body = wide
            }
            stored.append((side, isOfResponse && isCoded ? try ContentEncoder.encode(body, coding: .gzip) : body))
            if side == .requestReceived { record.sizes.requestBody = Int64(body.readableBytes) }
            if side == .responseReceived { record.sizes.responseBody = Int64(stored.last?.1.readableBytes ?? 0) }
        }
        // Without a body of its own the side as sent is the one as received.
        for (sent, received) in [(BodySide.requestSent, BodySide.requestReceived), (.responseSent, .responseReceived)] {
            bodies[sent] = bodies[sent] ?? bodies[received]
        }
        self.record = record
        self.bodies = bodies
        var opened = record
        opened.state = .inFlight
        events = [.opened(record.state == .inFlight ? record : opened, messages)]
        events += stored.map { .body(record.id, $0.0, $0.1) }
        if record.state != .inFlight { events.append(.finished(record, messages)) }
    }
}

/// Filters that ask about what the exchanges have.
private enum FilterText {
    static let fixed = [
        "", "host:a*", "host:b.example method:get", "url:https://[::1]:8080/x/*", "x/3", "path:/x/*", "query:q=",
        "scheme:tunnel", "port:80", "status:4xx,5xx", "status:0", "type:json", "type:text/*", "size:>1kb", "size:900",
        "80", "!trace-id:*", "trace-id:4b",
        "time:>100ms", "!time:>1ms", "messages:>5", "id:10..20", "id:5..12 id:<9", "id:3 id:9",
        "(id:2 or id:>30) !id:40", "version:h2", "version:1.0", "grpc:*", "grpc:>0",
        "error or id:3", "!(method:get or status:200)", "ip:10.0.*", "!ip:*", "client:ayb", "header:x-y",
        "path:/^\\/x\\/\\d$/", "!host:/^a\\./", "header:x-y:/y[ab]/", "!resheader:x-*:/^y/", "body:/n..dle|[^a-z]ya/",
        "!resbody:/^(?:ya)+/", "url:/:\\d+\\/x/", "query:/^q=|^$/", "method:/^(GET|PUT)$/", "process:sluice*",
        "!process:/./",
        "process:>1", "error", "!error", "is:failed",
        "!resheader:\"x-*: ya\"", "body:needle", "!body:hay", "resbody:needle or reqbody:ya", "ip:2001:db8::7",
    ]

    static func expression(_ random: inout SplitMix, depth: Int) -> String {
        switch depth > 3 ? 0 : random.next() % 6 {
        case 0, 1, 2: return term(&random)
        case 3: return "!" + expression(&random, depth: depth + 4)
        default:
            let word = [" ", " or "][Int(random.next() % 2)]
            let operands = (0...random.next() % 3).map { _ in expression(&random, depth: depth + 1) }
            return "(" + operands.joined(separator: word) + ")"
        }
    }

    private static func term(_ random: inout SplitMix) -> String {
        func one(_ values: [String]) -> String { values[Int(random.next() % UInt64(values.count))] }
        let text = one([
            "ya", "y*", "*x", "*a*", "a?example", "\"y%_x\"", "[xy]a", "\"::1\"", "/x/y*", "é", "a.example", "8080",
            "yA\\*",
            "\"ya\\\\b[%\"", "//", "x", "1:443/", "get", "https", "example/x", "\"y y\"", "_",
        ])
        switch random.next() % 8 {
        case 0: return text
        case 6:
            let place = one([
                "req.json.id", "res.json.id", "res.json[*].id", "res.json.a.b[-1]", "res.json.a.b[*]", "res.json",
                "req.json.a.b", "sent.req.json.id", "sent.res.json.a", "req.header.x-y", "res.header.x-y[0]",
                "sent.res.header.a-b", "req.trailer.x-y", "req.cookie.id", "res.cookie.id", "req.query.q", "req.method",
                "sent.req.method", "req.host", "sent.req.url", "req.path", "res.status", "sent.res.status", "res.body",
                "req.form.id", "res.form.ya", "res.xml.r.id", "req.xml.r.id.@n", "graphql.operation", "graphql.type",
                "graphql.variables.x[0]", "message#1.body", "message#2.json.id",
            ])
            return place + ":"
                + one([
                    "*", "\"\"", "5", "ya", ">3", "<=5", "2..6", "/y/", "Add", "mutation", "x*", "*a*", "*.example",
                    "null",
                ])
        case 1, 2:
            if random.next() % 4 == 0 {
                return one(["host", "path", "query", "url", "scheme", "method"]) + ":"
                    + one(["/^.\\W/", "/[xy]$/", "/(?:a|é)+/", "/^$/", "/\\d{2}/"])
            }
            return one(["host", "path", "query", "url", "scheme", "method", "type", "ip", "client"]) + ":" + text
        case 3:
            return one(["body", "reqbody", "resbody"]) + ":"
                + one(["/y.{1,3}a/", "/(?s)^.{3}y/", "ya", "needle", "\"a(b\"", "é*x", "..ya"])
        case 4:
            if random.next() % 5 == 0 { return "time:" + one([">5us", "<7.25s", "3..8ms", "4..", ">=0", "1ms..1s"]) }
            return one(["id:", "port:", "status:", "grpc:", "messages:"])
                + one(["5", ">5", "<7", ">=0", "3..80", "100..", "..200", "0"])
                + one(["", "", " size:>1kb"])
        case 5:
            return one(["header", "reqheader", "resheader"]) + ":"
                + one(["x-y:/a|b/", "*:/^[^y]+$/", "x-y", "*y", "\"x-y: ya\"", "\"*: *b\"", "a-b"])
        default:
            return one([
                "error", "is:tls,held", "version:h1", "version:1.0,h2", "grpc:aborted,*", "since:2026-02-28",
                "before:2024-02-29T00:00Z", "is:inflight", "is:grpc", "type:json", "type:application/*",
            ])
        }
    }
}
