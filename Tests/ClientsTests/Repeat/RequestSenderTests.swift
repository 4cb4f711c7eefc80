import Foundation
import HTTPModel
import NIOCore
import NIOPosix
import ProxyServer
import Recording
import Support
import Synchronization
import Testing
import Wire

@testable import Clients
@testable import Jobs
@testable import Runner

@Suite("Sending requests through the proxy", .timeLimit(.minutes(1)))
struct RequestSenderTests {
    /// A proxy that records, and whoever sends through it.
    private struct Running {
        let proxy: RunningProxy
        let sender: RequestSender
        let session: String

        func records() throws -> [ExchangeRecord] {
            proxy.flush()
            var records: [ExchangeRecord] = []
            try SessionReader(path: session).forEachRecord { record in
                records.append(record)
                return true
            }
            return records
        }
    }

    private func withProxy(
        profile: String? = nil,
        upstreamAuthority: CertificateAuthority? = nil,
        limit: Duration = .seconds(300),
        _ body: (Running) async throws -> Void
    ) async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/sender-tests-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        _ = try CertificateAuthority.open(directory: directory)
        var settings = RunSettings()
        settings.listeners[0].port = 0
        settings.session = "\(directory)/s.sluice"
        settings.output = .quiet
        settings.hasControl = false
        settings.grace = .zero
        settings.authority = "\(directory)/\(CertificateAuthority.fileName)"
        if let profile {
            settings.profiles = ["\(directory)/p.yaml"]
            try Data(profile.utf8).write(to: URL(fileURLWithPath: settings.profiles[0]))
        }
        if let upstreamAuthority {
            settings.upstreamAuthorities = ["\(directory)/upstream.pem"]
            try Data(upstreamAuthority.certificatePEM.utf8)
                .write(to: URL(fileURLWithPath: settings.upstreamAuthorities[0]))
        }
        let proxy = try await RunningProxy.start(settings)
        let sender = try RequestSender(
            proxy: "127.0.0.1:\(proxy.address.port ?? 0)",
            authority: "\(directory)/\(CertificateAuthority.certificateFileName)",
            limit: limit
        )
        do {
            try await body(Running(proxy: proxy, sender: sender, session: settings.session ?? ""))
        } catch {
            _ = await proxy.stop()
            throw error
        }
        _ = await proxy.stop()
    }

    private func request(_ method: String, _ url: String, _ rest: String = "") throws -> ComposedRequest {
        try ComposedRequest(draft: "\(method) \(url) HTTP/1.1\n\(rest)", original: nil)
    }

    @Test("sends a request as it is, and it is recorded with what the tools did to it")
    func once() async throws {
        let origin = try await ScriptedOrigin(["/a?b=1": .bytes("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")])
        let profile = """
            version: 1
            rewrite: { at: "*", rules: [ { add: header, on: request, name: X-Tool, to: "was here" } ] }

            """
        try await withProxy(profile: profile) { running in
            let url = "http://127.0.0.1:\(origin.port)/a?b=1"
            let outcome = await running.sender.send(try request("PUT", url, "X-Mine: 1\n\nbody"))
            #expect(outcome.status == 200 && outcome.bytes == 5 && outcome.failure == nil && outcome.duration > 0)
            let sent = try #require(origin.requests.first)
            #expect(sent.hasPrefix("PUT /a?b=1 HTTP/1.1\r\n") && sent.hasSuffix("\r\n\r\nbody"))
            for line in ["X-Mine: 1", "X-Tool: was here", "Content-Length: 4"] {
                #expect(sent.contains("\r\n\(line)\r\n"), "\(sent)")
            }
            // The client has its answer before the exchange is recorded as over.
            try await eventually("the exchange is over") { try running.records().allSatisfy { $0.state != .inFlight } }
            let records = try running.records()
            #expect(records.map(\.url.description) == [url])
            #expect(records.first?.flags.contains(.requestChanged) == true)
        }
    }

    @Test("reads every kind of answer to its end")
    func answers() async throws {
        let origin = try await ScriptedOrigin([
            "/chunked": .bytes(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n"
            ),
            "/close": .last("HTTP/1.1 200 OK\r\n\r\nuntil the end"),
            "/none": .bytes("HTTP/1.1 204 No Content\r\n\r\n"),
            "/same": .bytes("HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n"),
            "/head": .bytes("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"),
            "/early": .bytes(
                "HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok"
            ),
            "/cut": .last("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc"),
        ])
        try await withProxy { running in
            func send(_ method: String, _ path: String) async throws -> SendOutcome {
                await running.sender.send(try request(method, "http://127.0.0.1:\(origin.port)\(path)"))
            }
            for (method, path, status, bytes) in [
                ("GET", "/chunked", 200, 7), ("GET", "/close", 200, 13), ("GET", "/none", 204, 0),
                ("GET", "/same", 304, 0), ("HEAD", "/head", 200, 0), ("POST", "/early", 201, 2),
            ] {
                let outcome = try await send(method, path)
                #expect(
                    outcome.status == status && outcome.bytes == bytes && outcome.failure == nil,
                    "\(path): \(outcome)"
                )
            }
            let cut = try await send("GET", "/cut")
            #expect(cut.status == 200 && cut.failure != nil)
        }
    }

    @Test("speaks TLS to the proxy's own certificate, on one connection for each that is parallel")
    func secure() async throws {
        try await DemoOrigin.run { origin in
            try await withProxy(upstreamAuthority: origin.authority) { running in
                let request = try request("GET", "https://localhost:\(origin.httpsPort)/api/products")
                let end = await running.sender.run(request, RepeatPlan(times: 20, parallel: 4))
                #expect(end.isFinished && end.failures == 0 && end.statuses == [200: 20], "\(end)")
                #expect(end.p50 > 0 && end.p50 <= end.p95 && end.p95 <= end.max)
                let records = try running.records()
                #expect(records.count == 20 && records.allSatisfy { $0.url.scheme == "https" })
                #expect(Set(records.map(\.clientConnection)).count <= 4)
            }
        }
    }

    @Test("sends and takes large bodies without keeping them")
    func large() async throws {
        try await DemoOrigin.run { origin in
            try await withProxy { running in
                let place = "http://localhost:\(origin.httpPort)"
                let body = String(repeating: "0123456789abcdef", count: 1 << 16)
                let upload = await running.sender.send(try request("PUT", "\(place)/upload/large.bin", "\n\(body)"))
                #expect(upload.status == 200 && upload.failure == nil)
                let download = await running.sender.send(try request("GET", "\(place)/download/large.bin"))
                #expect(download.bytes == 5 << 20 && download.failure == nil)
            }
        }
    }

    @Test("counts an answer that the proxy makes for a server that is not there")
    func badGateway() async throws {
        try await withProxy { running in
            let request = try request("GET", "http://127.0.0.1:\(try await deadPort())/")
            let end = await running.sender.run(request, RepeatPlan(times: 3))
            #expect(end.isFinished && end.failures == 0 && end.statuses == [502: 3])
        }
    }

    @Test("says that the proxy cannot be reached")
    func noProxy() async throws {
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: try await deadPort())
        let sender = RequestSender(proxy: address, authority: try CertificateAuthority.generate())
        let end = await sender.run(try request("GET", "http://a.example/"), RepeatPlan(times: 3, parallel: 2))
        #expect(end.isFinished && end.failures == 3 && end.statuses.isEmpty && end.max == 0)
        #expect(end.firstFailure?.hasPrefix("The connection to the proxy failed: ") == true)
    }

    @Test("does not speak to a proxy whose authority it was not told of")
    func stranger() async throws {
        try await withProxy { running in
            let sender = RequestSender(proxy: running.proxy.address, authority: try CertificateAuthority.generate())
            let outcome = await sender.send(try request("GET", "https://a.example/"))
            #expect(outcome.status == nil && outcome.failure?.hasPrefix("TLS by way of the proxy failed: ") == true)
        }
    }

    @Test("is told of the authority by its certificate where there is no file of it")
    func certificate() async throws {
        try await withProxy { running in
            let target = running.proxy.controlTarget
            let status = try await target.status()
            let authority = status.authority
            #expect(authority.path == running.proxy.authorityPath)
            let sender = try RequestSender(
                proxy: status.address,
                authority: "/nowhere/ca-cert.pem",
                certificate: authority.certificate
            )
            let outcome = await sender.send(try request("GET", "https://127.0.0.1:\(try await deadPort())/"))
            #expect(outcome.status == 502)
        }
    }

    @Test("gives up when the time is over")
    func expires() async throws {
        let origin = try await ScriptedOrigin(["/": .nothing])
        try await withProxy(limit: .milliseconds(50)) { running in
            let outcome = await running.sender.send(try request("GET", "http://127.0.0.1:\(origin.port)/"))
            #expect(outcome.status == nil && outcome.failure == "There was no whole answer within 0.05 seconds.")
        }
    }

    @Test("ends a plan that is cancelled, and tells how far it was")
    func cancel() async throws {
        let origin = try await ScriptedOrigin(["/": .nothing])
        try await withProxy { running in
            let told = Mutex<[RepeatProgress]>([])
            let request = try request("GET", "http://127.0.0.1:\(origin.port)/")
            let plan = Task { [sender = running.sender] in
                await sender.run(request, RepeatPlan(times: 1_000, parallel: 3)) { progress in
                    told.withLock { $0.append(progress) }
                }
            }
            await origin.arrival()
            plan.cancel()
            let end = await plan.value
            #expect(end.done == 0 && end.total == 1_000 && !end.isFinished)
            #expect(told.withLock { $0 } == [end])
        }
    }

    @Test("tells the end of a plan exactly once, and no more often than ten times a second")
    func tells() async throws {
        let origin = try await ScriptedOrigin(["/": .bytes("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")])
        try await withProxy { running in
            let told = Mutex<[RepeatProgress]>([])
            let request = try request("GET", "http://127.0.0.1:\(origin.port)/")
            let start = ContinuousClock.now
            let end = await running.sender.run(request, RepeatPlan(times: 30, delayMilliseconds: 1)) { progress in
                told.withLock { $0.append(progress) }
            }
            let elapsed = start.duration(to: .now) / .milliseconds(100)
            let all = told.withLock { $0 }
            #expect(all.last == end && all.count { $0.isFinished } <= 2 && Double(all.count) <= elapsed + 1)
            #expect(all.map(\.done) == all.map(\.done).sorted())
            #expect(try running.records().count == 30)
        }
    }

    @Test("goes on with another connection where the server ends each")
    func reconnects() async throws {
        let answer = "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"
        let origin = try await ScriptedOrigin(["/": .last(answer)])
        try await withProxy { running in
            let request = try request("POST", "http://127.0.0.1:\(origin.port)/", "Connection: close\n\n")
            let end = await running.sender.run(request, RepeatPlan(times: 5))
            #expect(end.isFinished && end.statuses == [200: 5] && end.failures == 0)
            #expect(origin.requests.count == 5)
        }
    }

    @Test("sends each of many requests once, to their own origins, and tells of those that cannot be made")
    func many() async throws {
        let answer = ScriptedOrigin.Answer.bytes("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        let paths = (0..<12).map { "/\($0)" }
        let answers = Dictionary(uniqueKeysWithValues: paths.map { ($0, answer) })
        let origins = [try await ScriptedOrigin(answers), try await ScriptedOrigin(answers)]
        try await withProxy { running in
            let requests = try paths.enumerated().map { index, path in
                try request("GET", "http://127.0.0.1:\(origins[index % 2].port)\(path)").outgoing
            }
            let outcomes = Mutex<[Int: [SendOutcome]]>([:])
            await running.sender.send(
                13,
                RepeatPlan(times: 1, parallel: 1...3, delayMilliseconds: 0...1),
                request: { index in
                    guard index < 12 else { throw StartError("There is no such request.") }
                    return requests[index]
                },
                onOutcome: { index, outcome in outcomes.withLock { $0[index, default: []].append(outcome) } }
            )
            let all = outcomes.withLock { $0 }
            #expect(all.count == 13 && all.values.allSatisfy { $0.count == 1 })
            #expect((0..<12).allSatisfy { all[$0]?.first?.status == 200 && all[$0]?.first?.failure == nil })
            #expect(all[12]?.first?.failure == "There is no such request.")
            #expect(origins.map(\.requests.count) == [6, 6])
        }
    }

    @Test("uses a tunnel for its one origin, and a connection without one for all plain origins")
    func connections() throws {
        let urls = ["https://a.example/1", "https://a.example/2", "https://b.example/", "https://a.example:8443/"]
        let secure = try urls.map { try request("GET", $0).outgoing }
        let plain = try ["http://a.example/", "http://b.example/"].map { try request("GET", $0).outgoing }
        #expect(secure.map { $0.canFollow(secure[0]) } == [true, true, false, false])
        #expect(plain.map { $0.canFollow(plain[0]) } == [true, true])
        #expect(!plain[0].canFollow(secure[0]) && !secure[0].canFollow(plain[0]))
    }

    @Test("goes over origins with TLS, a tunnel for each")
    func manySecure() async throws {
        try await DemoOrigin.run { origin in
            try await withProxy(upstreamAuthority: origin.authority) { running in
                let urls = ["https://localhost:\(origin.httpsPort)", "http://localhost:\(origin.httpPort)"]
                let requests = try urls.map { try request("GET", "\($0)/api/products").outgoing }
                let statuses = Mutex<[Int?]>([])
                await running.sender.send(
                    6,
                    RepeatPlan(),
                    request: { requests[$0 % 2] },
                    onOutcome: { _, outcome in statuses.withLock { $0.append(outcome.status) } }
                )
                #expect(statuses.withLock { $0 } == Array(repeating: 200, count: 6))
                #expect(try running.records().map(\.url.scheme) == ["https", "http", "https", "http", "https", "http"])
            }
        }
    }

    @Test("refuses an address or a file that cannot be used")
    func unusable() {
        for address in ["", "8080", "localhost:8080", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:x"] {
            #expect(throws: StartError.self) { try RequestSender(proxy: address, authority: "/dev/null") }
        }
        #expect(throws: CertificateError.self) {
            try RequestSender(proxy: "127.0.0.1:8080", authority: "/nowhere/ca-cert.pem")
        }
    }

    /// A port where nobody listens any more.
    private func deadPort() async throws -> Int {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .bind(host: "127.0.0.1", port: 0).get()
        let port = try #require(channel.localAddress?.port)
        try await channel.close()
        return port
    }
}
