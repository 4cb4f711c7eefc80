import Foundation
import HTTPModel
import Support
import Testing

extension EndToEnd {
    @Suite("Servers that authenticate connections")
    struct ConnectionAuthentication {
        /// What curl answers with the third message (MS-NLMP §2.2.1.2), for Unicode and NTLM, without a target's name.
        private static let challenge = Data(
            Array("NTLMSSP\0".utf8) + [2, 0, 0, 0, 0, 0, 0, 0, 48, 0, 0, 0, 5, 2, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]
                + [UInt8](repeating: 0, count: 16)
        ).base64EncodedString()

        /// A server of NTLM, which knows a connection again and nothing else.
        private func makeServer() throws -> Origin {
            try Origin { origin, socket in
                var isChallenged = false
                var isKnown = false
                while true {
                    let head = try origin.head(socket)
                    let length = head.lowercased().split(separator: "content-length: ").dropFirst().first?
                        .prefix { $0.isNumber }
                    _ = try socket.read(count: length.flatMap { Int($0) } ?? 0)
                    if head.contains("Authorization: NTLM TlRMTVNTUAAB") {
                        isChallenged = true
                        try socket.send(
                            "HTTP/1.1 401 No\r\nWWW-Authenticate: NTLM \(Self.challenge)\r\nContent-Length: 0\r\n\r\n"
                        )
                        continue
                    }
                    if head.contains("Authorization: NTLM TlRMTVNTUAAD"), isChallenged { isKnown = true }
                    try socket.send(
                        isKnown
                            ? "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nalice\n"
                            : "HTTP/1.1 401 No\r\nWWW-Authenticate: NTLM\r\nContent-Length: 7\r\n\r\nnobody\n"
                    )
                }
            }
        }

        @Test("curl --ntlm is let in, with a body too, and whoever comes next is not", arguments: ["http", "https"])
        func ntlm(scheme: String) async throws {
            let origin = try makeServer()
            let relay = try await TLSRelay(origin)
            let sluice = try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root])
            let url = "\(scheme)://127.0.0.1:\(scheme == "http" ? origin.port : relay.port)/"
            for body in [[], ["-d", "hello"]] {
                let known = try await sluice.curl(["--ntlm", "-u", "alice:secret"] + body + [url, url])
                #expect(known.text == "alice\nalice\n", "\(known.errors)")
                #expect(try await sluice.get(url) == "nobody\n")
            }
        }
    }
}
