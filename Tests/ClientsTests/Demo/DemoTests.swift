import Content
import ExchangeCore
import Formats
import Foundation
import HTTPModel
import NIOCore
import ProxyServer
import Recording
import Synchronization
import Testing
import Wire

@testable import Clients
@testable import Runner

@Suite("The demo", .timeLimit(.minutes(5)))
struct DemoTests {
    /// Everything that the demo printed and recorded, in a directory of its own.
    private final class Run: Sendable {
        let directory: String
        let session: String
        private let printed = Mutex("")
        private let complained = Mutex("")

        var output: String { printed.withLock { $0 } }
        var complaints: String { complained.withLock { $0 } }

        init(name: String = "demo.sluice") throws {
            directory = FileManager.default.temporaryDirectory.path + "/demo-tests-\(UUID().uuidString)"
            session = "\(directory)/\(name)"
            _ = try CertificateAuthority.open(directory: directory)
        }

        func remove() { try? FileManager.default.removeItem(atPath: directory) }

        func demo() async throws {
            var settings = RunSettings()
            settings.session = session
            settings.authority = "\(directory)/\(CertificateAuthority.fileName)"
            try await Demo.run(
                settings,
                print: { [self] text in printed.withLock { $0 += text } },
                report: { [self] text in complained.withLock { $0 += text } }
            )
        }

        func records() throws -> [ExchangeRecord] {
            var records: [ExchangeRecord] = []
            try SessionReader(path: session).forEachRecord { record in
                records.append(record)
                return true
            }
            return records
        }
    }

