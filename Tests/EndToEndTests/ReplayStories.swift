import Dispatch
import Foundation
import HTTPModel
import Support
import Synchronization
import Testing

extension UserStories {
    @Suite("replay: a recorded session in place of the servers")
    struct ReplayStories {
        private func replay(
            _ recording: SluiceProcess,
            _ options: [String] = [],
            profile: String? = nil,
            session: String = "replayed.sluice"
        ) async throws -> SluiceProcess {
            try await SluiceProcess(
                options,
                profile: profile.map { "version: 1\n" + $0 + "\n" },
                scratch: recording.scratch,
                command: ["replay", recording.session],
                session: session
            )
        }

        /// What a client may see of an answer, whatever frames it.
        private func seen(_ answer: SluiceProcess.Answer) -> [String] {
            let framing = ["transfer-encoding", "connection", "keep-alive", "content-length"]
            let fields = answer.head.split(separator: "\r\n").dropFirst().filter { line in
                !framing.contains(line.prefix { $0 != ":" }.lowercased())
            }
            // To curl -I the head is all there is.
            let text = answer.text.hasPrefix("HTTP/") ? "" : answer.text
            return [String(answer.status), text]
                + fields.map { line in
                    let parts = line.split(separator: ":", maxSplits: 1)
                    return parts[0].lowercased() + ":" + (parts.count > 1 ? String(parts[1]) : "")
                }
        }

        @Test(
            "What was recorded over HTTP, HTTPS and HTTP/2 is answered the same over each of them, without the server"
        )
        func versions() async throws {
            let (nginx, recording) = try await SluiceProcess.reporting { _ in "" }
            try nginx.scratch.write("www/files/noise.bin", noise(300_000))
            try nginx.put("data.json", "{\"a\": [1, 2, 3]}\n")
            let secure = "https://localhost:\(nginx.secure)"
            let requests: [[String]] = [
                ["http://127.0.0.1:\(nginx.plain)/plain?b=2&a=1"], [secure + "/files/noise.bin"],
                [secure + "/files/data.json", "-H", "Accept-Encoding: gzip"], [secure + "/files/none"],
                [secure + "/v1/me", "-d", "{\"x\": 1, \"y\": [2]}", "-H", "Content-Type: application/json"],
                [secure + "/files/data.json", "-I"],
            ]
            let recorded = try await recording.answers(requests.map { ["--http2"] + $0 })
            #expect(recorded.map(\.status) == [200, 200, 200, 404, 200, 200])
            #expect(try await recording.stop().status == 0)
            let log = nginx.scratch.bytes("seen.log")

            let sluice = try await replay(recording)
            #expect(sluice.errors.contains("6 answers to 6 requests\n"), "\(sluice.errors)")
            for version in bothVersions {
                var asked = requests.map { [version] + $0 }
                asked[0][1] = "http://127.0.0.1:\(nginx.plain)/plain?a=1&b=2"
                asked[4][3] = "{\"y\":[2.0],\"x\":1}"
                let answers = try await sluice.answers(asked)
                for (answer, original) in zip(answers, recorded) {
                    #expect(answer.exit == 0)
                    #expect(seen(answer) == seen(original))
                }
                #expect(answers[1].version == (version == "--http2" ? "2" : "1.1"))
                #expect(answers[1].body == noise(300_000))
                #expect(answers[2].value("Content-Encoding") == "gzip")
            }
            let exchange = try await sluice.exchange { $0.url.path == "/v1/me" && $0.clientVersion == .http2 }
            #expect(exchange.messages.trace.map(\.text) == ["answered from the recording: exchange 5"])
            #expect(exchange.record.state == .complete && exchange.record.upstreamConnection == nil)
            #expect(
                try await sluice.told("show", sluice.session, "5").contains("answered from the recording: exchange 5")
            )
            let end = try await sluice.stop()
            #expect(end.status == 0)
            #expect(
                end.errors.contains("sluice: replay: 12 answers from 6 recorded exchanges, no misses\n"),
                "\(end.errors)"
            )
            #expect(nginx.scratch.bytes("seen.log") == log)

