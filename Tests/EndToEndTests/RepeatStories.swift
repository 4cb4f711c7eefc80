import Foundation
import HTTPModel
import Recording
import Support
import Synchronization
import Testing

extension UserStories {
    @Suite("Sending requests of a session again")
    struct RepeatStories {
        /// A server that keeps each request as it came: its head, and its body without its framing.
        private final class Keeper: Sendable {
            let bodies = Mutex<[[UInt8]]>([])
            let trailers = Mutex<[String]>([])

            func origin() throws -> Origin {
                try Origin { [self] origin, socket in
                    while true {
                        let head = try origin.head(socket)
                        let lower = head.lowercased()
                        var body: [UInt8] = []
                        if lower.contains("transfer-encoding: chunked") {
                            let (chunks, trailer) = try socket.readChunked()
                            body = chunks
                            trailers.withLock { $0.append(trailer) }
                        } else if let length = lower.firstMatch(of: /content-length: (\d+)/) {
                            body = try socket.read(count: Int(length.1) ?? 0)
                        }
                        bodies.withLock { $0.append(body) }
                        let isHead = head.hasPrefix("HEAD ")
                        try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n\(isHead ? "" : "ok")")
                    }
                }
            }
        }

        private func repeated(
            _ sluice: SluiceProcess,
            _ arguments: String...,
            environment: [String: String] = [:]
        ) async throws -> Program.Outcome {
            try await sluice.command(["repeat"] + arguments, environment: environment)
        }

        @Test(
            "Requests go out as they came, byte for byte: binary, compressed, chunked, long, with fields in their order"
        )
        func bytes() async throws {
            let keeper = Keeper()
            let origin = try keeper.origin()
            let sluice = try await SluiceProcess()
            let base = "http://127.0.0.1:\(origin.port)"
            var generator = SystemRandomNumberGenerator()
            let long = (0..<300_000).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            let all = Array(UInt8.min...UInt8.max) + Array("\r\n\r\nGET / HTTP/1.1\r\n\r\n".utf8)
            let files = [
                try sluice.scratch.write("all", all), try sluice.scratch.write("long", long),
                try sluice.scratch.write("text", Array(repeating: UInt8(ascii: "a"), count: 9_000)),
            ]
            try await Program.require("gzip", ["-k", files[2]])
            for arguments in [
                ["-H", "X-b: 2", "-H", "x-A:  1 ", "-H", "X-b: 3", "-H", "Accept;", "\(base)/get?q=%2f&x=a+b"],
                ["--data-binary", "@\(files[0])", "-H", "Content-Type: application/octet-stream", "\(base)/binary"],
                ["--data-binary", "@\(files[1])", "-H", "Expect:", "\(base)/long"],
                [
                    "--data-binary", "@\(files[2]).gz", "-H", "Content-Encoding: gzip", "-H",
                    "Transfer-Encoding: chunked", "\(base)/gzip",
                ],
                ["-T", files[1], "-H", "Transfer-Encoding: chunked", "-H", "Expect:", "\(base)/chunked"],
                ["-X", "POST", "-d", "", "\(base)/empty"], ["-X", "DELETE", "\(base)/delete"], ["-I", "\(base)/head"],
            ] {
                let outcome = try await sluice.curl(arguments + ["-o", "/dev/null"])
                #expect(outcome.status == 0, "\(arguments): \(outcome.errors)")
            }
            let client = try sluice.connect()
            try client.send(
                "POST \(base)/trailers HTTP/1.1\r\nHost: 127.0.0.1:\(origin.port)\r\nTransfer-Encoding: chunked\r\n"
                    + "Trailer: X-Sum\r\nX-Odd: \t a b\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 9\r\n\r\n"
            )
            #expect(try client.readHead().hasPrefix("HTTP/1.1 200 "))
            client.close()
            _ = try await sluice.exchange(path: "/trailers")
            #expect(try await sluice.stop().status == 0)
            let count = 9
            let (heads, bodies) = (origin.heads, keeper.bodies.withLock { $0 })
            #expect(heads.count == count && bodies[1] == all && bodies[2] == long && bodies[4] == long)

            let out = sluice.scratch.path("again.sluice")
            for (round, way) in [[], ["--direct"]].enumerated() {
                let outcome = try await sluice.command(
                    ["repeat", sluice.session, "1-\(count)", "--session", out, "--expect-same"] + way
                )
                #expect(outcome.status == 0, "\(outcome.text)\(outcome.errors)")
                #expect(outcome.text.contains("Compared with the recorded answers: 9 of 9 the same."))
                let from = count * (round + 1)
                #expect(origin.heads.count == from + count)
                for (index, head) in origin.heads.dropFirst(from).enumerated() {
                    #expect(head == heads[index], "\(way)")
                    #expect(keeper.bodies.withLock { $0[from + index] } == bodies[index], "\(heads[index])")
                }
                #expect(outcome.errors.contains("from number \(1 + count * round)"), "\(outcome.errors)")
            }
            let trailers = keeper.trailers.withLock { $0 }.filter { !$0.isEmpty }
            #expect(trailers.count == 3 && Set(trailers).count == 1, "\(trailers)")
            #expect(try SessionReader(path: out).count() == Int64(2 * count))
            #expect(origin.errors.allSatisfy { !$0.contains("chunk") }, "\(origin.errors)")
        }

