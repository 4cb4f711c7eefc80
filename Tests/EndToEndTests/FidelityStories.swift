import Foundation
import HTTPModel
import NIOCore
import Support
import Testing

extension EndToEnd {
    @Suite("What no rule touches arrives byte for byte")
    struct Fidelity {
        /// Order, case, duplicates, odd spacing, Latin-1 and UTF-8 bytes, empty values, token characters in names.
        private static let fields =
            "HOST: origin.example\r\nx-b: 2\r\nX-A: 1\r\nx-b: 1\r\nACCEPT:*/*\r\nX-Space:   a  b\t\r\nX-Empty:\r\n"
            + "X-Latin: caf\u{E9}\r\nX-UTF8: \u{C3}\u{A9}\r\nx!#$%&'*+.^_`|~: odd\r\nUser-Agent: \r\n"

        private static let answer =
            "HTTP/1.1 299 S\u{E9} fine, really\r\nset-COOKIE: a=1\r\nX-Z: last\r\nSet-Cookie: b=2\r\n"
            + "X-Latin: \u{FC}\r\n"
            + "X-Empty:\r\nX-Space:  a  b \r\nDate: never\r\nContent-Length: 3\r\n\r\n\u{0}\u{FF}\n"

        @Test("Heads of request and response are not changed on plain connections")
        func plain() async throws {
            let origin = try Origin.answering(Self.answer)
            let sluice = try await SluiceProcess()
            let authority = "127.0.0.1:\(origin.port)"
            let fields = Self.fields.replacingOccurrences(of: "origin.example", with: authority)
            let answer = try await blocking {
                let socket = try sluice.connect()
                try socket.send(
                    latin1Bytes("BREW http://\(authority)/a%20b/../c?d=\"e\"&f={} HTTP/1.1\r\n\(fields)\r\n")
                )
                return try socket.readHead() + latin1(try socket.read(count: 3))
            }
            #expect(answer == Self.answer)
            #expect(origin.heads == ["BREW /a%20b/../c?d=\"e\"&f={} HTTP/1.1\r\n\(fields)\r\n"])
            let exchange = try await sluice.exchange()
            #expect(
                exchange.messages.requestHead.map { latin1($0.readableBytesView) }
                    == "BREW http://\(authority)/a%20b/../c?d=\"e\"&f={} HTTP/1.1\r\n\(fields)\r\n"
            )
            #expect(
                exchange.messages.responseHead.map { latin1($0.readableBytesView) } == String(Self.answer.dropLast(3))
            )
            #expect(try sluice.body(exchange, .responseReceived) == "\u{0}\u{FF}\n")
        }

        @Test("Heads of request and response are not changed through TLS")
        func secure() async throws {
            let origin = try Origin.answering(Self.answer, closes: true)
            let relay = try await TLSRelay(origin)
            let sluice = try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root])
            // Asked to, so that the client ends; the field is the connection's own and not the server's business.
            let close = "Connection: close\r\n"
            let request = "BREW /caf\u{E9}?x=%zz HTTP/1.1\r\n\(Self.fields)\(close)\r\n"
            let outcome = try await sluice.secureClient(to: relay.port, sending: latin1Bytes(request))
            #expect(
                latin1(outcome.output)
                    == Self.answer.replacingOccurrences(of: "Length: 3\r\n", with: "Length: 3\r\n\(close)")
            )
            #expect(origin.heads == [request.replacingOccurrences(of: close, with: "")])
            let head = try await sluice.exchange().messages.requestHead
            #expect(head.map { latin1($0.readableBytesView) } == request)
        }

        @Test("Fields that are meant for one connection are taken out, and the trace says which")
        func hopByHop() async throws {
            let origin = try Origin.answering(
                "HTTP/1.1 200 OK\r\nConnection: X-Hop\r\nX-Hop: 1\r\nKeep-Alive: timeout=5\r\nContent-Length: 0\r\n\r\n"
            )
            let sluice = try await SluiceProcess()
            let answer = try await sluice.get(
                "-i",
                "-H",
                "Connection: X-Mine",
                "-H",
                "X-Mine: 1",
                "-H",
                "Proxy-Authorization: Basic x",
                "-H",
                "X-Kept: 1",
                "http://127.0.0.1:\(origin.port)/hop"
            )
            let head = origin.heads.first ?? ""
            for gone in ["X-Mine", "Proxy-", "Connection"] { #expect(!head.contains(gone), "\(gone)") }
            #expect(head.contains("X-Kept: 1\r\n"))
            #expect(!answer.contains("X-Hop"))
            let exchange = try await sluice.exchange(path: "/hop")
            #expect(exchange.trace.contains("X-Mine"))
            #expect(exchange.trace.contains("X-Hop"))
        }

        @Test("Alt-Svc is taken out of decrypted answers only, and the trace says so")
        func altSvc() async throws {
            let origin = try Origin.answering(
                "HTTP/1.1 200 OK\r\nAlt-Svc: h3=\":443\"\r\nX-Kept: 1\r\nContent-Length: 0\r\n\r\n"
            )
            let relay = try await TLSRelay(origin)
            let sluice = try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root])
            #expect(try await sluice.get("-i", "http://127.0.0.1:\(origin.port)/plain").contains("Alt-Svc: h3"))
            let answer = try await sluice.get("-i", "--http1.1", "https://localhost:\(relay.port)/secure")
            #expect(!answer.contains("Alt-Svc"))
            #expect(answer.contains("X-Kept: 1\r\n"))
            let secure = try await sluice.exchange(path: "/secure")
            #expect(secure.trace.contains("Alt-Svc"))
            #expect(secure.messages.responseHead.map { String(buffer: $0) }?.contains("Alt-Svc") == true)
            #expect(secure.messages.responseHeadSent.map { String(buffer: $0) }?.contains("Alt-Svc") == false)
            #expect(try await sluice.exchange(path: "/plain").messages.responseHeadSent == nil)
        }

        @Test("A chunked body is not given a length, nor one with a length chunks")
        func framing() async throws {
            let origin = try Origin { origin, socket in
                while true {
                    let head = try origin.head(socket)
                    if head.lowercased().contains("transfer-encoding: chunked") {
                        _ = try socket.readChunked()
                        try socket.send("HTTP/1.1 200 OK\r\nTRANSFER-Encoding: chunked\r\n\r\n1;x=y\r\na\r\n0\r\n\r\n")
                    } else {
                        _ = try socket.read(count: 2)
                        try socket.send("HTTP/1.1 200 OK\r\ncontent-LENGTH: 1\r\n\r\na")
                    }
                }
            }
            let sluice = try await SluiceProcess()
            let url = "http://127.0.0.1:\(origin.port)/"
            #expect(try await sluice.get("-i", "-d", "hi", url).contains("\r\ncontent-LENGTH: 1\r\n"))
            let chunked = try await sluice.get("-i", "--raw", "-H", "Transfer-Encoding: chunked", "-d", "hi", url)
            #expect(chunked.contains("\r\nTRANSFER-Encoding: chunked\r\n"))
            #expect(chunked.hasSuffix("\r\n\r\n1\r\na\r\n0\r\n\r\n"))
            #expect(origin.heads.last?.contains("Content-Length") == false)
        }
    }
}
