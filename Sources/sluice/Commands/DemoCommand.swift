import ArgumentParser
import Clients
import Console

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Show Sluice at work on traffic of its own.",
        discussion: """
              sluice demo

            A server, a client and a proxy run in this process, without network access. A terminal shows their exchanges in the \
            console; otherwise they are printed.
            """
    )

    @OptionGroup var linear: LinearOptions
    @Option(help: .newSession, completion: .newSession) var session: String?
    @Flag(help: "Print the exchanges and end, also on a terminal.") var plain = false

    func run() async throws {
        guard Screen.isThere || linear.linear, !plain else { return try await Demo.run(session: session) }
        let session = session
        try await Screen.run(.demo, linear) { try await LiveServices.startDemo(session: session, $0) }
    }
}