        @Test("Answers that differ are told with an example and counts; --expect-same makes them exit code 1")
        func differs() async throws {
            let count = Mutex(0)
            let origin = try Origin { origin, socket in
                while true {
                    let head = try origin.head(socket)
                    let number = count.withLock { count in
                        count += 1
                        return count
                    }
                    let isBad = head.contains("/flaky") && number > 3
                    let text = "{\"served\": \(number), \"fixed\": [1], \"id\": \"\(UUID().uuidString)\"}"
                    try socket.send(
                        "HTTP/1.1 \(isBad ? "503 X" : "200 OK")\r\nContent-Type: application/json\r\n"
                            + "X-Served: \(number)\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)"
                    )
                }
            }
            let sluice = try await SluiceProcess()
            let base = "http://127.0.0.1:\(origin.port)"
            for path in ["/a?token=s3cr3t-of-mine", "/flaky", "/b"] { _ = try await sluice.get(base + path) }
            _ = try await sluice.exchange(path: "/b")
            #expect(try await sluice.stop().status == 0)

            let told = try await repeated(sluice, sluice.session, "host:127.0.0.1", "--times", "4")
            #expect(told.status == 0, "\(told.text)\(told.errors)")
            let heading = "sending 12 requests: 3 exchanges, each 4 times; as the clients sent them"
            #expect(told.errors.contains("sluice: \(heading)"))
            #expect(told.errors.contains("  #2 GET \(base)/flaky\n"))
            #expect(told.text.contains("12 requests sent in ") && told.text.contains("all answered."))
            #expect(told.text.contains("0 of 12 the same, 12 different (status of 4, fields of 12, body of 12)."))
            #expect(told.text.contains("  ~ 4 of 4  res.status  200 -> 503  (#2 ~ new #"), "\(told.text)")
            #expect(told.text.contains("res.json.served  1 -> 4"))
            #expect(!told.text.contains("res.json.id"))
            let heads = origin.heads.dropFirst(3).map { $0.split(separator: " ")[1] }
            #expect(heads == Array(repeating: ["/a?token=s3cr3t-of-mine", "/flaky", "/b"], count: 4).flatMap(\.self))

            let ignored = ["--ignore", "x-served", "--ignore", "res.json.served", "--expect-same"]
            #expect(try await sluice.command(["repeat", sluice.session, "1,3"] + ignored).status == 0)
            #expect(try await sluice.command(["repeat", sluice.session, "1-3"] + ignored).status == 1)
            let exact = try await sluice.command(["repeat", sluice.session, "1", "--exact"] + ignored)
            #expect(exact.status == 1 && exact.text.contains("res.json.id"), "\(exact.text)")

            let json = try await repeated(sluice, sluice.session, "1", "2", "--json", "--by", "exchange")
            #expect(json.status == 0 && !json.text.contains("s3cr3t-of-mine"), "\(json.text)")
            let lines = try json.text.split(separator: "\n").map { try object(String($0)) }
            #expect(lines.map { $0["type"] as? String } == ["exchange", "exchange", "total"])
            #expect(lines[1]["statuses"] as? [String: Int] == ["503": 1] && lines[1]["different"] as? Int == 1)
            #expect((lines[2]["histogram"] as? [[String: Any]])?.isEmpty == false)

            let before = origin.heads.count
            let dry = try await repeated(sluice, sluice.session, "status:200", "--dry-run", "--times", "1000")
            #expect(dry.status == 0 && dry.errors.contains("would send 3000 requests") && origin.heads.count == before)
            for wrong in [
                ["1", "--times", "0"], ["1", "--parallel", "9..2"], ["1", "--delay", "x"], ["nokey:1"], [],
                ["1", "--direct", "--profile", "x"], ["1", "--secrets"], ["1", "--timeout", "0"],
            ] {
                #expect(try await sluice.command(["repeat", sluice.session] + wrong).status == 2, "\(wrong)")
            }
            let none = try await repeated(sluice, sluice.session, "99")
            #expect(none.status == 1 && none.errors.contains("no exchange of"), "\(none.errors)")
        }

