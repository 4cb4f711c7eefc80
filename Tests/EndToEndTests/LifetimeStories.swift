import Foundation
import HTTPModel
import NIOCore
import Recording
import Support
import Testing

extension EndToEnd {
    @Suite("Running, logging, stopping")
    struct Lifetime {
        @Test(
            "At SIGTERM, SIGINT or SIGHUP an exchange in flight finishes, and the session is one closed file",
            arguments: [SIGTERM, SIGINT, SIGHUP]
        )
        func finishes(signal: Int32) async throws {
            let (isAsked, mayAnswer) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let origin = try Origin { origin, socket in
                _ = try origin.head(socket)
                isAsked.signal()
                _ = mayAnswer.wait(timeout: .now() + 10)
                try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone")
            }
            let sluice = try await SluiceProcess(["--grace", "10"])
            let client = try sluice.connect()
            try client.send("GET http://127.0.0.1:\(origin.port)/slow HTTP/1.1\r\nHost: x\r\n\r\n")
            try await blocking { _ = isAsked.wait(timeout: .now() + 10) }
            sluice.program.signal(signal)
            // A terminal that is closed may say so twice.
            if signal == SIGHUP { sluice.program.signal(signal) }
            // Nobody new is let in from now on, while the exchange goes on.
            try await eventually("nobody is let in") { (try? sluice.connect()) == nil }
            #expect(sluice.program.status == nil)
            mayAnswer.signal()
            let answer = try await blocking { latin1(try client.readToEnd()) }
            #expect(answer.hasSuffix("\r\n\r\ndone"))
            let end = try await sluice.program.outcome()
            #expect(end.status == 0)
            #expect(end.errors.contains("1 exchange, 0 failed"), "\(end.errors)")
            #expect(end.errors.contains("session \(sluice.session)"))
            #expect(try sluice.records().map(\.state) == [.complete])
            for suffix in ["-wal", "-shm"] { #expect(!FileManager.default.fileExists(atPath: sluice.session + suffix)) }
        }

        @Test("What does not finish in the grace period is cut and recorded so")
        func cut() async throws {
            let origin = try Origin { origin, socket in
                _ = try origin.head(socket)
                try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\npart")
                _ = try socket.readToEnd(toleratingReset: true)
            }
            let sluice = try await SluiceProcess(["--grace", "0.2"])
            let client = try sluice.connect()
            try client.send("GET http://127.0.0.1:\(origin.port)/endless HTTP/1.1\r\nHost: x\r\n\r\n")
            _ = try await blocking { try client.read(until: "part") }
            let end = try await sluice.stop()
            #expect(end.status == 0, "\(end.errors)")
            #expect(end.errors.contains("1 exchange, 1 failed"), "\(end.errors)")
            let exchange = try await sluice.exchange(path: "/endless")
            #expect(exchange.record.failure?.code == .stopped)
            #expect(try sluice.body(exchange, .responseReceived) == "part")
            #expect(!FileManager.default.fileExists(atPath: sluice.session + "-wal"))
        }

        @Test("A session that exists is continued")
        func continued() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let scratch = try Scratch()
            for path in ["/1", "/2"] {
                let sluice = try await SluiceProcess(scratch: scratch)
                #expect(try await sluice.get("http://127.0.0.1:\(origin.port)\(path)") == "ok")
                #expect(try await sluice.stop().status == 0)
            }
            let reader = try SessionReader(path: scratch.path("session.sluice"))
            #expect(try reader.records(limit: 10).map(\.url.path) == ["/1", "/2"])
            #expect(try reader.records(limit: 10).map(\.id.number) == [1, 2])
            #expect(try reader.runs().count == 2)
        }

