import Foundation
import HTTPModel
import NIOCore
import Support
import Testing

@testable import ProxyServer

@Suite("Servers that cannot be connected to", .timeLimit(.minutes(1)))
struct UnreachableTests {
    @Test("Of a link-local address without its interface the failure says what is missing")
    func linkLocal() async throws {
        try await LoopbackProxy.run { proxy in
            let client = try await proxy.connect()
            try await client.send("GET http://[fe80::1]:9000/ HTTP/1.1\r\nHost: x\r\n\r\n")
            try await client.receives("HTTP/1.1 502 ")
            try await eventually("it is recorded") { !proxy.recorder.finished.isEmpty }
            let failure = try #require(proxy.recorder.finished.first?.record.failure)
            #expect(failure.code == .connect)
            #expect(failure.message.contains("link-local") && failure.hint.contains("[fe80::1%eth0]"), "\(failure)")
            #expect(!failure.message.contains("descriptor"), "\(failure)")
        }
    }

    @Test("What the system says is told without the name of the call")
    func systemText() {
        let error = IOError(errnoCode: EINVAL, reason: "connect(descriptor:addr:size:)")
        #expect(error.systemText == "Invalid argument")
        #expect(UpstreamConnection.whatBecame(error) == "could not be heard any more (Invalid argument)")
    }
}