        @Test(
            "What clients sent goes through the tools of a profile; what servers got goes out as it was, through none"
        )
        func tools() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let profile = """
                version: 1
                rewrite: { at: "*", rules: [ { add: header, on: request, name: X-Tool, to: "was here" } ] }
                block: { at: "*/blocked" }

                """
            let sluice = try await SluiceProcess(profile: profile)
            let base = "http://127.0.0.1:\(origin.port)"
            _ = try await sluice.get(base + "/a")
            _ = try await sluice.curl([base + "/blocked"])
            _ = try await sluice.exchange(path: "/blocked")
            let tunnel = try sluice.tunnel(to: origin.port)
            try tunnel.send("SSH-2.0-none\r\n\r\n")
            _ = try tunnel.receive()
            tunnel.close()
            _ = try await sluice.exchange("the tunnel is recorded") { $0.kind == .tunnel }
            let before = origin.heads.count

            let plain = try await repeated(sluice, sluice.session, "1")
            #expect(plain.status == 0 && plain.errors.contains("--direct sends them as changed"))
            let direct = try await repeated(sluice, sluice.session, "*", "--direct")
            #expect(direct.status == 0 && direct.text.contains("1 of 1 the same"), "\(direct.text)\(direct.errors)")
            #expect(direct.errors.contains("/blocked: a rule answered it, so it was not sent to a server"))
            #expect(direct.errors.contains(": a tunnel, of which no request is known"), "\(direct.errors)")
            let file = sluice.scratch.path("profile.yaml")
            let through = try await repeated(sluice, sluice.session, "1,2", "--profile", file)
            #expect(through.status == 0, "\(through.errors)")
            #expect(through.text.contains("2 of 2 the same"), "\(through.text)")
            // The block list answered the second one.
            #expect(origin.heads.dropFirst(before).map { $0.components(separatedBy: "X-Tool").count - 1 } == [0, 1, 1])

            let count = try sluice.records().count
            let running = try await repeated(
                sluice,
                sluice.session,
                "1",
                "--control",
                "\(sluice.program.identifier)",
                "--times",
                "3"
            )
            #expect(running.status == 0, "\(running.text)\(running.errors)")
            #expect(running.text.contains("3 of 3 the same"), "\(running.text)\(running.errors)")
            #expect(running.errors.contains("the new exchanges are in \(sluice.session), from number \(count + 1)"))
            #expect(try sluice.records().count == count + 3 && origin.heads.last?.contains("X-Tool: was here") == true)
            #expect(try await sluice.stop().status == 0)
        }

