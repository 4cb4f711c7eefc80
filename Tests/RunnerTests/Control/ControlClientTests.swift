import Foundation
import Support
import Testing

@testable import Runner

@Suite("Finding the running Sluice")
struct ControlClientTests {
    private let directory = SocketDirectory()
    private var directories: [String] { [directory.path, directory.path + "/none"] }

    private func find(_ choice: String? = nil) async throws -> String {
        let directories = directories
        return try await blocking { try ControlClient(choice, in: directories, timeout: .seconds(120)).path }
    }

    private func failure(_ body: () async throws -> String) async -> StartFailure? {
        do {
            _ = try await body()
            return nil
        } catch {
            return error as? StartFailure
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
            try await blocking {
                _ = try ControlClient("/no/such.sock", in: directories).ask(ControlRequest(.status))
                return ""
            }
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
            try await blocking {
                _ = try ControlClient(path, timeout: .milliseconds(100)).ask(ControlRequest(.status))
                return ""
            }
        }
        #expect(error?.message == "The Sluice at \(path) does not answer.")
    }

    @Test("passes on why a command was not carried out")
    func refused() async throws {
        let server = try await ControlServer.start(FakeTarget(), in: directories)
        let path = server.path
        let error = await failure {
            try await blocking {
                let client = try ControlClient(path, timeout: .seconds(120))
                _ = try client.ask(ControlRequest(.toolSet, tools: ["x"], isOn: true))
                return ""
            }
        }
        #expect(error?.message == "There is no tool 'x'." && error?.hint.contains("throttle") == true)
        await server.stop()
    }
}
