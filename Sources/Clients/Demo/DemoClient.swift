import HTTPModel
import NIOCore
import Runner
import Wire

struct DemoClient: Sendable {
    let proxy: SocketAddress
    let origin: DemoOrigin
    /// Accepts only connections that the proxy decrypts.
    private let trustsProxy: TLSTrust
    /// Accepts only connections that the proxy does not decrypt.
    private let trustsOrigin: TLSTrust

    /// The path of the exchange that shows the most features.
    static let featuredPath = DemoProfile.rewrittenPath
    static let deadPort = 1

    init(proxy: SocketAddress, authority: CertificateAuthority, origin: DemoOrigin) {
        self.proxy = proxy
        self.origin = origin
        trustsProxy = TLSTrust(includesSystem: false, authorities: [authority])
        trustsOrigin = TLSTrust(includesSystem: false, authorities: [origin.authority])
    }

    /// Throws for the first unexpected answer.
    func run() async throws {
        try await shop()
        try await logIn()
        try await converse(["up or down?", "how high is the water?", "thank you"])
        try await fail()
        try await look()
        try await multiplex()
        try await passThrough()
    }

    func shop() async throws {
        try await plain { connection in
            let products = try await DemoClient.products(connection)
            let cookies = products.head.fields.values(of: .setCookie).map { $0.prefix { $0 != ";" } }
            try await DemoClient.order(connection, cookies: cookies.joined(separator: "; "))
            let moved = try await connection.fetch("GET", "/old-page", expecting: 302)
            let location = moved.head.fields.value(of: "Location") ?? ""
            try await connection.fetch("GET", location, expecting: 200) { $0.text.contains("Here it is") }
            try await DemoClient.askHours(connection)
        }
    }

    func logIn() async throws {
        try await plain { connection in
            try await connection.fetch(
                "POST",
                DemoProfile.heldPath,
                fields: [("Content-Type", "application/json")],
                body: [ByteBuffer(string: "{ \"user\": \"ada\", \"password\": \"lock and key\" }\n")],
                expecting: 200
            )
        }
    }

    func converse(_ messages: [String], pause: Duration = .zero) async throws {
        try await plain { try await $0.converse("/api/chat", messages, pause: pause) }
    }

    func watch(count: Int, pauseMilliseconds: Int) async throws {
        let path = "/api/events?count=\(count)&pause=\(pauseMilliseconds)"
        try await secure { try await $0.fetch("GET", path, expecting: 200) }
    }

    func fail() async throws {
        try await track()
        try await askNobody()
    }

    func look() async throws {
        try await secure { connection in
            try await DemoClient.read(connection)
            try await DemoClient.see(connection)
            try await connection.fetch("GET", "/api/slow", expecting: 200)
            try await connection.fetch("GET", "/missing", expecting: 404)
            try await connection.fetch("GET", "/api/broken", expecting: 500)
            try await connection.fetch("GET", "/api/events", expecting: 200) {
                $0.text.split(separator: "\n\n").count == 6
            }
            var download = ByteBuffer()
            for _ in 0..<DemoContent.downloadPieces { download.writeImmutableBuffer(DemoContent.piece) }
            try await connection.fetch("GET", "/download/large.bin", expecting: 200) { $0.body == download }
            try await DemoClient.upload(connection)
        }
    }

    func multiplex() async throws {
        try await http2 { connection in
            try await DemoClient.products(connection)
            try await DemoClient.see(connection)
            try await DemoClient.call(connection)
        }
    }

    /// The client receives the origin's own certificate.
    func passThrough() async throws {
        try await open("https", DemoProfile.unreadHost, origin.unreadPort) { connection in
            try await connection.startTLS(trust: trustsOrigin)
            try await DemoClient.products(connection)
        }
    }

    static let everyday: [@Sendable (DemoClient) async throws -> Void] = [
        { try await $0.plain { try await $0.fetch("GET", "/api/products", expecting: 200) } },
        { try await $0.secure { try await read($0) } },
        { try await $0.http2 { try await call($0) } },
        { try await $0.plain { try await order($0, cookies: "basket=b-1787; theme=dark") } },
        { try await $0.secure { try await see($0) } },
        { try await $0.track() },
        { try await $0.http2 { try await $0.fetch("GET", "/api/products", expecting: 200) } },
        { try await $0.secure { try await $0.fetch("GET", "/missing", expecting: 404) } },
        { try await $0.plain { try await $0.fetch("GET", "/old-page", expecting: 302) } },
        { try await $0.secure { try await $0.fetch("GET", "/api/slow", expecting: 200) } },
        { try await $0.askNobody() },
        { try await $0.plain { try await askHours($0) } },
        { try await $0.secure { try await $0.fetch("GET", "/api/broken", expecting: 500) } },
    ]

