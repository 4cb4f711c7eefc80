import Foundation
import HTTPModel
import Support
import Testing

extension EndToEnd {
    @Suite("CONNECT on an HTTP/2 connection to the proxy")
    struct HTTP2Connect {
        /// What `h2_connect.py` saw.
        private struct Seen: Decodable {
            let connect: String?
            let status: String
            let count: Int
            let digest: String
        }

        private func connect(
            _ sluice: SluiceProcess,
            _ port: Int,
            _ path: String,
            isSecure: Bool = false,
            _ options: String...
        ) async throws -> Seen {
            let secure = isSecure ? ["--ca", sluice.authority] : []
            return try await Peers.run(
                "h2_connect.py",
                ["\(sluice.port)", "localhost:\(port)", "--path", path] + secure + options
            )
        }

        @Test("what is inside is decrypted, or read, as in any other tunnel")
        func inside() async throws {
            let nginx = try await HTTP2Nginx()
            _ = try nginx.makeFile("file", size: 1_000_000)
            let sluice = try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root])
            let secure = try await connect(sluice, nginx.secure, "/file", isSecure: true)
            #expect(secure.connect == "200")
            #expect(secure.status == "HTTP/1.1 200 OK")
            #expect(secure.count == 1_000_000)
            let plain = try await connect(sluice, nginx.plainHTTP1, "/file", isSecure: false)
            #expect(plain.status == "HTTP/1.1 200 OK")
            #expect(plain.digest == secure.digest)
            try await eventually("both are recorded") { try sluice.records().count { $0.state == .complete } == 2 }
            #expect(try sluice.records().map(\.url.scheme) == ["https", "http"])
            #expect(try sluice.records().allSatisfy { $0.clientConnection.number > 0 })
        }

        @Test("early bytes are not lost, more than a window goes up, and the client's end is not that of the answer")
        func early() async throws {
            let nginx = try await HTTP2Nginx()
            _ = try nginx.makeFile("file", size: 1_000_000)
            for profile in ["version: 1\n", "version: 1\nintercept: { except: [localhost] }\n"] {
                let sluice = try await SluiceProcess(profile: profile)
                let early = try await connect(sluice, nginx.plainHTTP1, "/file", "--early")
                #expect(early.status == "HTTP/1.1 200 OK", "\(profile)")
                #expect(early.count == 1_000_000, "\(profile)")
                let body = try await connect(sluice, nginx.plainHTTP1, "/file", "--body", "2000000")
                #expect(body.digest == early.digest, "\(profile)")
                let half = try await connect(sluice, nginx.plainHTTP1, "/file", "--half")
                #expect(half.count == 1_000_000, "\(profile)")
                #expect(half.digest == early.digest, "\(profile)")
            }
        }

        @Test("a host that is not decrypted gets its bytes, and one that is not there a 502")
        func unread() async throws {
            let nginx = try await HTTP2Nginx()
            let sluice = try await SluiceProcess(profile: "version: 1\nintercept: { except: [localhost] }\n")
            let plain = try await connect(sluice, nginx.plainHTTP1, "/hello.txt", isSecure: false)
            #expect(plain.status == "HTTP/1.1 200 OK")
            #expect(plain.count == 15)
            try await eventually("the tunnel is recorded") {
                try sluice.records().contains { $0.kind == .tunnel && $0.state == .complete }
            }
            let absent = try await connect(sluice, try unusedPort(), "/", isSecure: false)
            #expect(absent.connect == "502")
            #expect(absent.count > 0, "the answer says why, and ends")
        }
    }
}
