import HTTPModel
import NIOCore

/// Exchanges such as applications make: forty hosts, paths of several depths, a hundredth of them failing.
struct Traffic {
    /// One exchange: how it begins, and everything after that.
    struct Exchange {
        var opened: RecordEvent
        var rest: [RecordEvent]
    }

    private var number: Int64
    private var time: Int64 = 1_795_000_000_000_000
    private var random: Random
    private let firstConnection: Int64

    init(first: Int64, seed: UInt64, connection: Int64) {
        number = first
        random = Random(seed: seed &+ UInt64(first))
        firstConnection = connection
    }

    /// The connections that the exchanges use: one to the client, one to each host.
    var connections: [RecordEvent] {
        (0...Int64(Traffic.hosts.count)).map { index in
            .connection(
                ConnectionRecord(
                    id: ConnectionID(firstConnection + index),
                    leg: index == 0 ? .client : .upstream,
                    openedAt: time,
                    localAddress: "127.0.0.1:8080",
                    peerAddress: index == 0 ? "127.0.0.1:40000" : "10.0.0.\(index):443"
                )
            )
        }
    }

    mutating func next() -> Exchange {
        let hostIndex = Int(random.skewed(40))
        let kind = random.below(100)
        let template = Traffic.templates[Int(random.skewed(UInt64(Traffic.templates.count)))]
        let item = random.below(kind < 20 ? 1_000_000 : 500)
        let path = template.path.replacing("#", with: String(item))
        let secure = hostIndex % 5 != 4
        var record = ExchangeRecord(
            id: ExchangeID(number),
            kind: .http,
            startedAt: time,
            method: kind < 72 ? "GET" : kind < 88 ? "POST" : kind < 94 ? "PUT" : kind < 97 ? "DELETE" : "OPTIONS",
            url: RequestURL(
                scheme: secure ? "https" : "http",
                host: Traffic.hosts[hostIndex],
                port: hostIndex == 39 ? 8_443 : secure ? 443 : 80,
                path: path,
                query: random.below(3) == 0 ? "page=\(random.below(50))&token=\(random.below(1_000_000))" : nil
            ),
            clientConnection: ConnectionID(firstConnection)
        )
        number += 1
        time += Int64(random.below(400))
        var messages = ExchangeMessages()
        messages.requestHead = ByteBuffer(string: requestHead(record))
        record.sizes.requestHead = Int64(messages.requestHead?.readableBytes ?? 0)
        record.upstreamConnection = ConnectionID(firstConnection + 1 + Int64(hostIndex))
        record.upstreamVersion = .http11
        let opened = RecordEvent.opened(record, messages)

        var rest: [RecordEvent] = []
        if ["POST", "PUT"].contains(record.method) {
            let body = ByteBuffer(string: #"{"item":\#(item),"note":"\#(text(40))"}"#)
            record.sizes.requestBody = Int64(body.readableBytes)
            rest.append(.body(record.id, .requestReceived, body))
        }
        end(&record, &messages, template.mediaType, &rest)
        rest.append(.finished(record, messages))
        return Exchange(opened: opened, rest: rest)
    }

    private mutating func end(
        _ record: inout ExchangeRecord,
        _ messages: inout ExchangeMessages,
        _ mediaType: String,
        _ rest: inout [RecordEvent]
    ) {
        let wait = Int64(2_000 + random.below(30_000) * (random.below(50) == 0 ? 40 : 1))
        record.timings.blocked = Int64(random.below(60))
        record.timings.send = 30
        record.timings.wait = wait
        record.timings.receive = Int64(random.below(3_000))
        record.timings.total = wait + 3_100
        if random.below(100) == 0 {
            record.state = .failed
            record.failure = ExchangeFailure(.reset, "\(record.url.host) closed the connection before its answer.")
            return
        }
        let draw = random.below(200)
        record.state = .complete
        record.status = draw < 2 ? 500 : draw < 3 ? 503 : draw < 8 ? 404 : draw < 10 ? 401 : draw < 24 ? 304 : 200
        if random.below(60) == 0 { record.flags.insert(.requestChanged) }
        if random.below(80) == 0 { record.flags.insert(.responseChanged) }
        if random.below(900) == 0 { record.flags.insert(.held) }
        if record.status != 304 {
            record.mediaType = mediaType
            let body = ByteBuffer(string: #"{"id":\#(record.id),"text":"\#(text(120 + Int(random.below(100))))"}"#)
            // A hundredth are said to be larger than what is kept of them here, so that sizes differ as they do outside.
            record.sizes.responseBody = Int64(body.readableBytes) * (random.below(100) == 0 ? 5_000 : 1)
            rest.append(.body(record.id, .responseReceived, body))
        }
        messages.responseHead = ByteBuffer(string: responseHead(record))
        record.sizes.responseHead = Int64(messages.responseHead?.readableBytes ?? 0)
        record.sizes.requestWire = record.sizes.requestHead + record.sizes.requestBody
        record.sizes.responseWire = record.sizes.responseHead + record.sizes.responseBody
    }

    private func requestHead(_ record: ExchangeRecord) -> String {
        "\(record.method) \(record.url.pathAndQuery) HTTP/1.1\r\nHost: \(record.url.authority)\r\n"
            + "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0\r\n"
            + "Accept: application/json, text/plain, */*\r\nAccept-Encoding: gzip, deflate, br\r\n\r\n"
    }

    private func responseHead(_ record: ExchangeRecord) -> String {
        "HTTP/1.1 \(record.status) \(record.status == 200 ? "OK" : "Other")\r\nServer: nginx/1.22.1\r\n"
            + "Date: Sat, 21 Nov 2026 10:57:03 GMT\r\nContent-Type: \(record.mediaType)\r\n"
            + "Content-Length: \(record.sizes.responseBody)\r\nConnection: keep-alive\r\n\r\n"
    }

    private mutating func text(_ length: Int) -> String {
        var text = ""
        while text.utf8.count < length { text += Traffic.words[Int(random.below(UInt64(Traffic.words.count)))] + " " }
        return text
    }

    private static let hosts =
        ["api", "cdn", "auth", "images", "search", "events", "mail", "pay"].flatMap { name in
            ["example.com", "shop.example", "media.example", "internal.test", "partner.example"].map { "\(name).\($0)" }
        }

    private static let templates: [(path: String, mediaType: String)] = [
        ("/v1/users/#", "application/json"), ("/v1/users/#/orders", "application/json"),
        ("/static/js/app.#.js", "text/javascript"), ("/static/css/site.css", "text/css"),
        ("/images/products/#/large.webp", "image/webp"), ("/v2/search", "application/json"),
        ("/", "text/html"), ("/graphql", "application/json"), ("/v1/carts/#/items/#", "application/json"),
        ("/events/collect", "text/plain"), ("/fonts/body.woff2", "font/woff2"),
        ("/docs/a/b/c/d/page-#.html", "text/html"),
    ]

    private static let words = [
        "alpha", "bravo", "cargo", "delta", "early", "forms", "green", "hotel", "index", "joint", "karma", "lemon",
    ]
}

/// Numbers that are the same for the same seed.
struct Random {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 | 1 }

    mutating func below(_ limit: UInt64) -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return (state >> 11) % limit
    }

    /// A number below the limit, low ones more often.
    mutating func skewed(_ limit: UInt64) -> UInt64 { min(below(limit), below(limit)) }
}