        @Test("What tools change in the answers is told; as received from the servers they are the same")
        func changedByTools() async throws {
            let origin = try Origin.answering(
                "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nplain\n"
            )
            let sluice = try await SluiceProcess()
            _ = try await sluice.get("http://127.0.0.1:\(origin.port)/a")
            _ = try await sluice.exchange(path: "/a")
            #expect(try await sluice.stop().status == 0)
            let profile = """
                version: 1
                rewrite:
                  at: "*"
                  rules:
                    - { modify: body, on: response, match: plain, to: tooled }
                    - { add: header, on: response, name: X-Tool, to: "was here" }

                """
            let file = try sluice.scratch.write("tools.yaml", Array(profile.utf8))
            let out = sluice.scratch.path("out.sluice")
            let arguments = ["repeat", sluice.session, "1", "--through-tools", "--profile", file, "--expect-same"]
            let told = try await sluice.command(arguments + ["--session", out])
            #expect(told.status == 1, "\(told.text)\(told.errors)")
            #expect(told.text.contains("0 of 1 the same, 1 different (fields of 1, body of 1)."), "\(told.text)")
            #expect(told.text.contains("res.body line 1  plain -> tooled"), "\(told.text)")
            #expect(told.text.contains("res.header.x-tool  none -> was here"), "\(told.text)")
            let received = try await sluice.command(arguments + ["--received"])
            #expect(received.status == 0 && received.text.contains("1 of 1 the same"), "\(received.text)")

            let pair = ["diff", "\(sluice.session):1", "\(out):1"]
            for (options, status) in [([], 1), (["--received"], 0)] as [([String], Int32)] {
                let one = try await sluice.command(pair + options)
                #expect(one.status == status && one.text.contains("tooled") == (status == 1), "\(one.text)")
                let both = try await sluice.command(["diff", sluice.session, out] + options)
                #expect(both.status == status && both.text.contains("tooled") == (status == 1), "\(both.text)")
                let json = try await sluice.command(pair + options + ["--json"])
                #expect(json.status == status && json.text.contains("tooled") == (status == 1), "\(json.text)")
            }
            // What went through no tools is compared with what no tool had changed.
            let direct = try await sluice.command(["repeat", out, "1", "--direct", "--expect-same"])
            #expect(direct.status == 0 && direct.text.contains("1 of 1 the same"), "\(direct.text)\(direct.errors)")
        }

        @Test("TLS servers are verified as run does it: with --upstream-ca, or not at all")
        func secure() async throws {
            let nginx = try await ReportingNginx()
            let root = try await TestAuthority.shared.root
            let sluice = try await SluiceProcess(["--upstream-ca", root])
            _ = try await sluice.get("https://localhost:\(nginx.secure)/v1/me", "http://localhost:\(nginx.plain)/v1/me")
            _ = try await sluice.exchange { $0.url.scheme == "http" }
            #expect(try await sluice.stop().status == 0)
            let refused = try await repeated(sluice, sluice.session, "1-2")
            #expect(refused.status == 1 && refused.text.contains("1 not answered"), "\(refused.text)")
            #expect(refused.text.contains("failed 1 x: "))
            for option in [["--upstream-ca", root], ["--insecure-upstream"], ["--insecure-host", "localhost"]] {
                let arguments = ["repeat", sluice.session, "1-2", "--times", "5", "--parallel", "3", "--expect-same"]
                let outcome = try await sluice.command(arguments + option)
                #expect(outcome.status == 0 && outcome.text.contains("10 of 10 the same"), "\(outcome.text)")
            }
        }

