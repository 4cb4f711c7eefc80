import Foundation
import HTTPModel
import Support
import Testing

extension EndToEnd {
    @Suite("SOCKS")
    struct SOCKS {
        /// The options of curl for names and addresses, with a user and without.
        static let ways: [[String]] = [
            ["--socks5-hostname", "127.0.0.1:PORT"], ["--socks5", "127.0.0.1:PORT"],
            ["--proxy", "socks5h://ada:secret-word@127.0.0.1:PORT"],
            ["--proxy", "socks5://ada:secret-word@127.0.0.1:PORT"],
        ]

        @Test("HTTP and TLS inside are read, by name and by address, with a user and without", arguments: ways)
        func inside(options: [String]) async throws {
            let nginx = try await ReportingNginx()
            let sluice = try await SluiceProcess.listening("socks5@0")
            let port = try sluice.port(of: "socks5")
            let options = options.map { $0.replacing("PORT", with: "\(port)") }
            for (scheme, server) in [("http", nginx.plain), ("https", nginx.secure)] {
                let url = "\(scheme)://localhost:\(server)/\(scheme)?q"
                let outcome = try await sluice.plainCurl(options[0], options[1], "-4", url)
                #expect(ReportingNginx.Report(outcome.text)["url"] == url, "\(outcome.errors)")
                let exchange = try await sluice.exchange(path: "/\(scheme)")
                // By address the name is that of Host, and of the client's TLS.
                #expect(exchange.record.url.description == url)
                #expect(exchange.record.kind == .http && exchange.record.status == 200)
                #expect(exchange.record.extras.listeningMode == "socks5")
                #expect(exchange.record.serverAddress == "127.0.0.1:\(server)")
            }
            #expect(try sluice.records().count == 2)
            #expect(try await sluice.told("show", sluice.session, "1").contains("socks5"))
            // Who the client says it is stands nowhere.
            _ = try await sluice.stop()
            let bytes = try Data(contentsOf: URL(fileURLWithPath: sluice.session))
            #expect(bytes.firstRange(of: Data("secret-word".utf8)) == nil)
        }

        @Test("A client that offers only a user and a password is asked for them, and any will do")
        func password() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", closes: true)
            let sluice = try await SluiceProcess.listening("socks5@0")
            let port = try sluice.port(of: "socks5")
            let answers = try await blocking {
                let socket = try Socket(port: port)
                try socket.send([5, 1, 2])
                let method = try socket.read(count: 2)
                try socket.send([1, 3] + Array("ada".utf8) + [11] + Array("secret-word".utf8))
                let welcome = try socket.read(count: 2)
                try socket.send([5, 1, 0, 1, 127, 0, 0, 1, UInt8(origin.port >> 8), UInt8(origin.port & 255)])
                let reply = try socket.read(count: 10)
                try socket.send("GET /p HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n")
                return (method, welcome, reply, latin1(try socket.readToEnd()))
            }
            #expect(answers.0 == [5, 2] && answers.1 == [1, 0])
            #expect(answers.2 == [5, 0, 0, 1, 0, 0, 0, 0, 0, 0])
            #expect(answers.3.hasSuffix("ok"))
            let record = try await sluice.exchange(path: "/p").record
            // The name counts, though the port in Host is another one.
            #expect(record.url.host == "a.example")
            _ = try await sluice.stop()
            let bytes = try Data(contentsOf: URL(fileURLWithPath: sluice.session))
            #expect(bytes.firstRange(of: Data("secret-word".utf8)) == nil)
        }

