import ExchangeCore
import Foundation
import HTTPModel
import Logging
import NIOCore
import NIOPosix
import ProxyServer
import Recording
import Rules
import Support
import Synchronization
import Testing
import Tools
import Wire

@testable import Runner

@Suite("A running proxy under control", .timeLimit(.minutes(5)))
struct RunningTargetTests {
    fileprivate let directory = SocketDirectory()
    fileprivate let origin: EchoOrigin

    init() async throws {
        origin = try await EchoOrigin()
    }

    /// A proxy with its rules, its session and its control socket, stopped when `body` is over.
    fileprivate func run(_ profile: String, _ body: (Running) async throws -> Void) async throws {
        let running = try await Running(profile, directory.path)
        do {
            try await body(running)
        } catch {
            await running.stop()
            throw error
        }
        await running.stop()
    }

    @Test("lets held messages be edited through the socket, and they go out as edited")
    func holds() async throws {
        let profile = "version: 1\nbreakpoints: { at: \"*/held*\", on: [request, response], after: 60s, then: abort }\n"
        try await run(profile) { running in
            let answer = Task { try await running.get(origin, "/held?a=1", "--data", "hello") }
            let request = try await running.waitingHold("request")
            #expect(request.method == "POST" && request.size == 5 && request.unanswered == "abort")
            #expect(request.url == "http://127.0.0.1:\(origin.port)/held?a=1")
            #expect(try #require(request.remaining) > 50)
            let toRequest = HoldEdit {
                $0.method = "PUT"
                $0.values = [.init(place: "query.a", value: "2")]
                $0.body = .init(Data("good bye".utf8))
            }
            _ = try await running.client.editHold(request.id, toRequest)
            let response = try await running.waitingHold("response")
            #expect(response.status == 200 && response.method == "POST")
            let toResponse = HoldEdit {
                $0.status = 404
                $0.headers = [.init("X-Edited", "yes")]
            }
            _ = try await running.client.editHold(response.id, toResponse)
            let text = try await answer.value
            #expect(text.hasPrefix("HTTP/1.1 404 Not Found\r\n") && text.contains("X-Edited: yes\r\n"))
            #expect(text.hasSuffix("PUT /held?a=2 HTTP/1.1\n8\ngood bye"))
            #expect(try await running.client.holds().isEmpty)
        }
    }

    @Test("switches tools for what begins from then on, and the session knows what was in force")
    func tools() async throws {
        try await run("version: 1\nblock: { at: \"*/blocked\" }\n") { running in
            #expect(try await running.get(origin, "/blocked").hasPrefix("HTTP/1.1 403"))
            let off = try await running.client.setTools(["block"], isOn: false)
            #expect(off.first { $0.name == "block" } == ToolState(name: "block", isOn: false, rules: 1, enabled: 1))
            #expect(try await running.get(origin, "/blocked").hasPrefix("HTTP/1.1 200"))
            _ = try await running.client.setTools(["all"], isOn: true)
            #expect(try await running.get(origin, "/blocked").hasPrefix("HTTP/1.1 403"))
            let reader = try await running.reader(after: 3)
            let switchedOff = try reader.records(limit: 10)
                .map { try reader.rules(at: $0.startedAt)?.switchedOff ?? ["?"] }
            #expect(switchedOff == [[], ["block"], []])
            #expect(try reader.rules().allSatisfy { $0.sources.first?.text.contains("blocked") == true })
        }
    }

    @Test("goes on counting the requests of a share when the profile is read again")
    func counting() async throws {
        let share = "block: [ { name: a, at: \"*/x\", share: 99.999999, seed: 1 } ]\n"
        try await run("version: 1\n\(share)") { running in
            #expect(try await running.get(origin, "/x").contains("(request 1 for it, seed 1)"))
            try Data("version: 1\nname: other\n\(share)".utf8).write(to: URL(filePath: running.profile))
            _ = try await running.client.loadProfile(nil, discardsEdits: false)
            #expect(try await running.get(origin, "/x").contains("(request 2 for it, seed 1)"))
        }
    }

