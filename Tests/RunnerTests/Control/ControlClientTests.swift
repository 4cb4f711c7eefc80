import Foundation
import HTTPModel
import Recording
import Support
import Synchronization
import Testing

@testable import Jobs
@testable import Runner

@Suite("Finding the running Sluice")
struct ControlClientTests {
    private let directory = SocketDirectory()
    private var directories: [String] { [directory.path, directory.path + "/none"] }

    private func find(_ choice: String? = nil) async throws -> String {
        let directories = directories
        return try await blocking { try ControlClient(choice, in: directories, timeout: .seconds(120)).path }
    }

    private func failure(_ body: () async throws -> String) async -> StartError? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? StartError
        }
    }

    @Test("says how to start one where there is none")
    func none() async throws {
        let error = await failure { try await find() }
        #expect(error?.message == "No Sluice is running.")
        #expect(error?.hint.contains("sluice run") == true)
    }

    @Test("takes the only one, whatever a dead process left beside it")
    func one() async throws {
        let server = try await ControlServer.start(FakeTarget(), in: directories)
        _ = FileManager.default.createFile(atPath: "\(directory.path)/2147483000.sock", contents: nil)
        #expect(try await find() == server.path)
        await server.stop()
        #expect(await failure { try await find() }?.message == "No Sluice is running.")
    }

    @Test("lists several with process, address and profile, and takes the one that was chosen")
    func several() async throws {
        let first = try await ControlServer.start(
            FakeTarget(address: "127.0.0.1:8080", process: 1_001),
            in: directories,
            process: 1_001
        )
        let second = try await ControlServer.start(
            FakeTarget(address: "127.0.0.1:8081", process: 1_002),
            in: directories,
            process: 1_002
        )
        let error = await failure { try await find() }
        #expect(
            error?.message == """
                Several Sluices are running:
                  1001  127.0.0.1:8080  base.yaml
                  1002  127.0.0.1:8081  base.yaml
                """
        )
        #expect(error?.hint.contains("--control") == true)
        #expect(try await find("1002") == second.path)
        #expect(try await find(first.path) == first.path)
        await first.stop()
        await second.stop()
    }

    @Test("says what is wrong with a choice")
    func wrongChoice() async throws {
        #expect(await failure { try await find("77") }?.message.contains("Process 77 has no control socket") == true)
        #expect(await failure { try await find("eleven") }?.isUsage == true)
        let directories = directories
        let error = await failure {
            try await ControlClient("/no/such.sock", in: directories).status().address
        }
        #expect(error?.message == "Nobody listens at /no/such.sock.")
    }

    @Test("gives up on a socket whose owner does not answer")
    func silent() async throws {
        // Its own socket, on which nobody ever accepts.
        try FileManager.default.createDirectory(atPath: directory.path, withIntermediateDirectories: true)
        let path = "\(directory.path)/1003.sock"
        let listener = try SilentListener(path)
        defer { listener.close() }
        let error = await failure {
            try await ControlClient(path, timeout: .milliseconds(100)).status().address
        }
        #expect(error?.message == "The Sluice at \(path) does not answer.")
    }

    @Test("passes on why a command was not carried out")
    func refused() async throws {
        let server = try await ControlServer.start(FakeTarget(), in: directories)
        let path = server.path
        let client = try ControlClient(path, timeout: .seconds(120))
        let error = await #expect(throws: ControlError.self) { _ = try await client.setTools(["x"], isOn: true) }
        #expect(error?.message == "There is no tool 'x'." && error?.hint.contains("throttle") == true)
        let conflict = await #expect(throws: ControlError.self) {
            _ = try await client.saveProfile(nil, isForced: false)
        }
        #expect(conflict?.conflict == .changed)
        await server.stop()
        let gone = await #expect(throws: StartError.self) { _ = try await client.tools() }
        #expect(gone?.isGone == true)
    }

    @Test("has every call of a target answered as the target in its process answers it")
    func calls() async throws {
        let hold = WaitingHold(7, try Held.request("PUT", "https://a.example/x"))
        let target = FakeTarget(holds: [hold])
        let server = try await ControlServer.start(target, in: directories)
        let client = try ControlClient(server.path, timeout: .seconds(120))
        #expect(try await client.status() == target.status())
        #expect(try await client.tools() == target.tools())
        #expect(try await client.setTools(["block"], isOn: false) == target.tools())
        #expect(try await client.holds() == target.holds())
        #expect(try await client.hold("7") == target.hold("7"))
        #expect(try await client.decide(["7"], .abort) == HoldsDecided(decided: ["7.1"]))
        #expect(try await client.decide(["all"], .cancel) == HoldsDecided())
        #expect(target.decided == ["7.1 abort"])
        #expect(try await client.decrypt("h.example:443") == "h.example:443 is decrypted again")
        #expect(try await client.setRecording(false) == "recording is off")
        let edits: [SessionEdit] = [
            .delete(ExchangeNumbers(ranges: [1...5, 9...9])), .restore(mark: 17), .restore(mark: nil),
            .annotate(ExchangeNumbers([1]), .comment("it's \"flaky\"")), .annotate(ExchangeNumbers([1]), .comment(nil)),
            .annotate(ExchangeNumbers([1]), .colour(.red)), .annotate(ExchangeNumbers([1]), .colour(nil)),
        ]
        for edit in edits {
            let result = try await client.edit(edit)
            #expect((result.changed, result.inFlight, result.mark) == (3, 1, 17))
        }
        #expect(target.state.withLock { $0.edits } == edits)
        let texts = [ProfileSource(file: "p.yaml", text: "version: 1\n")]
        let applied = try await client.applyProfile(texts, madeFrom: "r1")
        #expect(applied.message == "1 rule added" && applied.profile.profiles.map(\.file) == ["p.yaml"])
        await #expect(throws: ControlError.self) { _ = try await client.applyProfile(texts, madeFrom: "r0") }
        #expect(try await client.profile() == target.profile())
        #expect(try await client.loadProfile(nil, discardsEdits: true) == "1 rule removed")
        #expect(try await client.saveProfile(["a"], isForced: true) == ["a"])
        #expect(try await client.saveProfile(nil, isForced: true) == ["base.yaml"])
        await server.stop()
    }
}