        @Test("A server that is down, and one that never answers, are failures with exit code 1")
        func down() async throws {
            let origin = try Origin { origin, socket in
                while true {
                    let head = try origin.head(socket)
                    if head.contains("/stuck"), origin.heads.count > 2 { _ = try socket.readHead() }
                    try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
            }
            let sluice = try await SluiceProcess()
            for path in ["/a", "/stuck"] { _ = try await sluice.get("http://127.0.0.1:\(origin.port)\(path)") }
            _ = try await sluice.exchange(path: "/stuck")
            #expect(try await sluice.stop().status == 0)
            let stuck = try await repeated(sluice, sluice.session, "*", "--timeout", "0.3", "--times", "2")
            #expect(stuck.status == 1 && stuck.text.contains("2 not answered"), "\(stuck.text)\(stuck.errors)")
            #expect(stuck.text.contains("failed 2 x: There was no whole answer within 0.3 seconds."), "\(stuck.text)")
            origin.stop()
            let down = try await repeated(sluice, sluice.session, "1", "--times", "3", "--json")
            let total = try object(String(down.text.split(separator: "\n").last ?? ""))
            #expect(down.status == 1 && total["failed"] as? Int == 3, "\(down.text)\(down.errors)")
            #expect(total["statuses"] as? [String: Int] == ["502": 3] && total["compared"] as? Int == 0)
            // A running Sluice that records nothing says it, too.
            let silent = try await SluiceProcess(profile: "version: 1\nrecord: { except: \"*\" }\n")
            let identifier = "\(silent.program.identifier)"
            let through = try await repeated(silent, sluice.session, "1", "--times", "2", "--control", identifier)
            #expect(through.status == 1 && through.text.contains("2 not answered"), "\(through.text)\(through.errors)")
            #expect(through.text.contains("failed 2 x: Sluice had no answer: no connection to the server."))
            #expect(try await silent.stop().status == 0)
        }

        @Test("What a server says of a failure is no failure; a Sluice that records nothing names no session")
        func unrecorded() async throws {
            let origin = try Origin { origin, socket in
                while true {
                    let head = try origin.head(socket)
                    let status = head.contains("/other") ? "502 Bad Gateway" : "200 OK"
                    try socket.send(
                        "HTTP/1.1 \(status)\r\nX-Sluice-Failure: connect\r\nX-Sluice-Mark: 1\r\nContent-Length: 2\r\n\r\nok"
                    )
                }
            }
            let sluice = try await SluiceProcess()
            for path in ["/a", "/other"] { _ = try await sluice.get("http://127.0.0.1:\(origin.port)\(path)") }
            _ = try await sluice.exchange(path: "/other")
            #expect(try await sluice.stop().status == 0)
            let scratch = sluice.scratch
            try scratch.write("none.yaml", Array("version: 1\nrecord: { except: \"*\" }\n".utf8))
            for options in [[], ["--profile", scratch.path("none.yaml")]] {
                let silent = try await SluiceProcess(options)
                if options.isEmpty {
                    let off = try await silent.command(["record", "off", "--control", "\(silent.program.identifier)"])
                    #expect(off.status == 0, "\(off.errors)")
                }
                let arguments = ["repeat", sluice.session, "1-2", "--control", "\(silent.program.identifier)"]
                let told = try await silent.command(arguments)
                #expect(told.status == 0 && told.text.contains("all answered"), "\(told.text)\(told.errors)")
                #expect(told.text.contains("the new answer is not in a session: 2."), "\(told.text)")
                #expect(!told.errors.contains("the new exchanges are in"), "\(told.errors)")
                let json = try await silent.command(arguments + ["--json"])
                let total = try object(String(json.text.split(separator: "\n").last ?? ""))
                #expect(total["failed"] as? Int == 0 && total["session"] == nil, "\(json.text)")
                #expect(try await silent.stop().status == 0)
            }
        }

        @Test("As many are under way at a time as was said, with the time between them that was said")
        func parallel() async throws {
            let state = Mutex((now: 0, most: 0, times: [Double]()))
            let gate = DispatchSemaphore(value: 0)
            let origin = try Origin { origin, socket in
                while true {
                    let head = try origin.head(socket)
                    state.withLock { state in
                        state.now += 1
                        state.most = max(state.most, state.now)
                        state.times.append(ProcessInfo.processInfo.systemUptime)
                    }
                    if head.contains("/gate") { gate.wait() }
                    state.withLock { $0.now -= 1 }
                    try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
            }
            let sluice = try await SluiceProcess()
            gate.signal()
            for path in ["/gate", "/free"] { _ = try await sluice.get("http://127.0.0.1:\(origin.port)\(path)") }
            _ = try await sluice.exchange(path: "/free")
            #expect(try await sluice.stop().status == 0)

            let program = try Program(
                try SluiceProcess.executable(),
                ["repeat", sluice.session, "1", "--times", "12", "--parallel", "4"],
                environment: SluiceProcess.environment(sluice.scratch)
            )
            try await eventually("four are under way") { state.withLock { $0.now } == 4 }
            for _ in 0..<12 { gate.signal() }
            let outcome = try await program.outcome(within: 60)
            #expect(outcome.status == 0 && outcome.text.contains("12 requests sent"), "\(outcome.text)")
            #expect(state.withLock { $0.most } == 4)

            state.withLock { $0.times = [] }
            let slow = try await repeated(sluice, sluice.session, "2", "--times", "4", "--delay", "120..150")
            #expect(slow.status == 0, "\(slow.errors)")
            let times = state.withLock { $0.times }
            for (first, second) in zip(times, times.dropFirst()) { #expect(second - first >= 0.119) }

            // Grows to three: the second begins when a third is done.
            state.withLock { ($0.most, $0.times) = (0, []) }
            for _ in 0..<9 { gate.signal() }
            let grown = try await repeated(sluice, sluice.session, "1", "--times", "9", "--parallel", "1..3")
            #expect(grown.status == 0 && state.withLock { $0.most } <= 3, "\(grown.errors)")
        }

        /// A session with one exchange, its Sluice stopped, and an environment whose temporary files are in `tmp` beside it.
        private func recorded(_ origin: Origin) async throws -> (SluiceProcess, [String: String]) {
            let sluice = try await SluiceProcess()
            _ = try await sluice.get("http://127.0.0.1:\(origin.port)/a")
            _ = try await sluice.exchange(path: "/a")
            #expect(try await sluice.stop().status == 0)
            try sluice.scratch.makeDirectory("tmp")
            let environment = SluiceProcess.environment(sluice.scratch)
            return (sluice, environment.merging(["TMPDIR": sluice.scratch.path("tmp")]) { $1 })
        }

        @Test("Where its output cannot be written it says so and ends, and nothing is left behind")
        func unwritableOutput() async throws {
            let origin = try Origin { origin, socket in
                while true {
                    _ = try origin.head(socket)
                    try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
            }
            let (sluice, environment) = try await recorded(origin)
            func run(_ script: String) async throws -> Program.Outcome {
                try await Program.run(
                    "/bin/sh",
                    ["-c", script, try SluiceProcess.executable(), sluice.session, sluice.scratch.path("pipe")],
                    environment: environment,
                    within: 60
                )
            }
            for options in ["", "--json"] {
                let full = try await run("\"$0\" repeat \"$1\" 1 \(options) >/dev/full")
                #expect(full.status == 1)
                #expect(full.errors.contains("sluice: standard output cannot be written: "), "\(full.errors)")
                // The reader has ended before anything is written.
                let opening = "rm -f \"$2\"; mkfifo \"$2\"; true <\"$2\" & exec 3>\"$2\"; wait;"
                let unread = try await run("\(opening) \"$0\" repeat \"$1\" 1 \(options) >&3")
                #expect(unread.status == 141 && !unread.errors.contains("cannot be written"), "\(unread.errors)")
                let deaf = try await run("\(opening) \"$0\" repeat \"$1\" 1 \(options) >&3 2>&3")
                #expect(deaf.status == 141)
                let mute = try await run("\(opening) \"$0\" repeat \"$1\" 1 \(options) 2>&3")
                #expect(mute.status == 0 && !mute.output.isEmpty)
            }
            #expect(origin.heads.count == 9)
            #expect(try FileManager.default.contentsOfDirectory(atPath: sluice.scratch.path("tmp")).isEmpty)
        }

        @Test("Ctrl-C stops: what there is until then is told, with exit code 130, and nothing is left behind")
        func stopped() async throws {
            let origin = try Origin { origin, socket in
                while true {
                    _ = try origin.head(socket)
                    if origin.heads.count > 4 { _ = try socket.readHead() }
                    try socket.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                }
            }
            let (sluice, environment) = try await recorded(origin)
            let program = try Program(
                try SluiceProcess.executable(),
                ["repeat", sluice.session, "1", "--times", "50"],
                environment: environment
            )
            try await eventually("the fifth request is under way") { origin.heads.count == 5 }
            #expect(try !FileManager.default.contentsOfDirectory(atPath: sluice.scratch.path("tmp")).isEmpty)
            program.signal(SIGINT)
            let outcome = try await program.outcome(within: 60)
            #expect(outcome.status == 130, "\(outcome.errors)")
            #expect(outcome.text.contains("3 requests sent in "), "\(outcome.text)")
            #expect(outcome.text.contains("then stopped (50 were planned)."))
            #expect(outcome.text.contains("3 of 3 the same"), "\(outcome.text)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: sluice.scratch.path("tmp")).isEmpty)
        }
    }
}