        @Test("kill -9 leaves a session that opens, and the next run says what was in flight")
        func killed() async throws {
            let origin = try Origin { origin, socket in
                while true {
                    if try origin.head(socket).contains("/slow") { _ = try socket.receive() }
                    try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
            }
            let scratch = try Scratch()
            let first = try await SluiceProcess(scratch: scratch)
            #expect(try await first.get("http://127.0.0.1:\(origin.port)/fast") == "ok")
            let client = try first.connect()
            try client.send("GET http://127.0.0.1:\(origin.port)/slow HTTP/1.1\r\nHost: x\r\n\r\n")
            try await eventually("both are recorded") { try first.records().count == 2 }
            _ = try await first.exchange(path: "/fast")
            first.program.signal(SIGKILL)
            _ = try await first.program.outcome()
            let second = try await SluiceProcess(scratch: scratch)
            try await eventually("it is said") { second.errors.contains("in flight: 1 exchange (2)") }
            #expect(try second.records().map(\.state) == [.complete, .interrupted])
            #expect(try await second.stop().status == 0)
        }

        @Test("A disk that is full is said; the traffic goes on unrecorded, and the exit code is 1")
        func diskFull() async throws {
            let nginx = try await Nginx()
            _ = try nginx.makeFile("large", size: 8_000_000)
            let scratch = try Scratch()
            let session = scratch.path("full.sluice")
            // A limit on the size of files stands for a full disk. 2 MiB, in blocks of 1 KiB.
            let program = try Program(
                "bash",
                [
                    "-c", "trap '' XFSZ; ulimit -f 2048; exec \"$@\"", "bash", try SluiceProcess.executable(), "run",
                    "--listen", "127.0.0.1:0", "--session", session,
                ],
                environment: SluiceProcess.environment(scratch)
            )
            try await eventually("it listens") { program.errors.contains("recording to") }
            let address = program.errors.split(separator: "\n").first?.split(separator: " ").last ?? ""
            for _ in 1...2 {
                let got = try await Program.run(
                    "curl",
                    [
                        "-sS", "--noproxy", "", "--max-time", "60", "--proxy", "http://\(address)",
                        nginx.url("http", "/large"),
                    ]
                )
                #expect(got.output.count == 8_000_000, "\(got.errors)")
            }
            try await eventually("it is said") { program.errors.contains("recording stopped") }
            #expect(program.errors.components(separatedBy: "goes on unrecorded").count == 2, "\(program.errors)")
            let record = try await SluiceProcess.run(["record", "on"], scratch: scratch)
            #expect(record.status == 1 && record.errors.contains("stopped for good"), "\(record.text)\(record.errors)")
            #expect(record.errors.contains("start again"), "\(record.errors)")
            let attached = try await Program.run(
                try SluiceProcess.executable(),
                ["attach", "--linear"],
                environment: SluiceProcess.environment(scratch),
                input: Array("quit\n".utf8)
            )
            #expect(attached.text.contains("Not recording: "), "\(attached.text)\(attached.errors)")
            #expect(!attached.text.contains("Recording to"), "\(attached.text)")
            program.signal(SIGTERM)
            let end = try await program.outcome()
            #expect(end.status == 1)
            #expect(end.errors.contains("NOT recorded"), "\(end.errors)")
            let listed = try await SluiceProcess.run(["list", session, "--json"], scratch: scratch)
            #expect(listed.status == 0 && !listed.text.contains("in-flight"), "\(listed.text)\(listed.errors)")
        }

        @Test("With --json each exchange is a line of JSON, those that failed too")
        func json() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 Fine \"quoted\" \u{E9}\r\nContent-Length: 2\r\n\r\nok")
            let sluice = try await SluiceProcess(["--json"])
            _ = try await sluice.get("http://127.0.0.1:\(origin.port)/a?q=%22%C3%A9\\", "http://nowhere.invalid/")
            let end = try await sluice.stop()
            let lines = try end.output.split(separator: "\n").map { try object(String($0)) }
            #expect(lines.count == 2, "\(end.output)")
            #expect(lines.compactMap { $0["status"] as? Int } == [200, 502])
            #expect(lines.first?["url"] as? String == "http://127.0.0.1:\(origin.port)/a?q=%22%C3%A9\\")
            #expect((lines.last?["failure"] as? [String: Any])?["code"] as? String == "dns")
        }

