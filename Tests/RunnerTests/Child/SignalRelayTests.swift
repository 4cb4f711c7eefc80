import Foundation
import Support
import Testing

@testable import Runner

extension RealProcessTests {
    @Suite struct SignalRelayTests {
        private let environment = ["PATH": "/usr/local/bin:/usr/bin:/bin"]

        /// Starts a shell that says when it is ready for signals, and waits for that.
        private func start(_ traps: String, in scratch: Scratch) async throws -> ChildProcess {
            let pipe = "\(scratch.path)/ready-\(UUID().uuidString)"
            #expect(mkfifo(pipe, 0o600) == 0)
            let script = "\(traps); echo > '\(pipe)'; while :; do read line < '\(scratch.path)/never'; done"
            let command = try ChildCommand(["sh", "-c", script], environment: environment)
            let child = try SignalRelay.add { () throws(ChildError) in
                try ChildProcess.start(command, environment: environment)
            }
            let line = await onOwnThread { firstByte(of: pipe) }
            #expect(line == UInt8(ascii: "\n"))
            return child
        }

        private func scratch() throws -> Scratch {
            let scratch = try Scratch()
            #expect(mkfifo("\(scratch.path)/never", 0o600) == 0)
            return scratch
        }

        @Test(
            "A signal that a process sends us is the command's to answer",
            arguments: [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
        )
        func passedOn(number: Int32) async throws {
            // Tests in the background may have it ignored, and a shell cannot trap what was ignored when it began.
            let before = signal(number, SIG_DFL)
            defer { signal(number, before) }
            let scratch = try scratch()
            defer { scratch.remove() }
            let child = try await start("trap 'exit \(40 + number)' \(number)", in: scratch)
            kill(getpid(), number)
            #expect(await child.exitCode() == 40 + number)
            SignalRelay.remove(child)
        }

        @Test("A command that does not catch the signal dies of it, and we do not")
        func deadly() async throws {
            let scratch = try scratch()
            defer { scratch.remove() }
            let child = try await start(":", in: scratch)
            kill(getpid(), SIGTERM)
            #expect(await child.exitCode() == 128 + SIGTERM)
            SignalRelay.remove(child)
        }

        @Test("What was done on the signals before is done again after the last command")
        func restored() async throws {
            let before = dispositions()
            let scratch = try scratch()
            defer { scratch.remove() }
            let first = try await start(":", in: scratch)
            let second = try await start(":", in: scratch)
            #expect(dispositions() != before)
            kill(getpid(), SIGTERM)
            #expect(await first.exitCode() == 128 + SIGTERM)
            #expect(await second.exitCode() == 128 + SIGTERM)
            SignalRelay.remove(first)
            #expect(dispositions() != before)
            SignalRelay.remove(second)
            #expect(dispositions() == before)
        }

        @Test("A command that cannot be started leaves the signals as they were")
        func failedStart() throws {
            let before = dispositions()
            #expect(throws: ChildError.self) {
                try SignalRelay.add { () throws(ChildError) in throw ChildError("no", exitCode: 126) }
            }
            #expect(dispositions() == before)
        }

        @Test("What we were started to ignore, the command ignores, too")
        func ignored() async throws {
            let scratch = try scratch()
            defer { scratch.remove() }
            signal(SIGHUP, SIG_IGN)
            defer { signal(SIGHUP, SIG_DFL) }
            // A shell cannot trap what was ignored when it was started.
            let child = try await start("trap 'exit 1' HUP; trap 'exit 2' TERM", in: scratch)
            kill(getpid(), SIGHUP)
            child.send(SIGHUP)
            kill(getpid(), SIGTERM)
            #expect(await child.exitCode() == 2)
            SignalRelay.remove(child)
        }

        /// Which function is called on each of the signals, as a number.
        private func dispositions() -> [Int] {
            [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGCHLD].map { number in
                var action = sigaction()
                sigaction(number, nil, &action)
                // The handler is the first thing in the structure on every system.
                return withUnsafeBytes(of: &action) { $0.loadUnaligned(as: Int.self) }
            }
        }
    }
}

/// Runs something that blocks on a thread of its own.
func onOwnThread<Value: Sendable>(_ work: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: work()) }
    }
}

/// Opens a pipe with a name, which waits for somebody to write, and reads what comes first.
private func firstByte(of pipe: String) -> UInt8? {
    let descriptor = open(pipe, O_RDONLY | O_CLOEXEC)
    defer { close(descriptor) }
    var byte: UInt8 = 0
    return read(descriptor, &byte, 1) == 1 ? byte : nil
}