    @Test("records every exchange as it was")
    func records() async throws {
        let run = try Run()
        defer { run.remove() }
        try await run.demo()
        #expect(run.complaints == "")
        let records = try run.records()
        let facts = records.map { "\($0.method) \($0.url.scheme) \($0.url.host) \($0.url.path) \($0.status)" }
        #expect(
            facts == [
                "GET http localhost /api/products 200",
                "POST http localhost /api/orders 201",
                "GET http localhost /old-page 302",
                "GET http localhost /new-page 200",
                "GET http localhost /api/hours 200",
                "POST http localhost /api/login 200",
                "GET http localhost /api/chat 101",
                "GET http tracker.example /pixel.gif 403",
                "GET http localhost /api/stock 502",
                "GET https localhost /api/articles 200",
                "GET https localhost /water.png 200",
                "GET https localhost /api/slow 200",
                "GET https localhost /missing 404",
                "GET https localhost /api/broken 500",
                "GET https localhost /api/events 200",
                "GET https localhost /download/large.bin 200",
                "PUT https localhost /upload/large.bin 200",
                "GET https localhost /api/products 200",
                "GET https localhost /water.png 200",
                "POST https localhost /locks.v1.Locks/GetLevel 200",
                "CONNECT tunnel 127.0.0.1  200",
            ]
        )
        for record in records {
            switch record.url.path {
            case "/api/stock": #expect(record.failure?.code == .connect && record.state == .failed)
            case "/pixel.gif": #expect(record.failure == nil && record.state == .blocked)
            default: #expect(record.failure == nil && record.state == .complete, "\(record.url)")
            }
            let kind: ExchangeRecord.Kind =
                record.method == "CONNECT" ? .tunnel : record.status == 101 ? .webSocket : .http
            #expect(record.kind == kind, "\(record.url)")
        }
        let slow = try #require(records.first { $0.url.path == "/api/slow" })
        #expect(try #require(slow.timings.wait) >= 400_000)
        let tunnel = try #require(records.last)
        #expect(tunnel.flags.contains(.tunnelledTLS))
        #expect(tunnel.sizes.requestBody > 0 && tunnel.sizes.responseBody > 0)
    }

    @Test("keeps one connection for the exchanges of a site")
    func connections() async throws {
        let run = try Run()
        defer { run.remove() }
        try await run.demo()
        let records = try run.records()
        for path in ["/api/products", "/api/articles", "/locks.v1.Locks/GetLevel"] {
            let port = try #require(records.last { $0.url.path == path }?.url.port)
            let ofSite = records.filter {
                $0.url.port == port && $0.kind == .http && $0.url.path != DemoProfile.heldPath
            }
            #expect(ofSite.count >= 3 && Set(ofSite.map(\.clientConnection)).count == 1)
            #expect(Set(ofSite.compactMap(\.upstreamConnection)).count == 1)
        }
    }

    @Test("shows every tool and every kind of stream at work")
    func kinds() async throws {
        let run = try Run()
        defer { run.remove() }
        try await run.demo()
        let reader = try SessionReader(path: run.session)
        let records = try run.records()
        func record(_ path: String) throws -> ExchangeRecord { try #require(records.last { $0.url.path == path }) }
        func fired(_ path: String) throws -> [String] {
            try #require(try reader.exchange(record(path).id)).messages.trace.filter { $0.outcome == .fired }.map(
                \.stage
            )
        }
        #expect(try fired("/api/login") == ["breakpoints"] && record("/api/login").flags.contains(.held))
        #expect(try fired("/api/hours") == ["map-local"] && fired("/pixel.gif") == ["block"])
        #expect(try fired("/api/articles") == ["rewrite"])
        #expect(try record("/api/articles").flags.contains(.responseChanged))
        #expect(try record("/api/chat").tally.fromClient == 3 && record("/api/chat").tally.fromServer == 4)
        #expect(try record("/api/events").tally.fromServer == 6)
        let call = try record("/locks.v1.Locks/GetLevel")
        #expect(call.clientVersion == .http2 && call.upstreamVersion == .http2 && call.grpc?.status == 0)
    }

    @Test("goes on for a console until it is cancelled, whatever the proxy's rules do to it")
    func forever() async throws {
        let run = try Run()
        defer { run.remove() }
        try await DemoOrigin.run { origin in
            var (settings, profile) = try Demo.settings(for: origin, session: run.session)
            #expect(try String(contentsOfFile: settings.profiles[0], encoding: .utf8) == profile)
            settings.authority = "\(run.directory)/\(CertificateAuthority.fileName)"
            settings.hasControl = false
            settings.output = .quiet
            settings.grace = .zero
            let (ended, end) = AsyncStream<String>.makeStream()
            let proxy = try await RunningProxy.start(
                settings,
                onFinished: { records in for record in records { end.yield(record.url.path) } }
            )
            let traffic = Task {
                await Demo.drive(origin, through: proxy.address, authority: proxy.authority, forever: true)
            }
            // The burst ends with the tunnel, and what is held waits on.
            for await path in ended where path.isEmpty { break }
            let held = try #require(proxy.holds.all.first)
            #expect(held.url.path == DemoProfile.heldPath && held.limit == nil)
            proxy.holds.resolve(held.id, .abort)
            for await path in ended where path == "/api/products" { break }
            traffic.cancel()
            await traffic.value
            _ = await proxy.stop()
        }
    }

    @Test("stores the bodies whole")
    func bodies() async throws {
        let run = try Run()
        defer { run.remove() }
        try await run.demo()
        let reader = try SessionReader(path: run.session)
        let records = try run.records()
        func body(_ path: String, _ side: BodySide = .responseReceived) throws -> ByteBuffer {
            let record = try #require(records.last { $0.url.path == path && $0.url.scheme != "tunnel" })
            return try reader.body(of: record.id, side: side, limit: 1 << 24)
        }
        #expect(try body("/api/products") == ByteBuffer(string: DemoContent.products()))
        #expect(try body("/water.png") == DemoContent.picture())
        let articles = ContentDecoder.decode(try body("/api/articles"), codings: [.gzip], limit: 1 << 20)
        #expect(articles.problem == nil)
        #expect(String(buffer: articles.bytes) == DemoContent.articles())
        let form = try FormFields.parse(body("/api/orders", .requestReceived).readableBytesView)
        #expect(form.map(\.value) == ["Paddle gear", "2", "for the café"])
        let download = try body("/download/large.bin")
        #expect(download.readableBytes == 5 << 20)
        #expect(download.getSlice(at: 65_536, length: 65_536) == DemoContent.piece)
        #expect(try body("/upload/large.bin", .requestReceived).readableBytes == 2 << 20)
        #expect(String(buffer: try body("/upload/large.bin")).contains("\"bytes\": 2097152"))
    }

    @Test("decrypts with the user's authority, and verifies the origin with its own")
    func tls() async throws {
        let run = try Run()
        defer { run.remove() }
        try await run.demo()
        let reader = try SessionReader(path: run.session)
        let record = try #require(try run.records().first { $0.url.path == DemoClient.featuredPath })
        let exchange = try #require(try reader.exchange(record.id))
        let client = try #require(exchange.client?.tls)
        #expect(client.serverName == "localhost")
        #expect(client.protocolVersion == "TLSv1.3")
        let upstream = try #require(exchange.upstream?.tls)
        #expect(upstream.verificationFailure == nil)
        let certificate = try #require(upstream.peerCertificates.first)
        #expect(certificate.issuer.contains("of the demo's origin"))
        #expect(certificate.alternativeNames == ["DNS:localhost"])
    }

    @Test("prints a line for each exchange, the session, and commands with real arguments")
    func words() async throws {
        let run = try Run(name: "a demo.sluice")
        defer { run.remove() }
        try await run.demo()
        let lines = run.output.split(separator: "\n").map(String.init)
        let numbers = lines.compactMap { Int64($0.split(separator: " ").first ?? "") }
        #expect(try numbers == run.records().map(\.id.number))
        #expect(lines.contains("sluice: session \(run.session)"))
        let record = try #require(try run.records().first { $0.url.path == DemoClient.featuredPath })
        #expect(
            lines.suffix(4) == [
                "Try next",
                "  sluice list '\(run.session)'",
                "  sluice show '\(run.session)' \(record.id)",
                "  sluice export '\(run.session)' --format har -o demo.har",
            ]
        )
    }

    @Test("continues a session that is there, and points at the new exchanges")
    func again() async throws {
        let run = try Run()
        defer { run.remove() }
        try await run.demo()
        try await run.demo()
        let records = try run.records()
        #expect(records.count == 42)
        let second = try #require(records.last { $0.url.path == DemoClient.featuredPath })
        #expect(run.output.contains("sluice show \(run.session) \(second.id)\n"))
    }

    @Test("says why a session cannot be recorded")
    func unwritable() async throws {
        let run = try Run(name: "missing/demo.sluice")
        defer { run.remove() }
        await #expect(throws: SessionError.self) { try await run.demo() }
        #expect(run.output == "")
    }

    @Test(
        "writes paths as one word of a shell",
        arguments: [
            ("/tmp/a-b_c.sluice", "/tmp/a-b_c.sluice"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("$HOME", "'$HOME'"),
            ("-x", "'-x'"), ("", "''"), ("~", "'~'"), ("é", "'é'"),
        ]
    )
    func shellWords(path: String, word: String) {
        #expect(ShellWord.word(path) == word)
    }
}