        @Test("The log has a line for each exchange; with --quiet there is none")
        func log() async throws {
            let origin = try Origin.answering("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\nok")
            for (options, count) in [([], 3), (["--quiet"], 0)] {
                let sluice = try await SluiceProcess(options)
                let base = "http://127.0.0.1:\(origin.port)"
                _ = try await sluice.get(base + "/1", base + "/2")
                let end = try await sluice.stop()
                let lines = end.output.split(separator: "\n")
                #expect(lines.count == count, "\(end.output)")
                #expect(lines.isEmpty || lines.last?.contains("404") == true && end.output.contains(base + "/1"))
            }
        }

        @Test("Without a name a session goes to the state directory, and 'last' finds it; --no-session keeps nothing")
        func unnamed() async throws {
            let scratch = try Scratch()
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            for options in [[], ["--no-session"]] {
                let program = try Program(
                    try SluiceProcess.executable(),
                    ["run", "--listen", "127.0.0.1:0"] + options,
                    environment: SluiceProcess.environment(scratch)
                )
                try await eventually("it listens") { program.errors.contains("listening on") }
                let address = program.errors.split(separator: "\n").first?.split(separator: " ").last ?? ""
                _ = try await Program.require(
                    "curl",
                    ["-sS", "--proxy", "http://\(address)", "http://127.0.0.1:\(origin.port)/"]
                )
                program.signal(SIGTERM)
                #expect(try await program.outcome().status == 0)
            }
            let names = try FileManager.default.contentsOfDirectory(atPath: scratch.path("state/sluice/sessions"))
            #expect(names.filter { $0.hasSuffix(".sluice") }.count == 1 && names.count == 1, "\(names)")
            let list = try await SluiceProcess.run(["list", "last", "--json"], scratch: scratch)
            #expect(list.text.split(separator: "\n").count == 1)
        }