        @Test("By address it is the name in the client's TLS that decides whether it is decrypted")
        func undecrypted() async throws {
            let nginx = try await ReportingNginx()
            let sluice = try await SluiceProcess.listening(
                "socks5@0",
                profile: "version: 1\nintercept: { except: [\"localhost\"] }\n"
            )
            let port = try sluice.port(of: "socks5")
            let root = try await TestAuthority.shared.root
            // The server's own certificate is shown where it is not decrypted, ours where it is.
            for way in ["--socks5", "--socks5-hostname"] {
                let unread = try await sluice.plainCurl(
                    way,
                    "127.0.0.1:\(port)",
                    "-4",
                    "https://localhost:\(nginx.secure)/unread",
                    trusting: root
                )
                #expect(ReportingNginx.Report(unread.text)["sni"] == "localhost", "\(unread.errors)")
            }
            let read = try await sluice.plainCurl(
                "--socks5",
                "127.0.0.1:\(port)",
                "https://127.0.0.1:\(nginx.secure)/read"
            )
            #expect(!read.text.isEmpty, "\(read.errors)")
            _ = try await sluice.exchange(path: "/read")
            try await eventually("the tunnels are recorded") {
                try sluice.records().filter { $0.kind == .tunnel && $0.state == .complete }.count == 2
            }
            let tunnels = try sluice.records().filter { $0.kind == .tunnel }
            #expect(tunnels.allSatisfy { $0.url.description == "localhost:\(nginx.secure)" })
            #expect(tunnels.allSatisfy { $0.flags.contains(.notIntercepted) })
            #expect(tunnels.allSatisfy { $0.serverAddress == "127.0.0.1:\(nginx.secure)" })
        }

        @Test("What cannot be had is refused with the reply of SOCKS that says why")
        func refusals() async throws {
            let sluice = try await SluiceProcess.listening(
                "socks5@0",
                profile:
                    "version: 1\nintercept: { except: [\"*\"] }\nblock: [ { at: \"blocked.example\", action: 403 } ]\n"
            )
            let port = try sluice.port(of: "socks5")
            let closed = try unusedPort()
            func reply(_ command: UInt8, _ name: String, _ port: Int) -> [UInt8] {
                [5, command, 0, 3, UInt8(name.utf8.count)] + Array(name.utf8) + [UInt8(port >> 8), UInt8(port & 255)]
            }
            let cases: [(bytes: [UInt8], code: UInt8)] = [
                (reply(1, "localhost", closed), 5),
                (reply(1, "nowhere.invalid", 80), 4),
                (reply(1, "blocked.example", 443), 2),
                (reply(2, "localhost", 80), 7),
                (reply(3, "localhost", 0), 7),
                ([5, 9], 7),
                ([5, 1, 0, 9], 8),
            ]
            for (bytes, code) in cases {
                let (answer, rest) = try await blocking {
                    let socket = try Socket(port: port)
                    try socket.send([5, 1, 0] + bytes)
                    _ = try socket.read(count: 2)
                    return (try socket.read(count: 10), try socket.readToEnd(toleratingReset: true))
                }
                #expect(answer == [5, code, 0, 1, 0, 0, 0, 0, 0, 0], "\(bytes)")
                // A page would be taken for the server's bytes.
                #expect(rest.isEmpty, "\(latin1(rest))")
            }
            try await eventually("all are recorded") {
                try sluice.records().filter { $0.state != .inFlight }.count == cases.count
            }
            let udp = try await sluice.exchange("UDP is explained") { $0.failure?.message.contains("UDP") == true }
            #expect(udp.record.kind == .malformed)
        }

        @Test("Version 4, and HTTP, are refused in words")
        func others() async throws {
            let sluice = try await SluiceProcess.listening("socks5@0")
            let port = try sluice.port(of: "socks5")
            let four = try await sluice.plainCurl("--socks4", "127.0.0.1:\(port)", "http://127.0.0.1:1/")
            #expect(four.status != 0)
            let http = try await sluice.plainCurl("--proxy", "http://127.0.0.1:\(port)", "http://a.example/")
            #expect(http.text.contains("--mode regular"), "\(http.text)\(http.errors)")
            try await eventually("both are recorded") { try sluice.records().count == 2 }
            let records = try sluice.records()
            #expect(records.allSatisfy { $0.kind == .malformed })
            #expect(records[0].failure?.message.contains("SOCKS 4") == true)
        }

        @Test("A server that speaks first is heard")
        func serverFirst() async throws {
            let origin = try Origin { _, socket in try socket.send("220 hello\r\n") }
            let sluice = try await SluiceProcess.listening("socks5@0")
            let port = try sluice.port(of: "socks5")
            let text = try await blocking {
                let socket = try Socket(port: port)
                try socket.send([5, 1, 0, 5, 1, 0, 1, 127, 0, 0, 1, UInt8(origin.port >> 8), UInt8(origin.port & 255)])
                _ = try socket.read(count: 12)
                return latin1(try socket.readToEnd())
            }
            #expect(text == "220 hello\r\n")
            #expect(try await sluice.exchange().record.url.description == "127.0.0.1:\(origin.port)")
        }
    }
}