    @Test("tells its state, and reads its profile again when it is told to; a wrong one changes nothing")
    func reload() async throws {
        try await run("version: 1\nblock: { at: \"*/blocked\" }\n") { running in
            let status = try await running.client.status()
            #expect(status.profiles == [running.profile] && status.session == running.session)
            #expect(status.pid == getpid() && status.protocol == 1)
            #expect(status.authority == AuthorityInUse(path: "/tmp/ca-cert.pem", certificate: Data([1, 2, 3])))
            try Data("version: 1\nblock: [ { at: \"*/blocked\" }, { at: \"*/new\" } ]\n".utf8)
                .write(to: URL(filePath: running.profile))
            #expect(try await running.client.loadProfile(nil, discardsEdits: false) == "1 rule added")
            #expect(try await running.get(origin, "/new").hasPrefix("HTTP/1.1 403"))
            try Data("version: 1\nblok: true\n".utf8).write(to: URL(filePath: running.profile))
            do {
                _ = try await running.client.loadProfile(nil, discardsEdits: false)
                Issue.record("the profile is wrong")
            } catch let failure as ControlError {
                #expect(failure.message.hasPrefix("\(running.profile):2:1: "))
            }
            #expect(try await running.get(origin, "/new").hasPrefix("HTTP/1.1 403"))
        }
    }
}

