import Foundation
import Support
import Testing

extension EndToEnd {
    @Suite("Faults of servers and clients, one at each byte")
    struct Faults {
        /// Runs the script's part, which prints what is wrong.
        private func run(_ part: String) async throws {
            let (scratch, authority) = (try Scratch(), TestAuthority.shared)
            let certificate = try await authority.good
            let arguments = [
                try SluiceProcess.executable(), scratch.path, certificate.file, certificate.key,
                try await authority.root, part,
            ]
            let outcome = try await Peers.start("faults.py", arguments).outcome(within: 180)
            #expect(outcome.status == 0 && outcome.text.isEmpty, "\(outcome.text)\(outcome.errors)")
        }

        @Test(
            "A server that ends or resets at any byte, over HTTP/1.1, TLS and HTTP/2, makes no answer that seems whole"
        )
        func servers() async throws { try await run("servers") }

        @Test("A server that falls silent, and a client that is gone at any byte, while others are served")
        func clients() async throws { try await run("clients") }

        @Test("Bodies that expand enormously reach the client as they are, and take little memory to read")
        func bombs() async throws { try await run("bombs") }
    }
}