    @discardableResult
    private static func products(_ connection: DemoConnection) async throws -> DemoConnection.Response {
        try await connection.fetch("GET", "/api/products", expecting: 200) { $0.text == DemoContent.products() }
    }

    private static func order(_ connection: DemoConnection, cookies: String) async throws {
        try await connection.fetch(
            "POST",
            "/api/orders",
            fields: [("Cookie", cookies), ("Content-Type", "application/x-www-form-urlencoded")],
            body: [ByteBuffer(string: "product=Paddle+gear&quantity=2&note=for+the+caf%C3%A9")],
            expecting: 201
        ) { $0.text.contains("Paddle gear") && $0.text.contains("for the café") && $0.text.contains(cookies) }
    }

    private static func askHours(_ connection: DemoConnection) async throws {
        try await connection.fetch("GET", DemoProfile.mappedPath, expecting: 200) { $0.text == DemoProfile.hours }
    }

    private static func read(_ connection: DemoConnection) async throws {
        try await connection.fetch("GET", featuredPath, expecting: 200) {
            $0.head.fields.value(of: .contentEncoding) == "gzip" && $0.text == DemoContent.articles()
                && $0.head.fields.value(of: FieldName(DemoProfile.stamp.name)) == DemoProfile.stamp.value
        }
    }

    private static func see(_ connection: DemoConnection) async throws {
        let picture = try DemoContent.picture()
        try await connection.fetch("GET", "/water.png", expecting: 200) { $0.body == picture }
    }

    private static func call(_ connection: DemoConnection) async throws {
        try await connection.fetch(
            "POST",
            DemoContent.callPath,
            fields: [("Content-Type", "application/grpc+proto"), ("TE", "trailers")],
            body: [DemoContent.call(lock: "lock 7")],
            expecting: 200
        ) { $0.trailers?.value(of: "grpc-status") == "0" && $0.body == DemoContent.call(lock: "lock 7", metres: 9) }
    }

    private func track() async throws {
        try await open("http", DemoProfile.blockedHost, 80) {
            try await $0.fetch("GET", "/pixel.gif?page=shop", expecting: 403)
        }
    }

    private func askNobody() async throws {
        try await open("http", "localhost", DemoClient.deadPort) {
            try await $0.fetch("GET", "/api/stock", expecting: 502)
        }
    }

    private static func upload(_ connection: DemoConnection) async throws {
        let pieces = Array(repeating: DemoContent.piece, count: DemoContent.uploadPieces)
        var checksum = CRC32()
        for piece in pieces { checksum.add(piece) }
        try await connection.fetch(
            "PUT",
            "/upload/large.bin",
            fields: [("Content-Type", "application/octet-stream")],
            body: pieces,
            expecting: 200
        ) { $0.text.contains("\"crc32\": \"\(String(checksum.value, radix: 16))\"") }
    }

    private func plain(_ body: (DemoConnection) async throws -> Void) async throws {
        try await open("http", "localhost", origin.httpPort, body)
    }

    private func secure(_ body: (DemoConnection) async throws -> Void) async throws {
        try await open("https", "localhost", origin.httpsPort) { connection in
            try await connection.startTLS(trust: trustsProxy)
            try await body(connection)
        }
    }

    private func http2(_ body: (DemoConnection) async throws -> Void) async throws {
        try await open("https", "localhost", origin.http2Port) { connection in
            try await connection.startTLS(trust: trustsProxy, isHTTP2: true)
            try await body(connection)
        }
    }

    private func open(
        _ scheme: String,
        _ host: String,
        _ port: Int,
        _ body: (DemoConnection) async throws -> Void
    ) async throws {
        let url = RequestURL(scheme: scheme, host: host, port: port, path: "/")
        try await HTTPConnection.open(.address(proxy)) { try await body(DemoConnection($0, url)) }
    }
}
