import Foundation
import HTTPModel
import Support
import Synchronization
import Testing

extension EndToEnd {
    /// What hostile and hasty peers showed; each was a bug once.
    @Suite("Abrupt ends")
    struct AbruptEnds {
        @Test("A client that resets right after CONNECT leaves nothing behind")
        func connectAndReset() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let sluice = try await SluiceProcess()
            #expect(try await sluice.get("http://127.0.0.1:\(origin.port)/before") == "ok")
            let descriptors = try sluice.descriptors()
            for _ in 1...100 {
                let client = try sluice.connect()
                try client.send("CONNECT 127.0.0.1:\(origin.port) HTTP/1.1\r\nHost: x\r\n\r\n")
                client.reset()
            }
            #expect(try await sluice.get("http://127.0.0.1:\(origin.port)/after") == "ok")
            try await eventually("all descriptors are closed") { try sluice.descriptors() <= descriptors + 2 }
            try await eventually("no exchange is in flight") {
                try sluice.records().allSatisfy { $0.state != .inFlight }
            }
        }

        @Test("A tunnel whose server ends first still carries all that the client sends")
        func lateUpload() async throws {
            let size = 8 << 20
            let received = Mutex(0)
            let origin = try Origin { _, socket in
                // Slower than the client, so that bytes are still on their way when it is done.
                socket.limitReceiveBuffer(to: 32_768)
                socket.finish()
                let count = try socket.readToEnd().count
                received.withLock { $0 = count }
            }
            let sluice = try await SluiceProcess()
            let client = try await blocking {
                let client = try sluice.tunnel(to: origin.port)
                try client.send([UInt8](repeating: 0, count: size))
                client.finish()
                return client
            }
            try await eventually("the server has it all", within: 120) { received.withLock { $0 } == size }
            client.close()
        }

        @Test("Requests that were sent before a half-close are all answered")
        func pipelinedHalfClose() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let sluice = try await SluiceProcess()
            let answers = try await blocking {
                let client = try sluice.connect()
                let request = "GET http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\r\n"
                try client.send(request + request + request)
                client.finish()
                return latin1(try client.readToEnd())
            }
            #expect(answers.components(separatedBy: "HTTP/1.1 200 OK").count == 4, "\(answers)")
        }

        @Test("A request whose body stops coming gets one answer, and the connection is closed")
        func stalledUpload() async throws {
            let origin = try Origin { origin, socket in
                _ = try origin.head(socket)
                _ = try socket.readToEnd(toleratingReset: true)
            }
            let sluice = try await SluiceProcess(["--idle-timeout", "1", "--head-timeout", "1"])
            let answer = try await blocking {
                let client = try sluice.connect()
                try client.send(
                    "POST http://127.0.0.1:\(origin.port)/up HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc"
                )
                return latin1(try client.readToEnd(toleratingReset: true))
            }
            #expect(answer.hasPrefix("HTTP/1.1 408 "), "\(answer)")
            #expect(answer.contains("Connection: close\r\n"))
            #expect(answer.components(separatedBy: "HTTP/1.1 ").count == 2)
            #expect(try await sluice.exchange(path: "/up").record.failure?.code == .clientTimeout)
        }

        @Test(
            "A body that is cut by a reset, or ends without close_notify, is not passed off as whole",
            arguments: [(false, "--http1.1"), (true, "--http1.1"), (true, "--http2")]
        )
        func cutBody(isSecure: Bool, version: String) async throws {
            let server = try await PeerServer("ending_server.py", isSecure: isSecure)
            let sluice = try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root])
            let isHTTP2 = isSecure && version == "--http2"
            // 56: receiving failed; 92: the stream was reset.
            for (path, status) in ["end": 0, "reset": isHTTP2 ? 92 : 56, "no-notify": 0] {
                let url = "\(isSecure ? "https" : "http")://localhost:\(server.port)/\(path)"
                let outcome = try await sluice.curl([version, url])
                #expect(outcome.status == Int32(status), "\(path): \(outcome.errors)")
                // A reset may overtake what is still in progress from the server.
                if path != "reset" { #expect(outcome.text.utf8.count == 100_000) }
                let record = try await sluice.exchange(path: "/\(path)").record
                #expect(record.state == (path == "reset" ? .failed : .complete))
                #expect(record.failure?.code == (path == "reset" ? .reset : nil))
                #expect(record.flags.contains(.endedWithoutCloseNotify) == (isSecure && path == "no-notify"))
                guard isSecure, !isHTTP2 else { continue }
                // curl takes the lack of close_notify for an end; this client does not.
                let request = "GET /\(path) HTTP/1.1\r\nHost: localhost\r\n\r\n"
                let strict = try await sluice.secureClient(to: server.port, sending: Array(request.utf8))
                #expect((strict.status == 0) == (path == "end"), "\(path): \(strict.errors)")
                #expect(strict.errors.contains("unexpected eof") == (path == "no-notify"), "\(strict.errors)")
            }
        }

        @Test("Connections that are refused leave no memory behind")
        func refusedConnections() async throws {
            let sluice = try await SluiceProcess()
            let port = try unusedPort()
            func round() async throws {
                try await blocking {
                    let client = try sluice.connect()
                    for _ in 1...1_000 {
                        try client.send("GET http://127.0.0.1:\(port)/ HTTP/1.1\r\nHost: x\r\n\r\n")
                        let head = try client.readHead()
                        let length = head.split(separator: "Content-Length: ").last?.prefix { $0 != "\r" }
                        _ = try client.read(count: length.flatMap { Int($0) } ?? 0)
                    }
                }
            }
            try await round()
            let before = try sluice.memory()
            for _ in 1...4 { try await round() }
            // It was 2.7 KB for each, 10.8 MB here.
            let grown = try sluice.memory() - before
            #expect(grown < 6 << 20, "\(grown)")
        }
    }
}
