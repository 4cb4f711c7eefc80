import Foundation
import HTTPModel
import Support
import Testing

extension EndToEnd {
    @Suite("gRPC")
    struct GRPC {
        /// What `grpc_client.py` found.
        private struct Calls: Decodable {
            let serverStream, bidiStream: [String]
            let clientStream: String
            let missing, never, cancelled, parallel: Int
            let compressed, large: Bool
        }

        private func proxy() async throws -> SluiceProcess {
            try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root])
        }

        @Test("All four kinds of calls, errors, a deadline and compression", arguments: [true, false])
        func calls(isSecure: Bool) async throws {
            let server = try await PeerServer("grpc_server.py")
            let sluice = try await proxy()
            let port = isSecure ? server.ports[0] : server.ports[1]
            let way: HTTP2Client.Way = isSecure ? .intercepted : .tunnelled
            let outcome = try await Peers.start("grpc_client.py", HTTP2Client.arguments(sluice, port, way))
                .outcome(within: 120)
            guard outcome.status == 0 else { throw Program.ProgramError(description: outcome.errors) }
            let calls = try JSONDecoder().decode(Calls.self, from: Data(outcome.output))
            #expect(calls.clientStream == "a+b+c")
            #expect(calls.serverStream == (0..<5).map { "item \($0)" })
            #expect(calls.bidiStream == ["echo x", "echo y"])
            #expect(calls.missing == 12)
            #expect(calls.never == 4)
            #expect(calls.compressed)
            #expect(calls.cancelled == 1)
            #expect(calls.large)
            #expect(calls.parallel == 50)
            let failure = "try again, s\u{2019}il vous pla\u{EE}t: 100%"
            let loose = try JSONSerialization.jsonObject(with: Data(outcome.output)) as? [String: Any]
            #expect(loose?["fail"] as? [AnyHashable] == [14, failure])
            let unary = loose?["unary"] as? [Any]
            #expect(unary?.first as? String == "echo hello")
            #expect(unary?.last as? [String: String] == ["x-trailer": "kept", "x-data-bin": "00ff"])

            let failed = try await sluice.exchange(path: "/test.Echo/Fail")
            #expect(failed.record.grpc == GRPCOutcome(status: 14, message: failure))
            #expect(failed.record.clientVersion == .http2)
            #expect(failed.record.upstreamVersion == .http2)
            #expect(failed.record.state == .complete)
            let one = try await sluice.exchange(path: "/test.Echo/Unary")
            #expect(one.record.grpc?.status == 0)
            #expect(one.text(\.responseTrailers).contains("x-trailer: kept"))
            #expect(try sluice.bytes(one, .requestReceived) == [0, 0, 0, 0, 5] + Array("hello".utf8))
            let stream = try await sluice.exchange(path: "/test.Echo/ServerStream").record
            #expect(stream.tally.fromServer == 5)
            #expect(stream.tally.fromClient == 1)
            let upload = try await sluice.exchange(path: "/test.Echo/ClientStream").record
            #expect(upload.tally.fromClient == 3)
            // Whoever notices the deadline first: the server answers with status 4, or the client cancels.
            let never = try await sluice.exchange(path: "/test.Echo/Never")
            #expect(never.record.grpc?.status == 4 || never.failure.contains("CANCEL"), "\(never.record)")
            let cancelled = try await sluice.exchange(path: "/test.Echo/Held")
            #expect(cancelled.record.failure?.code == .clientGone)
            #expect(cancelled.failure.contains("CANCEL"), "\(cancelled.failure)")
        }

        @Test("The status stands in the list and in the log, filters find it, and show has the messages")
        func shown() async throws {
            let server = try await PeerServer("grpc_server.py")
            let sluice = try await proxy()
            _ = try await Peers.start("grpc_client.py", HTTP2Client.arguments(sluice, server.port)).outcome(within: 120)
            let failed = try await sluice.exchange(path: "/test.Echo/Fail").record
            try await eventually("the line of the failed call") { sluice.program.output.contains("/test.Echo/Fail") }
            let line = sluice.program.output.split(separator: "\n").first { $0.contains("/test.Echo/Fail") } ?? ""
            #expect(line.contains("UNAVAILABLE") || line.contains("14"), "\(line)")
            let list = try await SluiceProcess.run(["list", sluice.session, "grpc:14"], scratch: sluice.scratch)
            #expect(list.text.contains("/test.Echo/Fail"), "\(list.text)\(list.errors)")
            #expect(!list.text.contains("/test.Echo/Unary"))
            let shown = try await SluiceProcess.run(["show", sluice.session, "\(failed.id)"], scratch: sluice.scratch)
            #expect(shown.text.contains("UNAVAILABLE"), "\(shown.text)\(shown.errors)")
            #expect(shown.text.contains("try again, s\u{2019}il vous pla\u{EE}t: 100%"))
            let compressed = try await sluice.exchange(path: "/test.Echo/Compressed").record
            let text = try await SluiceProcess.run(
                ["show", sluice.session, "\(compressed.id)"],
                scratch: sluice.scratch
            )
            #expect(text.text.contains("all work and no play"), "\(text.text)\(text.errors)")
        }

        @Test("grpc-web carries its status in the body, and is read the same", arguments: ["--http1.1", "--http2"])
        func web(option: String) async throws {
            let trailers = "grpc-status:5\r\ngrpc-message:no%20such%20thing\r\n"
            let message = "\u{0}\u{0}\u{0}\u{0}\u{5}hello"
            let body = message + "\u{80}\u{0}\u{0}\u{0}" + String(UnicodeScalar(UInt8(trailers.utf8.count))) + trailers
            let origin = try Origin.answering(
                "HTTP/1.1 200 OK\r\nContent-Type: application/grpc-web+proto\r\n"
                    + "Content-Length: \(body.unicodeScalars.count)\r\n\r\n\(body)"
            )
            let relay = try await TLSRelay(origin)
            let sluice = try await proxy()
            let got = try await sluice.get(option, "https://localhost:\(relay.port)/test.Echo/Web")
            #expect(got == body)
            let exchange = try await sluice.exchange(path: "/test.Echo/Web")
            #expect(exchange.record.grpc == GRPCOutcome(status: 5, message: "no such thing"))
            #expect(exchange.record.tally.fromServer == 1)
            let list = try await SluiceProcess.run(["list", sluice.session, "grpc:5"], scratch: sluice.scratch)
            #expect(list.text.contains("/test.Echo/Web"), "\(list.text)\(list.errors)")
        }
    }
}
