import Foundation
import Support
import Testing

@testable import Runner

@Suite struct ChildCommandTests {
    @Test("A name is looked for in PATH, in its order, past what cannot be executed")
    func search() throws {
        let directory = try Scratch()
        defer { directory.remove() }
        for name in ["a", "b", "c"] { try directory.makeDirectory(name) }
        try directory.write("a/tool", "", mode: 0o644)
        try directory.makeDirectory("b/tool")
        let tool = try directory.write("c/tool", "#!/bin/sh\n", mode: 0o755)
        let path = ["a", "nowhere", "b", "c"].map { "\(directory.path)/\($0)" }.joined(separator: ":")
        let command = try ChildCommand(["tool", "-x", "y z"], environment: ["PATH": path])
        #expect(command.executable == tool)
        #expect(command.words == ["tool", "-x", "y z"])
    }

    @Test("Without PATH the usual directories are searched")
    func noPath() throws {
        #expect(try ChildCommand(["sh"], environment: [:]).executable.hasSuffix("/bin/sh"))
    }

    @Test("A path is taken as it is")
    func path() throws {
        #expect(try ChildCommand(["/bin/sh"], environment: ["PATH": ""]).executable == "/bin/sh")
    }

    @Test("What is not there has the exit code 127")
    func notFound() throws {
        let name = #expect(throws: ChildError.self) { try ChildCommand(["npx-"], environment: ["PATH": "/bin"]) }
        #expect(name?.exitCode == 127)
        #expect(name?.description == "npx-: command not found.\nCheck its name, or use its path.")
        let quoted = #expect(throws: ChildError.self) { try ChildCommand(["curl -s x/y"], environment: [:]) }
        #expect(quoted?.hint.hasPrefix("Quotes make it one name") == true)
        let path = #expect(throws: ChildError.self) { try ChildCommand(["/nowhere/x"], environment: [:]) }
        #expect(path?.exitCode == 127)
        #expect(path?.message == "/nowhere/x: no such file.")
        for words in [[], [""]] {
            #expect(throws: ChildError.self) { try ChildCommand(words, environment: [:]) }
        }
    }

    @Test("What is there but cannot be executed has the exit code 126, and the reason")
    func notExecutable() throws {
        let directory = try Scratch()
        defer { directory.remove() }
        let file = try directory.write("tool", "", mode: 0o644)
        let failures = [
            #expect(throws: ChildError.self) { try ChildCommand([file], environment: [:]) },
            #expect(throws: ChildError.self) { try ChildCommand(["tool"], environment: ["PATH": directory.path]) },
        ]
        for failure in failures {
            #expect(failure?.exitCode == 126)
            #expect(failure?.message == "\(file) cannot be executed: Permission denied.")
        }
        let folder = #expect(throws: ChildError.self) { try ChildCommand([directory.path + "/"], environment: [:]) }
        #expect(folder?.exitCode == 126)
        #expect(folder?.message.hasSuffix("it is a directory.") == true)
    }
}