            // The recording of the replay is one, too.
            let again = try await SluiceProcess(
                scratch: sluice.scratch,
                command: ["replay", sluice.session],
                session: "again.sluice"
            )
            #expect(seen(try await again.answer("--http2", secure + "/files/none")) == seen(recorded[3]))
            let same = try await again.command(["replay", recording.session, "--session", recording.session])
            #expect(same.status == 2 && same.errors.contains("is the replayed session"), "\(same.errors)")
        }

        @Test("No tool, tunnel or unknown protocol gets a connection to a server: all are refused with 599 or cut")
        func failsClosed() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nknown")
            let recording = try await SluiceProcess()
            #expect(try await recording.get("http://127.0.0.1:\(origin.port)/known") == "known")
            #expect(try await recording.stop().status == 0)
            let before = origin.connectionCount
            let place = "127.0.0.1:\(origin.port)"
            let sluice = try await replay(
                recording,
                profile: """
                    intercept: { except: [ "unread.test" ] }
                    map-remote:
                      - { from: "http://mapped.test/*", to: "http://\(place)/" }
                      - { from: "http://known.test/*", to: "http://\(place)/" }
                    dns-spoofing: { host: "*.spoofed.test", address: 127.0.0.1 }
                    mirror: { to: mirrored/, only: "*" }
                    block: { at: "http://blocked.test" }
                    """
            )
            for url in [
                "http://\(place)/other", "http://mapped.test/other", "http://a.spoofed.test:\(origin.port)/known",
                "http://localhost:\(origin.port)/known", "https://localhost:\(origin.port)/known",
            ] {
                let answer = try await sluice.answer(url)
                #expect(answer.status == 599 && answer.value("X-Sluice-Replay") == "miss", "\(url): \(answer)")
                #expect(answer.value("Content-Type") == "text/plain; charset=utf-8")
                #expect(
                    answer.text.contains("The nearest is exchange 1, GET http://\(place)/known: "),
                    "\(answer.text)"
                )
            }
            // Tools act as always, once, on what is answered.
            #expect(try await sluice.get("http://known.test/known") == "known")
            #expect(try await sluice.answer("http://blocked.test/").status == 403)

            let unread = try await sluice.curl(["https://unread.test:\(origin.port)/", "-v"])
            #expect(unread.status == 56 && unread.errors.contains("response 599"), "\(unread.errors)")
            let socket = try await sluice.answer(
                "-H",
                "Connection: Upgrade",
                "-H",
                "Upgrade: websocket",
                "-H",
                "Sec-WebSocket-Version: 13",
                "-H",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                "--http1.1",
                "http://\(place)/ws"
            )
            #expect(socket.status == 599 && socket.text.contains("WebSockets are not replayed"), "\(socket.text)")
            let rest = try await blocking {
                // An unknown protocol, and a client that waits for the server to speak first, then does not.
                let ssh = try sluice.tunnel(to: origin.port)
                try ssh.send("SSH-2.0-test\r\n")
                let silent = try sluice.tunnel(to: origin.port)
                let bytes = try ssh.readToEnd(toleratingReset: true)
                // Longer than a server is waited for.
                _ = DispatchSemaphore(value: 0).wait(timeout: .now() + 0.5)
                try silent.send("GET /known HTTP/1.1\r\nHost: \(place)\r\nConnection: close\r\n\r\n")
                return (bytes, latin1(try silent.readToEnd()))
            }
            #expect(rest.0.isEmpty)
            #expect(rest.1.hasPrefix("HTTP/1.1 200 OK\r\n") && rest.1.hasSuffix("\r\n\r\nknown"), "\(rest.1)")
            let tunnel = try await sluice.exchange { $0.kind == .tunnel && $0.url.host == "127.0.0.1" }
            #expect(tunnel.record.failure?.code == .notRecorded)
            #expect(origin.connectionCount == before)
            let end = try await sluice.stop()
            #expect(end.status == 0 && end.errors.contains(", 8 misses\n"), "\(end.errors)")
            #expect(latin1(sluice.scratch.bytes("mirrored/known.test/known")) == "known")
            #expect(end.errors.contains("sluice: miss: GET http://\(place)/other: The nearest is exchange 1"))
            #expect(origin.connectionCount == before)
        }

        @Test(
            "A command behind it has its exit code; --strict makes a miss one, --once ends a sequence, a filter chooses"
        )
        func commands() async throws {
            let counter = Atomic(0)
            let origin = try Origin { origin, socket in
                while true {
                    let head = try origin.head(socket)
                    let text =
                        head.contains("/turn") ? "turn \(counter.wrappingAdd(1, ordering: .relaxed).newValue)" : "other"
                    try socket.send("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
                }
            }
            let recording = try await SluiceProcess()
            let url = "http://127.0.0.1:\(origin.port)"
            for path in ["/turn", "/turn", "/other"] { _ = try await recording.get(url + path) }
            #expect(try await recording.stop().status == 0)
            origin.stop()
            func run(_ options: [String], _ urls: String..., code: Int = 0) async throws -> Program.Outcome {
                let script = "for url; do curl -sS \"$url\"; echo; done; exit \(code)"
                return try await recording.command(
                    ["replay", recording.session] + options + ["--no-session", "--", "sh", "-c", script, "-"] + urls
                )
            }
            let turns = try await run(["--strict"], url + "/turn", url + "/turn", url + "/turn")
            #expect(turns.status == 0 && turns.text == "turn 1\nturn 2\nturn 2\n", "\(turns.text)\(turns.errors)")
            #expect(turns.errors.contains("1 recorded exchange was not asked for\n"))
            let once = try await run(["--strict", "--once"], url + "/turn", url + "/turn", url + "/turn")
            #expect(once.status == 1 && once.text.contains("All 2 recorded answers were given already"), "\(once.text)")
            let lax = try await run([], url + "/none")
            #expect(lax.status == 0 && lax.text.contains("req.path is \"/none\", recorded \"/turn\""), "\(lax.text)")
            let failed = try await run(["--strict"], url + "/none", code: 7)
            #expect(failed.status == 7 && failed.errors.contains("1 miss;"), "\(failed.errors)")
            let filtered = try await run(["path:/other"], url + "/turn")
            #expect(filtered.text.contains("leaves it out"), "\(filtered.text)")
            for wrong in [
                ["replay"], ["replay", recording.session, "host:("], ["replay", recording.session, "--timing", "0"],
            ] {
                #expect(try await recording.command(wrong).status == 2, "\(wrong)")
            }
            #expect(try await recording.command(["replay", "/none.sluice"]).status == 1)

            // What an archive has of them is the same.
            let har = recording.scratch.path("recorded.har")
            try await recording.told("export", recording.session, "--secrets", "--format", "har", "-o", har)
            let archived = try await recording.command([
                "replay", har, "--no-session", "--", "curl", "-sS", url + "/turn",
            ])
            #expect(archived.status == 0 && archived.text == "turn 1", "\(archived.errors)")
        }

        @Test("A stream comes at once, or with --timing as it came; a long one is not held in memory")
        func streams() async throws {
            let size = 64 << 20
            let origin = try Origin { origin, socket in
                let head = try origin.head(socket)
                if head.contains("/long") {
                    try socket.send("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
                    for _ in 0..<64 { try socket.send([UInt8](repeating: 7, count: 1 << 20)) }
                } else {
                    try socket.send("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\n\n")
                    _ = DispatchSemaphore(value: 0).wait(timeout: .now() + 0.8)
                    try socket.send("data: 2\n\n")
                }
            }
            let recording = try await SluiceProcess()
            let url = "http://127.0.0.1:\(origin.port)"
            #expect(try await recording.get(url + "/events") == "data: 1\n\ndata: 2\n\n")
            #expect(try await recording.answer(url + "/long").body.count == size)
            #expect(try await recording.stop().status == 0)
            origin.stop()
            let fast = try await replay(recording)
            let events = try await fast.answer(url + "/events")
            #expect(events.text == "data: 1\n\ndata: 2\n\n" && events.seconds < 0.7)
            let before = try fast.memory()
            let long = try await fast.answer("--limit-rate", "60M", url + "/long")
            #expect(long.body.count == size && long.body.allSatisfy { $0 == 7 })
            #expect(try fast.peakMemory() - before < 40 << 20)
            #expect(try await fast.stop().status == 0)
            let slow = try await replay(recording, ["--timing", "1"], session: "slow.sluice")
            let timed = try await slow.answer(url + "/events")
            #expect(timed.text == events.text && timed.seconds >= 0.7)
            #expect(try await slow.stop().status == 0)
        }
    }
}
