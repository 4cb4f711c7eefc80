import HTTPModel
import NIOCore
import Wire

/// The demo's client: asks the origin through the proxy for one thing after the other, and checks what it gets.
struct DemoClient: Sendable {
    /// The proxy's address.
    let proxy: SocketAddress
    /// The origin that is asked.
    let origin: DemoOrigin
    /// Trusts nothing but the proxy's authority: what passes was decrypted on the way.
    let trustsProxy: TLSTrust
    /// Trusts nothing but the origin's authority: what passes was not.
    let trustsOrigin: TLSTrust

    /// The path of the exchange that has the most to show.
    static let tellingPath = "/api/articles"
    /// A host that the proxy of the demo is told to pass through unread.
    static let unreadHost = "127.0.0.1"

    /// Has all the exchanges.
    ///
    /// - Throws: `StartFailure` for the first that does not go as it must.
    func run() async throws {
        try await shop()
        try await look()
        try await passThrough()
    }

    /// Over HTTP: JSON with cookies, a form, a redirect.
    private func shop() async throws {
        let url = RequestURL(scheme: "http", host: "localhost", port: origin.httpPort, path: "/")
        try await DemoConnection.open(to: url, through: proxy) { connection in
            let products = try await connection.fetch("GET", "/api/products", expecting: 200) {
                $0.text == DemoContent.products()
            }
            let cookies = products.head.fields.values(of: .setCookie).map { $0.prefix { $0 != ";" } }
                .joined(separator: "; ")
            try await connection.fetch(
                "POST",
                "/api/orders",
                fields: [("Cookie", cookies), ("Content-Type", "application/x-www-form-urlencoded")],
                body: [ByteBuffer(string: "product=Paddle+gear&quantity=2&note=for+the+caf%C3%A9")],
                expecting: 201
            ) { $0.text.contains("Paddle gear") && $0.text.contains("for the café") && $0.text.contains(cookies) }
            let moved = try await connection.fetch("GET", "/old-page", expecting: 302)
            let location = moved.head.fields.value(of: "Location") ?? ""
            try await connection.fetch("GET", location, expecting: 200) { $0.text.contains("Here it is") }
        }
    }

    /// Over HTTPS, decrypted by the proxy: the rest.
    private func look() async throws {
        let url = RequestURL(scheme: "https", host: "localhost", port: origin.httpsPort, path: "/")
        try await DemoConnection.open(to: url, through: proxy) { connection in
            try await connection.startTLS(trust: trustsProxy)
            try await connection.fetch("GET", DemoClient.tellingPath, expecting: 200) {
                $0.head.fields.value(of: .contentEncoding) == "gzip" && $0.text == DemoContent.articles()
            }
            let picture = try DemoContent.picture()
            try await connection.fetch("GET", "/water.png", expecting: 200) { $0.body == picture }
            try await connection.fetch("GET", "/api/slow", expecting: 200)
            try await connection.fetch("GET", "/missing", expecting: 404)
            try await connection.fetch("GET", "/api/broken", expecting: 500)
            try await connection.fetch("GET", "/api/events", expecting: 200) {
                $0.text.split(separator: "\n\n").count == 6
            }
            try await connection.fetch("GET", "/download/large.bin", expecting: 200) {
                DemoClient.isDownload($0.body)
            }
            try await upload(connection)
        }
    }

    private func upload(_ connection: DemoConnection) async throws {
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

    /// Over HTTPS that the proxy was told not to decrypt: the client meets the origin's own certificate.
    private func passThrough() async throws {
        let url = RequestURL(scheme: "https", host: DemoClient.unreadHost, port: origin.secondPort, path: "/")
        try await DemoConnection.open(to: url, through: proxy) { connection in
            try await connection.startTLS(trust: trustsOrigin)
            try await connection.fetch("GET", "/api/products", expecting: 200) { $0.text == DemoContent.products() }
        }
    }

    private static func isDownload(_ body: ByteBuffer) -> Bool {
        var rest = body
        for _ in 0..<DemoContent.downloadPieces {
            guard rest.readSlice(length: DemoContent.piece.readableBytes) == DemoContent.piece else { return false }
        }
        return rest.readableBytes == 0
    }
}
