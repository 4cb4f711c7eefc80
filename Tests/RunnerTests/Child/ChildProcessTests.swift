import Foundation
import Support
import Testing

@testable import Runner

/// What runs real processes and sends real signals: one test at a time, since signals reach all that runs.
@Suite(.serialized) enum RealProcessTests {}

extension RealProcessTests {
    @Suite struct ChildProcessTests {
        private let environment = ["PATH": "/usr/local/bin:/usr/bin:/bin", "GREETING": "hello = you"]

        private func run(_ words: String...) async throws -> Int32 {
            let command = try ChildCommand(words, environment: environment)
            return try await ChildProcess.start(command, environment: environment).exitCode()
        }

        @Test("The command's own exit code is given", arguments: [0, 1, 7, 126, 255] as [Int32])
        func exitCode(code: Int32) async throws {
            #expect(try await run("sh", "-c", "exit \(code)") == code)
        }

        @Test("A signal that ended the command counts from 128", arguments: [(SIGTERM, "TERM"), (SIGKILL, "KILL")])
        func endedBySignal(number: Int32, name: String) async throws {
            #expect(try await run("sh", "-c", "kill -\(name) $$") == 128 + number)
        }

        @Test("Arguments and variables arrive as they are")
        func argumentsAndVariables() async throws {
            let scratch = try Scratch()
            defer { scratch.remove() }
            let script = "printf '%s|' \"$@\" \"$GREETING\" \"${HOME-none}\" > '\(scratch.path)/out'"
            #expect(try await run("sh", "-c", script, "sh", "a b", "", "$x", "ü") == 0)
            #expect(scratch.text("out") == "a b||$x|ü|hello = you|none|")
        }

        @Test("The command stays in our process group, so that it may use the terminal")
        func processGroup() async throws {
            let scratch = try Scratch()
            defer { scratch.remove() }
            let script = "import os,sys; open(sys.argv[1],'w').write(str(os.getpgrp()))"
            #expect(try await run("python3", "-c", script, "\(scratch.path)/out") == 0)
            #expect(scratch.text("out") == "\(getpgrp())")
        }

        @Test("A command gets SIGPIPE as usual, although we ignore it")
        func brokenPipe() async throws {
            signal(SIGPIPE, SIG_IGN)
            #expect(try await run("sh", "-c", "kill -PIPE $$") == 128 + SIGPIPE)
        }

        @Test("A script without #! is run by the shell")
        func plainScript() async throws {
            let scratch = try Scratch()
            defer { scratch.remove() }
            let script = try scratch.write("script", "exit $((40 + $1))\n", mode: 0o755)
            #expect(try await run(script, "2") == 42)
        }

        @Test("A script whose interpreter is not there cannot be executed, and the reason is said")
        func missingInterpreter() async throws {
            let scratch = try Scratch()
            defer { scratch.remove() }
            let script = try scratch.write("script", "#!/nowhere/sh\n", mode: 0o755)
            let failure = await #expect(throws: ChildError.self) { try await run(script) }
            #expect(failure?.exitCode == 126)
            #expect(failure?.description.contains("interpreter") == true)
        }

        @Test("A process that the command leaves behind, with our output open, holds nothing up")
        func daemon() async throws {
            let scratch = try Scratch()
            defer { scratch.remove() }
            let pipe = "\(scratch.path)/pipe"
            #expect(mkfifo(pipe, 0o600) == 0)
            // It waits for somebody to write into the pipe, which we do when the command is over.
            #expect(try await run("sh", "-c", "cat '\(pipe)' > '\(scratch.path)/out' & exit 5") == 5)
            let writing = try FileHandle(forWritingTo: URL(fileURLWithPath: pipe))
            try writing.write(contentsOf: Data("still here".utf8))
            try writing.close()
        }

        @Test("No zombie stays, and a signal that comes too late goes nowhere")
        func afterwards() async throws {
            let command = try ChildCommand(["true"], environment: environment)
            let child = try ChildProcess.start(command, environment: environment)
            #expect(await child.exitCode() == 0)
            child.send(SIGKILL)
            var status: Int32 = 0
            #expect(waitpid(child.pid, &status, WNOHANG) == -1)
            #expect(errno == ECHILD)
        }
    }
}
