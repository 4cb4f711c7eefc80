import Foundation
import HTTPModel
import Support
import Testing

extension EndToEnd {
    @Suite("Clients that speak while the server is still being connected to")
    struct Connecting {
        @Test("A client that speaks after the time for the server's first word, before there is a server, is read")
        func late() async throws {
            let listener = try SlowListener()
            let sluice = try await SluiceProcess()
            let client = try await blocking { try sluice.tunnel(to: listener.port) }
            try await eventually("the proxy connects, as the client says nothing") { listener.isAsked }
            try client.send("GET /late HTTP/1.1\r\nHost: 127.0.0.1:\(listener.port)\r\n\r\n")
            let head = try await blocking {
                let server = try listener.open()
                let head = try server.readHead()
                try server.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                _ = try client.readHead()
                #expect(latin1(try client.read(count: 2)) == "ok")
                return head
            }
            #expect(head.hasPrefix("GET /late HTTP/1.1\r\n"))
            #expect(try await sluice.exchange(path: "/late").record.kind == .http)
        }

        @Test("A ClientHello that comes in that time is answered with a certificate of ours")
        func lateHello() async throws {
            let listener = try SlowListener()
            let sluice = try await SluiceProcess(["--no-auto-tunnel"])
            let client = try Peers.start("late_hello.py", HTTP2Client.arguments(sluice, listener.port))
            try await eventually("the proxy connects, as the client says nothing") { listener.isAsked }
            client.signal(SIGUSR1)
            let outcome = try await client.outcome(within: 120)
            #expect(outcome.text.contains("agreed"), "\(outcome.text)\(outcome.errors)")
        }
    }
}