        @Test("SSLKEYLOGFILE gets the secrets of both legs, and only the user can read it")
        func keyLog() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let relay = try await TLSRelay(origin)
            let scratch = try Scratch()
            let sluice = try await SluiceProcess(
                ["--upstream-ca", try await TestAuthority.shared.root],
                environment: ["SSLKEYLOGFILE": scratch.path("keys")]
            )
            #expect(try await sluice.get("https://localhost:\(relay.port)/") == "ok")
            _ = try await sluice.stop()
            let lines = latin1(scratch.bytes("keys")).split(separator: "\n").map { $0.split(separator: " ") }
            #expect(!lines.isEmpty && lines.allSatisfy { $0.count == 3 })
            #expect(lines.filter { $0.first == "CLIENT_TRAFFIC_SECRET_0" }.count == 2)
            let attributes = try FileManager.default.attributesOfItem(atPath: scratch.path("keys"))
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        }

        @Test("TLS sessions with a server are resumed, and clients can resume theirs with us")
        func resumption() async throws {
            // Each answer ends the connection, so that each request needs a handshake.
            let origin = try Origin.answering(
                "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok",
                closes: true
            )
            let relay = try await TLSRelay(origin)
            let sluice = try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root])
            let base = "https://localhost:\(relay.port)"
            #expect(try await sluice.get(base + "/1", base + "/2", base + "/3") == "okokok")
            #expect(relay.handshakes.count == 3)
            #expect(relay.handshakes.last == "localhost resumed http/1.1", "\(relay.handshakes)")
            #expect(try await sluice.exchange(path: "/3").upstream?.tls?.resumed == true)
        }

        @Test("A profile blocks with 403, drops, and edits headers both ways; the session holds both forms")
        func profile() async throws {
            let origin = try Origin.answering(
                "HTTP/1.1 200 OK\r\nServer: secret\r\nX-A: 1\r\nContent-Length: 2\r\n\r\nok"
            )
            let sluice = try await SluiceProcess(
                profile: """
                    version: 1
                    block:
                      - { name: no entry, at: "http://*/forbidden*", action: 403 }
                      - { at: "http://*/dropped", action: drop }
                    rewrite:
                      - name: edit
                        at: [ "http://*/edited" ]
                        rules:
                          - { add: header, on: request, name: X-Added, to: "by rule" }
                          - { remove: header, on: response, name: Server }
                          - { modify: header, on: response, name: X-A, to: "2" }
                    """
            )
            let base = "http://127.0.0.1:\(origin.port)"
            #expect(try await sluice.get("-w", "%{http_code}", base + "/forbidden/x").hasSuffix("403"))
            #expect(try await sluice.curl([base + "/dropped"]).status == 52)
            let edited = try await sluice.get("-i", base + "/edited")
            #expect(!edited.contains("Server:"))
            #expect(edited.contains("X-A: 2\r\n"))
            #expect(origin.heads.count == 1)
            #expect(origin.heads.first?.contains("X-Added: by rule\r\n") == true)
            let forbidden = try await sluice.exchange(path: "/forbidden/x")
            #expect(forbidden.record.state == .blocked)
            #expect(
                forbidden.messages.trace.contains {
                    $0.stage == "block" && $0.rule == "no entry" && $0.outcome == .fired
                }
            )
            #expect(try await sluice.exchange(path: "/dropped").record.state == .blocked)
            let messages = try await sluice.exchange(path: "/edited").messages
            #expect(messages.requestHead.map { String(buffer: $0) }?.contains("X-Added") == false)
            #expect(messages.requestHeadSent.map { String(buffer: $0) }?.contains("X-Added: by rule") == true)
            #expect(messages.responseHead.map { String(buffer: $0) }?.contains("Server: secret") == true)
            #expect(messages.responseHeadSent.map { String(buffer: $0) }?.contains("Server") == false)
            #expect(messages.trace.filter { $0.stage == "rewrite" && $0.outcome == .fired }.count == 3)
            #expect(sluice.errors.contains("profile: 2 block rules, "))
        }

        @Test("Two first starts at once make one authority")
        func oneAuthority() async throws {
            let scratch = try Scratch()
            let programs = try (1...6).map { _ in
                try Program(
                    try SluiceProcess.executable(),
                    ["ca", "show"],
                    environment: SluiceProcess.environment(scratch)
                )
            }
            var shown: Set<String> = []
            for program in programs {
                let outcome = try await program.outcome()
                #expect(outcome.status == 0, "\(outcome.errors)")
                shown.insert(outcome.text)
            }
            #expect(shown.count == 1)
            for name in try FileManager.default.contentsOfDirectory(atPath: scratch.path("config/sluice")) {
                let attributes = try FileManager.default.attributesOfItem(atPath: scratch.path("config/sluice/" + name))
                let mode = (attributes[.posixPermissions] as? NSNumber)?.intValue ?? 0
                let hasKey = latin1(scratch.bytes("config/sluice/" + name)).contains("PRIVATE KEY")
                #expect(!hasKey || mode == 0o600, "\(name): \(mode)")
            }
        }

        @Test("Another authority, as PEM or PKCS #12, signs when asked to", arguments: ["pem", "p12"])
        func otherAuthority(format: String) async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let relay = try await TLSRelay(origin)
            let scratch = try Scratch()
            let (certificate, key) = (scratch.path("mine.pem"), scratch.path("mine.key"))
            try await Program.require(
                "openssl",
                [
                    "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate, "-days", "30",
                    "-subj", "/CN=Mine", "-addext", "keyUsage=critical,keyCertSign",
                ]
            )
            var options = ["--ca", certificate, "--ca-key", key]
            if format == "p12" {
                try await Program.require(
                    "openssl",
                    [
                        "pkcs12", "-export", "-in", certificate, "-inkey", key, "-out", scratch.path("mine.p12"),
                        "-passout", "pass:open",
                    ]
                )
                options = ["--ca", scratch.path("mine.p12"), "--ca-password", "open"]
            }
            let sluice = try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root] + options)
            #expect(try await sluice.get("--cacert", certificate, "https://localhost:\(relay.port)/") == "ok")
        }

        @Test("A start is not slow: it takes less than a second of a processor, even unoptimised")
        func startTime() async throws {
            let scratch = try Scratch()
            _ = try await SluiceProcess.run(["ca", "path"], scratch: scratch)
            #expect(try await SluiceProcess(scratch: scratch).processorTime() < 1)
        }
    }
}
