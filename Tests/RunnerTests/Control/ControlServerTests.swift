import ExchangeCore
import Foundation
import HTTPModel
import NIOCore
import Support
import Synchronization
import Testing

@testable import Jobs
@testable import Runner

@Suite("The control socket")
struct ControlServerTests {
    private let directory = SocketDirectory()

    private func run(
        _ target: FakeTarget = FakeTarget(),
        _ body: (ControlServer) async throws -> Void
    ) async throws {
        let server = try await ControlServer.start(target, in: [directory.path])
        do {
            try await body(server)
        } catch {
            await server.stop()
            throw error
        }
        await server.stop()
    }

    /// Sends bytes and reads so many lines; what the server does with the rest does not matter.
    private func exchange(_ server: ControlServer, _ bytes: Data, lines: Int = 1) async throws -> [String] {
        let path = server.path
        return try await blocking {
            let socket = try ControlSocket(path: path, deadline: .now + .seconds(300))
            try socket.sendLine(bytes)
            return try (0..<lines).map { _ in String(decoding: try socket.receiveLine(), as: UTF8.self) }
        }
    }

    private func ask(_ server: ControlServer, _ json: String) async throws -> String {
        try await exchange(server, Data((json + "\n").utf8))[0]
    }

    @Test("is of mode 0600 in a directory of mode 0700, is named by the process, and goes with the server")
    func modes() async throws {
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: true)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: directory.path)
        try await run { server async throws in
            #expect(server.path == "\(directory.path)/\(getpid()).sock")
            #expect(try mode(server.path) == 0o600)
            #expect(try mode(directory.path) == 0o700)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test("stops Sluice when it is asked to")
    func stop() async throws {
        let target = FakeTarget()
        try await run(target) { server async throws in
            let client = try ControlClient(server.path, timeout: .seconds(120))
            #expect(try await client.stop() == "stopping")
            let isStopped = target.state.withLock { $0.isStopped }
            #expect(isStopped)
        }
    }

    @Test("is made again where its file or its directory goes, or another file takes its place")
    func restored() async throws {
        let restored = Mutex<[String]>([])
        let server = try await ControlServer.start(
            FakeTarget(),
            in: [directory.path],
            interval: .milliseconds(10),
            onRestored: { path in restored.withLock { $0.append(path) } }
        )
        let path = server.path
        let thefts: [() throws -> Void] = [
            { try FileManager.default.removeItem(atPath: path) },
            { try FileManager.default.removeItem(atPath: directory.path) },
            {
                // A socket where nobody listens, as a process of that number may have left it.
                try FileManager.default.removeItem(atPath: path)
                try SilentListener(path).close()
            },
        ]
        for (count, steal) in thefts.enumerated() {
            try steal()
            try await eventually("it is told") { restored.withLock { $0.count } == count + 1 }
            #expect(try await ask(server, #"{"command":"status"}"#).contains(#""ok":true"#))
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
        #expect(Set(restored.withLock { $0 }) == [path])
        await server.stop()
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test("tells what is running, with the version of the protocol")
    func status() async throws {
        try await run { server async throws in
            let reply = try await ask(server, #"{"command":"status"}"#)
            #expect(
                reply == #"{"ok":true,"status":{"address":"127.0.0.1:8080","authority":{"certificate":"","path":""},"#
                    + #""edits":0,"holds":0,"listeners":[],"mark":"","pid":\#(getpid()),"#
                    + #""profiles":["base.yaml"],"protocol":1,"recording":{"leftOut":0,"on":true,"passed":0},"#
                    + #""rules":"","session":"/tmp/s.sluice","tools":["#
                    + #"{"enabled":1,"name":"block","on":true,"rules":2},"#
                    + #"{"enabled":1,"name":"throttle","on":true,"rules":1}],"version":"1.2.3"}}"#
            )
        }
    }

    @Test("switches tools, all of them or none")
    func tools() async throws {
        let target = FakeTarget()
        try await run(target) { server async throws in
            let off = try await ask(server, #"{"command":"tool.set","tool":"block","on":false}"#)
            #expect(off.contains(#"{"enabled":1,"name":"block","on":false,"rules":2}"#))
            let unknown = try await ask(server, #"{"command":"tool.set","tools":["throttle","trottle"],"on":false}"#)
            #expect(unknown.contains("There is no tool 'trottle'.") && unknown.contains(#""ok":false"#))
            #expect(await target.tools().map(\.isOn) == [false, true])
            #expect(try await ask(server, #"{"command":"tool.set","tool":"block"}"#).contains("needs a 'tool'"))
            #expect(try await ask(server, #"{"command":"tool.set","on":true}"#).contains("needs a 'tool'"))
            _ = try await ask(server, #"{"command":"tool.set","tool":"all","on":true}"#)
            #expect(await target.tools().allSatisfy { $0.isOn })
            #expect(try await ask(server, #"{"command":"tool.list"}"#).contains(#""name":"throttle""#))
        }
    }

    @Test(
        "deletes and annotates exchanges, and says what is missing",
        arguments: [
            (#"{"command":"delete"}"#, "needs 'exchanges'"),
            (#"{"command":"delete","exchanges":"1-"}"#, "'1-' is not a list of exchanges."),
            (#"{"command":"delete","exchanges":"9-2"}"#, "'9-2' is not a list of exchanges."),
            (#"{"command":"delete","exchanges":"1-99999999999999999999"}"#, "is not a list of exchanges."),
            (#"{"command":"annotate","exchanges":"1"}"#, "needs a 'comment' or a 'colour'"),
            (#"{"command":"annotate","exchanges":"1","colour":"pink"}"#, "There is no colour 'pink'."),
            (#"{"command":"record.set"}"#, "needs 'on'"),
            (
                #"{"command":"delete","exchanges":"1-3,7"}"#,
                #""changed":{"exchanges":3,"inFlight":1,"mark":17},"ok":true"#
            ),
        ]
    )
    func edits(request: String, reply: String) async throws {
        try await run { server async throws in #expect(try await ask(server, request).contains(reply)) }
    }

    @Test("has a host decrypted again, or says why that cannot be")
    func decrypt() async throws {
        try await run { server async throws in
            let done = try await ask(server, #"{"command":"decrypt","host":"h.example:443"}"#)
            #expect(done == #"{"message":"h.example:443 is decrypted again","ok":true}"#)
            let refused = try await ask(server, #"{"command":"decrypt","host":"other"}"#)
            #expect(refused == #"{"error":"No client has refused it.","hint":"Try another.","ok":false}"#)
            #expect(try await ask(server, #"{"command":"decrypt"}"#).contains("needs a 'host'"))
        }
    }

    @Test(
        "stops verifying a host and verifies it again",
        arguments: [
            (#""host":"h.example","on":true"#, "h.example: insecure"), (#""host":"h.example","on":false"#, "verified"),
            (#""host":"h.example""#, "turned"), (#""on":true"#, "needs a 'host'"),
        ]
    )
    func insecureHost(members: String, reply: String) async throws {
        try await run { server async throws in
            #expect(try await ask(server, #"{"command":"insecure-host",\#(members)}"#).contains(reply))
        }
    }

    @Test("lists and shows messages that wait")
    func holds() async throws {
        let bytes = ByteBuffer(bytes: [0xFF, 0x00])
        let target = FakeTarget(holds: [
            WaitingHold(12, try Held.request("PUT", "https://a.example/x", body: ByteBuffer(string: "hi"))),
            WaitingHold(13, ordinal: 2, try Held.response(404, "Not Found", body: bytes)),
        ])
        try await run(target) { server async throws in
            let list = try await ask(server, #"{"command":"hold.list"}"#)
            #expect(
                list == #"{"holds":[{"age":75,"id":"12.1","method":"PUT","remaining":18.4,"side":"request","size":2,"#
                    + #""unanswered":"cancel","url":"https://a.example/x"},"#
                    + #"{"age":75,"id":"13.2","method":"GET","remaining":18.4,"side":"response","size":2,"#
                    + #""status":404,"unanswered":"cancel","url":"https://api.example.com/old"}],"ok":true}"#
            )
            let request = try await ask(server, #"{"command":"hold.show","id":"12"}"#)
            #expect(request.contains(#""body":{"cut":false,"decodedSize":2,"size":2,"text":"hi"}"#))
            #expect(request.contains(#""head":"PUT https://a.example/x HTTP/1.1\nHost: a.example\n""#))
            let response = try await ask(server, #"{"command":"hold.show","id":"13.2"}"#)
            #expect(response.contains(#""base64":"/wA=""#))
            #expect(try await ask(server, #"{"command":"hold.show","id":"all"}"#).contains("more than one"))
            #expect(try await ask(server, #"{"command":"hold.show"}"#).contains("needs the 'id'"))
        }
    }

    @Test("decides about messages, one, some or all; a wrong name decides about none")
    func decide() async throws {
        let holds =
            try (1...5).map { WaitingHold(Int64($0), try Held.request()) } + [
                WaitingHold(5, ordinal: 2, try Held.response())
            ]
        let target = FakeTarget(holds: holds)
        try await run(target) { server async throws in
            let none = try await ask(server, #"{"command":"hold.abort","ids":["1.1","9.1"]}"#)
            #expect(none.contains("Message 9.1 is not waiting.") && none.contains("1.1, 2.1, 3.1, 4.1, 5.1, 5.2"))
            #expect(try await ask(server, #"{"command":"hold.abort","id":"x"}"#).contains("is not a message"))
            #expect(try await ask(server, #"{"command":"hold.abort"}"#).contains("needs the 'id'"))
            #expect(target.decided.isEmpty)
            let one = try await ask(server, #"{"command":"hold.cancel","id":"2.1"}"#)
            #expect(one == #"{"decided":["2.1"],"gone":[],"ok":true}"#)
            _ = try await ask(server, #"{"command":"hold.execute","ids":["1","1.1"]}"#)
            _ = try await ask(server, #"{"command":"hold.abort","ids":["5"]}"#)
            #expect(target.decided == ["2.1 cancel", "1.1 execute", "5.1 abort", "5.2 abort"])
            _ = try await ask(server, #"{"command":"hold.execute","ids":["all"]}"#)
            #expect(target.decided.suffix(2) == ["3.1 execute", "4.1 execute"])
            let late = try await ask(server, #"{"command":"hold.cancel","id":"3.1"}"#)
            #expect(late.contains("Message 3.1 is no longer waiting."))
            #expect(try await ask(server, #"{"command":"hold.cancel","id":"all"}"#).contains(#""decided":[]"#))
        }
    }

    @Test("applies edits where the message is, and leaves it waiting where that cannot be done")
    func edit() async throws {
        let target = FakeTarget(holds: [WaitingHold(7, try Held.json(#"{"a":1}"#))])
        try await run(target) { server async throws in
            let wrong = try await ask(server, #"{"command":"hold.edit","id":"7.1","edit":{"status":404}}"#)
            #expect(wrong.contains("The held message is a request") && target.decided.isEmpty)
            #expect(try await ask(server, #"{"command":"hold.edit","id":"7.1"}"#).contains("needs an 'edit'"))
            let edit =
                #"{"method":"PUT","values":[{"place":"json.a","value":"2"}],"headers":[{"name":"X","value":"y"}]}"#
            let done = try await ask(server, #"{"command":"hold.edit","id":"7","edit":\#(edit)}"#)
            #expect(done == #"{"decided":["7.1"],"ok":true}"#)
            guard case .execute(let message?) = target.decisions.first?.resolution else {
                Issue.record("it is to go on edited")
                return
            }
            #expect(message.headText.hasPrefix("PUT ") && message.headText.contains("X: y\r\n"))
            #expect(message.bodyText == #"{"a":2}"#)
        }
    }

    @Test("tells why a profile was not put in force")
    func reload() async throws {
        try await run { server async throws in
            let reply = try await ask(server, #"{"command":"profile.reload"}"#)
            #expect(
                reply
                    == #"{"error":"base.yaml:1:1: the profile is empty","hint":"The rules are unchanged.","ok":false}"#
            )
        }
    }

    @Test("passes texts of profiles on, shows and saves them")
    func profiles() async throws {
        try await run { server async throws in
            let profile = #"{"file":"p.yaml","text":"version: 1\n"}"#
            let applied = try await ask(server, #"{"command":"profile.apply","profiles":[\#(profile)]}"#)
            #expect(applied.contains(#""message":"1 rule added""#) && applied.contains(#""unsaved":true"#))
            #expect(try await ask(server, #"{"command":"profile.show"}"#).contains(#""text":"version: 1\n""#))
            #expect(try await ask(server, #"{"command":"profile.apply"}"#).contains("needs 'profiles'"))
            #expect(try await ask(server, #"{"command":"profile.save"}"#).contains("was changed"))
            let saved = try await ask(server, #"{"command":"profile.save","files":["a"],"force":true}"#)
            #expect(saved == #"{"ok":true,"saved":["a"]}"#)
            #expect(try await ask(server, #"{"command":"profile.reload","force":true}"#).contains("1 rule removed"))
        }
    }

    @Test(
        "answers what is no request with what is wrong, and goes on",
        arguments: [
            ("", "not JSON"), ("null", "understood"), ("[]", "understood"), ("{}", "'command' is missing"),
            (#"{"command":"quit"}"#, "There is no command 'quit'."), (#"{"command":5}"#, "'command' has another type"),
            (#"{"command":"status","comand":1}"#, "There is no member 'comand'."),
            (#"{"command":"profile.apply","profiles":[{"file":"a","text":"","txt":""}]}"#, "There is no member 'txt'."),
            (#"{"command":"tool.set","on":"yes"}"#, "'on' has another type"),
            (#"{"command":"hold.edit","id":"1","edit":{"headers":[{"name":"a"}]}}"#, "'value' is missing"),
            (#"{"command":"hold.edit","id":"1","edit":{"body":{"base64":"***"}}}"#, "cannot be read"),
            (#"{"command":"hold.edit","id":"1","edit":{"body":{}}}"#, "A body is given as 'text' or as 'base64'."),
            (String(repeating: "[", count: 100_000), "not JSON"), ("\u{0}\u{1}", "not JSON"),
            (#"{"command":"status""#, "not JSON"), ("GET / HTTP/1.1\r", "not JSON"),
        ]
    )
    func hostile(line: String, words: String) async throws {
        try await run { server async throws in
            let replies = try await exchange(server, Data((line + "\n{\"command\":\"status\"}\n").utf8), lines: 2)
            #expect(replies[0].contains(words) && replies[0].contains(#""ok":false"#), "\(replies[0].prefix(300))")
            #expect(replies[1].contains(#""ok":true"#))
        }
    }

    @Test("takes bytes that are no UTF-8, and lines in pieces or many at once")
    func pieces() async throws {
        try await run { server async throws in
            let bytes = try await exchange(server, Data([0xFF, 0xFE, 0x0A]))
            #expect(bytes[0].contains(#""ok":false"#))
            let many = Data(String(repeating: "{\"command\":\"tool.list\"}\n", count: 500).utf8)
            #expect(try await exchange(server, many, lines: 500).allSatisfy { $0.contains(#""ok":true"#) })
            let path = server.path
            let reply = try await blocking {
                let socket = try ControlSocket(path: path, deadline: .now + .seconds(300))
                for byte in Data("{\"command\":\"status\"}\n".utf8) { try socket.sendLine(Data([byte])) }
                return String(decoding: try socket.receiveLine(), as: UTF8.self)
            }
            #expect(reply.contains(#""ok":true"#))
        }
    }

    @Test("ends a connection whose line has no end, and serves the others")
    func endless() async throws {
        try await run { server async throws in
            let endless = Data(repeating: UInt8(ascii: "x"), count: ControlProtocol.longestLine + 2)
            #expect(try await exchange(server, endless)[0].contains("at most 64 MiB"))
            #expect(try await ask(server, #"{"command":"status"}"#).contains(#""ok":true"#))
        }
    }

    @Test("passes bodies of megabytes")
    func large() async throws {
        let text = String(repeating: "0123456789abcde\n", count: 400_000)
        let target = FakeTarget(holds: [WaitingHold(1, try Held.request(body: ByteBuffer(string: text)))])
        try await run(target) { server async throws in
            let client = try ControlClient(server.path, timeout: .seconds(120))
            #expect(try await client.hold("1").body?.text == text)
            _ = try await client.editHold("1", HoldEdit { $0.body = .init(Data((text + text).utf8)) })
            guard case .execute(let message?) = target.decisions.first?.resolution else { return }
            #expect(message.body?.readableBytes == 2 * text.utf8.count)
        }
    }

    @Test("serves several clients at once, and does not mind those that go away")
    func clients() async throws {
        try await run { server async throws in
            let path = server.path
            try await withThrowingTaskGroup(of: Void.self) { group in
                for index in 0..<20 {
                    group.addTask {
                        try await blocking {
                            let socket = try ControlSocket(path: path, deadline: .now + .seconds(300))
                            // Half of them ask and do not wait; some say only half of what they want.
                            try socket.sendLine(Data(#"{"command":"status"}"#.utf8))
                            guard index % 4 != 1 else { return }
                            try socket.sendLine(Data("\n".utf8))
                            if index % 2 == 0 { _ = try socket.receiveLine() }
                        }
                    }
                }
                try await group.waitForAll()
            }
            #expect(try await ask(server, #"{"command":"status"}"#).contains(#""ok":true"#))
        }
    }

    @Test("takes the place of a socket that a dead process of the same number left, and removes others' too")
    func stale() async throws {
        try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: true)
        // No process has such a number: Linux counts to 4,194,304 at most.
        let paths = ["\(getpid())", "2147483000", "2147483001"].map { "\(directory.path)/\($0).sock" }
        for path in paths.dropLast() { try SilentListener(path).close() }
        // Somebody listens there all the same, perhaps in another container.
        let other = try SilentListener(paths[2])
        defer { other.close() }
        _ = FileManager.default.createFile(atPath: "\(directory.path)/other.sock", contents: nil)
        let server = try await ControlServer.start(FakeTarget(), in: [directory.path])
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
        #expect(names == ["\(getpid()).sock", "2147483001.sock", "other.sock"].sorted())
        #expect(try await ask(server, #"{"command":"status"}"#).contains(#""ok":true"#))
        await server.stop()
    }

    @Test("answers a client that sends nothing more, and then ends")
    func halfClosed() async throws {
        try await run { server async throws in
            let path = server.path
            let lines = try await blocking {
                let socket = try ControlSocket(path: path, deadline: .now + .seconds(300))
                try socket.sendLine(Data("{\"command\":\"status\"}\n{\"command\":\"tool.list\"}\n".utf8))
                shutdown(socket.descriptor, CInt(SHUT_WR))
                let replies = [try socket.receiveLine(), try socket.receiveLine()]
                #expect(throws: ControlSocket.SocketError.self) { _ = try socket.receiveLine() }
                return replies.map { String(decoding: $0, as: UTF8.self) }
            }
            #expect(lines.allSatisfy { $0.contains(#""ok":true"#) })
        }
    }

    @Test("is somewhere else where the first directory will not do, and nowhere with a reason")
    func fallback() async throws {
        let long = "/tmp/" + String(repeating: "x", count: 120)
        let server = try await ControlServer.start(FakeTarget(), in: [long, directory.path])
        #expect(server.path.hasPrefix(directory.path))
        await server.stop()
        do {
            _ = try await ControlServer.start(FakeTarget(), in: [long])
            Issue.record("no socket has such a path")
        } catch let failure as StartError {
            #expect(failure.message.contains("longer than the 107 bytes") && failure.hint.contains("XDG_RUNTIME_DIR"))
        }
        let link = directory.path + "-link"
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: directory.path)
        defer { unlink(link) }
        await #expect(throws: StartError.self) { _ = try await ControlServer.start(FakeTarget(), in: [link]) }
    }
}