extension RunningTargetTests {
    private static func block(_ paths: String...) -> String {
        "version: 1\nblock: [ \(paths.map { "{ at: \"*/\($0)\" }" }.joined(separator: ", ")) ]\n"
    }

    @Test("puts another profile in force when it is told to; unsaved texts are not lost unasked")
    func load() async throws {
        try await run(RunningTargetTests.block("blocked")) { running in
            let other = running.profile + ".other.yaml"
            try Data(RunningTargetTests.block("other").utf8).write(to: URL(filePath: other))
            let message = try await running.client.loadProfile([other], discardsEdits: false)
            #expect(message == "1 rule changed" || message == "1 rule added, 1 removed", "\(message)")
            #expect(try await running.get(origin, "/other").hasPrefix("HTTP/1.1 403"))
            #expect(try await !running.get(origin, "/blocked").hasPrefix("HTTP/1.1 403"))
            #expect(try await running.client.profile().profiles.map(\.file) == [other])
            let edited = ProfileSource(file: other, text: RunningTargetTests.block("edited"))
            _ = try await running.client.applyProfile([edited], madeFrom: nil)
            await #expect(throws: (any Error).self) {
                _ = try await running.client.loadProfile([running.profile], discardsEdits: false)
            }
            #expect(try await running.get(origin, "/edited").hasPrefix("HTTP/1.1 403"))
            _ = try await running.client.loadProfile([running.profile], discardsEdits: true)
            #expect(try await running.get(origin, "/blocked").hasPrefix("HTTP/1.1 403"))
            try Data("version: 1\nblok: 1\n".utf8).write(to: URL(filePath: other))
            await #expect(throws: (any Error).self) {
                _ = try await running.client.loadProfile([other], discardsEdits: false)
            }
            #expect(try await running.get(origin, "/blocked").hasPrefix("HTTP/1.1 403"))
        }
    }

    @Test("a text that was made here, is in no file and has no rule any more is not of the profile")
    func emptied() async throws {
        try await run(RunningTargetTests.block("blocked")) { running in
            let file = running.profile + ".new.yaml"
            _ = try await running.client.applyProfile(
                [ProfileSource(file: file, text: RunningTargetTests.block("new"))],
                madeFrom: nil
            )
            #expect(try await running.client.profile().profiles.count == 2)
            let empty = ProfileSource(file: file, text: "version: 1\n")
            _ = try await running.client.applyProfile([empty], madeFrom: nil)
            #expect(try await running.client.profile().profiles.map(\.file) == [running.profile])
        }
    }

    @Test("puts edited texts in force without writing them, keeps what was switched, and saves them when told to")
    func edits() async throws {
        try await run(Self.block("old")) { running in
            _ = try await running.client.setTools(["mirror"], isOn: false)
            let edited = ProfileSource(file: running.profile, text: Self.block("old", "new"))
            let before = try await running.client.profile().rules
            let (message, profile) = try await running.client.applyProfile([edited], madeFrom: before)
            // Another one who has made his from what was in force before does not throw these away.
            await #expect(throws: ControlError.self) {
                let other = ProfileSource(file: running.profile, text: Self.block("other"))
                _ = try await running.client.applyProfile([other], madeFrom: before)
            }
            #expect(try await running.client.status().rules == profile.rules)
            #expect(message == "1 rule added" && profile.profiles.map(\.isUnsaved) == [true])
            #expect(try await running.get(origin, "/new").hasPrefix("HTTP/1.1 403"))
            #expect(try String(contentsOfFile: running.profile, encoding: .utf8) == Self.block("old"))
            let tools = try await running.client.tools()
            #expect(tools.first { $0.name == "mirror" }?.isOn == false)
            running.recorder.flush()
            let reader = try SessionReader(path: running.session)
            #expect(try reader.rules().last?.sources.map(\.text) == [edited.text])

            // Wrong texts change nothing, and edits that are not saved are not thrown away.
            await #expect(throws: ControlError.self) {
                let wrong = ProfileSource(file: running.profile, text: "version: 1\nblok: true\n")
                _ = try await running.client.applyProfile([wrong], madeFrom: nil)
            }
            await #expect(throws: ControlError.self) {
                _ = try await running.client.loadProfile(nil, discardsEdits: false)
            }
            #expect(try await running.client.profile().profiles.map(\.text) == [edited.text])

            #expect(chmod(running.profile, 0o640) == 0)
            #expect(try await running.client.saveProfile(nil, isForced: false) == [running.profile])
            #expect(try String(contentsOfFile: running.profile, encoding: .utf8) == edited.text)
            let mode = try FileManager.default.attributesOfItem(atPath: running.profile)[.posixPermissions] as? Int
            #expect(mode == 0o640)
            #expect(try await running.client.profile().profiles.map(\.isUnsaved) == [false])
            #expect(try await running.client.saveProfile(nil, isForced: false) == [])
            guard case .none = try await running.rules.followFiles() else {
                Issue.record("our own save is no change")
                return
            }
        }
    }

    @Test("keeps edits when their file changes, and overwrites that only when forced")
    func conflict() async throws {
        try await run(Self.block("old")) { running in
            func write(_ text: String) throws { try Data(text.utf8).write(to: URL(filePath: running.profile)) }
            // Without edits the files count.
            try write(Self.block("old", "b"))
            guard case .changed(let difference, _) = try await running.rules.followFiles() else {
                Issue.record("the file counts")
                return
            }
            #expect(difference.added == 1)
            let edited = ProfileSource(file: running.profile, text: Self.block("old", "mine"))
            _ = try await running.client.applyProfile([edited], madeFrom: nil)
            try write(Self.block("theirs"))
            guard case .conflict(let files) = try await running.rules.followFiles() else {
                Issue.record("both have changed it")
                return
            }
            #expect(files == [running.profile])
            #expect(try await running.get(origin, "/mine").hasPrefix("HTTP/1.1 403"))
            #expect(await running.conflictOfSaving() == .changed)
            #expect(try String(contentsOfFile: running.profile, encoding: .utf8) == Self.block("theirs"))
            _ = try await running.client.saveProfile(nil, isForced: true)
            #expect(try String(contentsOfFile: running.profile, encoding: .utf8) == edited.text)

            // The other way out: the file counts, the edits are lost.
            _ = try await running.client.applyProfile([.init(file: running.profile, text: Self.block())], madeFrom: nil)
            try write(Self.block("theirs"))
            let message = try await running.client.loadProfile(nil, discardsEdits: true)
            #expect(message.contains("1 rule added"))
            #expect(try await running.get(origin, "/theirs").hasPrefix("HTTP/1.1 403"))
            // Somebody else saves what is edited here.
            _ = try await running.client.applyProfile([edited], madeFrom: nil)
            try write(edited.text)
            _ = try await running.rules.followFiles()
            #expect(await running.rules.states.map(\.isUnsaved) == [false])
        }
    }

    @Test("begins a profile that has no file yet, beside the others, and does not write over a file that is there")
    func newFile() async throws {
        try await run(Self.block("old")) { running in
            let new = ProfileSource(file: directory.path + "/new.yaml", text: Self.block("new"))
            #expect(try await running.client.applyProfile([new], madeFrom: nil).message == "1 rule added")
            #expect(try await running.client.status().profiles == [running.profile, new.file])
            #expect(!FileManager.default.fileExists(atPath: new.file))
            guard case .none = try await running.rules.followFiles() else {
                Issue.record("a file that never was has not changed")
                return
            }
            try Data("other".utf8).write(to: URL(filePath: new.file))
            #expect(await running.conflictOfSaving() == .exists)
            #expect(unlink(new.file) == 0)
            #expect(try await running.client.saveProfile([new.file], isForced: false) == [new.file])
            #expect(try String(contentsOfFile: new.file, encoding: .utf8) == new.text)
            await #expect(throws: ControlError.self) {
                _ = try await running.client.saveProfile(["/no/such.yaml"], isForced: false)
            }
        }
    }
}

