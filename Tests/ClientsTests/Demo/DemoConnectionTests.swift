import Foundation
import HTTPModel
import NIOCore
import ProxyServer
import Recording
import Runner
import Testing
import Wire

@testable import Clients
@testable import Jobs
@testable import Runner

@Suite("The demo's client", .timeLimit(.minutes(5)))
struct DemoConnectionTests {
    private func url(_ origin: DemoOrigin) -> RequestURL {
        RequestURL(scheme: "http", host: "localhost", port: origin.httpPort, path: "/")
    }

    @Test("says which exchange had another answer than the expected one")
    func unexpectedStatus() async throws {
        try await DemoOrigin.run { origin in
            // The origin is no proxy: it does not know the absolute form.
            let address = try SocketAddress(ipAddress: "127.0.0.1", port: origin.httpPort)
            try await DemoConnection.open(to: url(origin), through: address) { connection in
                let failure = await #expect(throws: StartError.self) {
                    try await connection.fetch("GET", "/api/products", expecting: 200)
                }
                let message = try #require(failure?.message)
                #expect(message.contains("GET http://localhost:\(origin.httpPort)/api/products: 404 Not Found"))
                try await connection.fetch("HEAD", "/api/products", expecting: 404) { $0.body.readableBytes == 0 }
            }
        }
    }

    @Test("looks at more than the status where that says too little")
    func unexpectedBody() async throws {
        try await DemoOrigin.run { origin in
            let address = try SocketAddress(ipAddress: "127.0.0.1", port: origin.httpPort)
            try await DemoConnection.open(to: url(origin), through: address) { connection in
                await #expect(throws: StartError.self) {
                    try await connection.fetch("GET", "/", expecting: 404) { $0.text.isEmpty }
                }
            }
        }
    }

    @Test("fails where the proxy opens no tunnel")
    func noTunnel() async throws {
        try await DemoOrigin.run { origin in
            let address = try SocketAddress(ipAddress: "127.0.0.1", port: origin.httpPort)
            try await DemoConnection.open(to: url(origin), through: address) { connection in
                await #expect(throws: StartError.self) { try await connection.startTLS(trust: TLSTrust()) }
            }
        }
    }

    @Test("fails where what it gets to see is not signed by the authority it trusts")
    func wrongAuthority() async throws {
        let strangers = TLSTrust(includesSystem: false)
        let directory = FileManager.default.temporaryDirectory.path + "/demo-tests-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        _ = try CertificateAuthority.open(directory: directory)
        let authority = "\(directory)/\(CertificateAuthority.fileName)"
        try await DemoOrigin.run { origin in
            var settings = RunSettings()
            settings.listeners[0].port = 0
            settings.recordsNothing = true
            settings.output = .quiet
            settings.authority = authority
            let proxy = try await RunningProxy.start(settings)
            let url = RequestURL(scheme: "https", host: "localhost", port: origin.httpsPort, path: "/")
            try await DemoConnection.open(to: url, through: proxy.address) { connection in
                try await connection.startTLS(trust: strangers)
                let failure = await #expect(throws: StartError.self) {
                    try await connection.fetch("GET", "/api/products", expecting: 200)
                }
                #expect(failure?.message.contains("GET \(url.description)api/products") == true)
            }
            let summary = await proxy.stop()
            #expect(summary.failures == 1)
        }
    }
}

extension DemoConnection {
    fileprivate static func open(
        to origin: RequestURL,
        through proxy: SocketAddress,
        _ body: (DemoConnection) async throws -> Void
    ) async throws {
        try await HTTPConnection.open(.address(proxy)) { try await body(DemoConnection($0, origin)) }
    }
}
