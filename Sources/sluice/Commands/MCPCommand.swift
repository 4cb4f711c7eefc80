import Agents
import ArgumentParser
import Files
import Foundation
import Jobs
import Runner

struct MCP: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "mcp",
        abstract: "Let an agent read a session, by the MCP.",
        discussion: """
              claude mcp add sluice -- sluice mcp last
              codex mcp add sluice -- sluice mcp last
              sluice mcp --attach --allow rules,send=localhost

            For Cursor (.cursor/mcp.json) and Claude Desktop (claude_desktop_config.json):
              {"mcpServers": {"sluice": {"command": "sluice", "args": ["mcp", "last"]}}}
            For VS Code (.vscode/mcp.json):
              {"servers": {"sluice": {"type": "stdio", "command": "sluice", "args": ["mcp", "last"]}}}

            A server of the Model Context Protocol on standard input and output. Secrets are always masked. Without --allow an \
            agent only reads. 'sluice guide agents' explains the tools and what each --allow permits.
            """
    )

    @Argument(help: .session, completion: .session) var session: String?
    @Flag(help: "Read the session of the running Sluice, as it grows.") var attach = false
    @Option(help: .value("pid|path", "With --attach: the running Sluice, if there are several."), completion: .running)
    var control: String?
    @Option(help: .value("what", "With --attach: rules, holds and send=HOST, with commas; repeatable."))
    var allow: [String] = []
    @Option(help: .value("folder", "Let the agent write exports there, under new names."), completion: .directory)
    var files: String?

    func validate() throws {
        if attach, session != nil {
            throw ValidationError("--attach reads the running Sluice's session; leave \(session ?? "") out.")
        }
        if control != nil, !attach { throw ValidationError("--control needs --attach.") }
        if !allow.isEmpty, !attach {
            throw ValidationError("--allow needs --attach: nothing is changed in a session that is over.")
        }
        _ = try allowance()
    }

    private func allowance() throws -> AgentAllowance {
        var allowed = AgentAllowance()
        for word in allow.flatMap({ $0.split(separator: ",") }) where !allowed.add(String(word)) {
            throw ValidationError("--allow takes rules, holds and send=HOST, not '\(word)'.")
        }
        return allowed
    }

    func run() async throws {
        let target: (any ControlTarget)? = try attach ? ControlClient(control) : nil
        let path: String
        if let target {
            guard let running = try await target.status().session else {
                throw StartError("The running Sluice records nothing.", hint: "It was started with --no-session.")
            }
            path = running
        } else {
            path = session ?? "last"
        }
        if let files, !(FileFacts(path: files)?.isDirectory ?? false) {
            throw StartError("\(files) is not a folder.", hint: "Make it first: mkdir \(files)")
        }
        let tools = AgentTools(try AgentSession(path), target: target, allowed: try allowance(), files: files)
        if isatty(STDIN_FILENO) == 1 {
            StandardStreams.error("sluice: agents start this command; 'sluice mcp --help' says how. Ctrl-D ends it.\n")
        }
        let output = FileHandle.standardOutput
        let server = AgentServer(tools.all, instructions: AgentTools.instructions) { line in
            // If the client is gone, its end of input follows.
            try? output.write(contentsOf: Data((line + "\n").utf8))
        }
        await server.serve(LineInput.lines(of: STDIN_FILENO, longest: AgentServer.longestLine))
    }
}