/// What a running Sluice is made of, without its log and its watching.
private final class Running: Sendable {
    let profile: String
    let session: String
    let recorder: Recorder
    let rules: RulesInForce
    private let server: ProxyServer
    private let control: ControlServer
    /// Steers it from another process, as it were.
    let client: ControlClient

    init(_ text: String, _ directory: String) async throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        profile = directory + "/p.yaml"
        session = directory + "/s.sluice"
        try Data(text.utf8).write(to: URL(filePath: profile))
        let recorder = try Recorder(RecorderConfiguration(path: session))
        self.recorder = recorder
        var configuration = ProxyConfiguration(authority: try CertificateAuthority.generate())
        configuration.listeners[0].port = 0
        let loaded = try RuleProfile.load(paths: [profile])
        server = try await ProxyServer.start(
            configuration,
            rules: try RulesInForce.rules(loaded),
            makeOutlet: { onRoom in recorder.makeProducer(onCredit: onRoom).submit },
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        rules = RulesInForce(profile: loaded, paths: [profile], server: server, recorder: recorder)
        let target = RunningTarget(
            address: "127.0.0.1:\(server.address.port ?? 0)",
            authority: AuthorityInUse(path: "/tmp/ca-cert.pem", certificate: Data([1, 2, 3])),
            rules: rules,
            recorder: recorder,
            server: server
        )
        control = try await ControlServer.start(target, in: [directory + "/run"])
        client = try ControlClient(control.path, timeout: .seconds(120))
    }

    func stop() async {
        await control.stop()
        await server.stop(grace: .zero)
        recorder.close()
    }

    /// What is in the way of saving.
    func conflictOfSaving() async -> SavingConflict? {
        do {
            _ = try await client.saveProfile(nil, isForced: false)
            return nil
        } catch {
            return (error as? ControlError)?.conflict
        }
    }

    /// The session, as soon as so many exchanges are recorded: a client has its answer before the recorder has it.
    func reader(after count: Int) async throws -> SessionReader {
        let deadline = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < deadline {
            let recorder = recorder
            try await blocking { recorder.flush() }
            let reader = try SessionReader(path: session)
            if try reader.records(limit: count).count == count { return reader }
        }
        throw ControlError("no \(count) exchanges were recorded in time")
    }

    /// The message that waits, as soon as one of that side does.
    func waitingHold(_ side: String) async throws -> HoldSummary {
        let deadline = ContinuousClock.now + .seconds(120)
        while ContinuousClock.now < deadline {
            let holds = try await client.holds()
            if let hold = holds.first(where: { $0.side == side }) { return hold }
        }
        throw ControlError("no \(side) was held in time")
    }

    /// Asks the origin through the proxy, and returns the whole response.
    func get(_ origin: EchoOrigin, _ path: String, _ arguments: String...) async throws -> String {
        let url = "http://127.0.0.1:\(origin.port)\(path)"
        let proxy = "127.0.0.1:\(server.address.port ?? 0)"
        return try await blocking {
            try ChildProgram.run(
                "curl",
                ["-q", "--silent", "--include", "--noproxy", "", "--proxy", proxy, url] + arguments
            ).text
        }
    }
}

/// A server that answers each request with its request line, its Content-Length and its body.
private final class EchoOrigin: Sendable {
    let port: Int
    private let channel: any Channel

    init() async throws {
        channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Answerer())
                }
            }
            .bind(host: "127.0.0.1", port: 0)
            .get()
        port = channel.localAddress?.port ?? 0
    }

    deinit { channel.close(promise: nil) }

    private final class Answerer: ChannelInboundHandler {
        typealias InboundIn = ByteBuffer
        typealias OutboundOut = ByteBuffer

        private var received = ByteBuffer()

        func channelRead(context: ChannelHandlerContext, data: NIOAny) {
            received.writeImmutableBuffer(unwrapInboundIn(data))
            let text = String(buffer: received)
            guard let end = text.utf8.firstRange(of: Array("\r\n\r\n".utf8)) else { return }
            let head = StoredHead.request(ByteBuffer(string: String(text[..<end.upperBound])))
            let length = head?.fields.value(of: .contentLength) ?? "0"
            let body = text[end.upperBound...]
            guard body.utf8.count >= Int(length) ?? 0 else { return }
            received.clear()
            let line = String(text.utf8.prefix { $0 != 0x0D }) ?? ""
            let answer = "\(line)\n\(length)\n\(body)"
            let response = "HTTP/1.1 200 OK\r\nContent-Length: \(answer.utf8.count)\r\n\r\n\(answer)"
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: response)), promise: nil)
        }
    }
}
