import ArgumentParser
import Clients
import Console

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "See Sluice at work on traffic of its own.",
        discussion: """
              sluice demo

            A server, a client and a proxy run inside this process, without any network, and their exchanges are recorded. On a \
            terminal the console shows them; elsewhere they are printed.
            """
    )

    @OptionGroup var linear: LinearOptions
    @Option(help: .value("file", "The session to record to. (default: a new one)"), completion: .newSession)
    var session: String?
    @Flag(help: "Print what passes and end, on a terminal too.") var plain = false

    func run() async throws {
        guard Screen.isThere || linear.linear, !plain else { return try await Demo.run(session: session) }
        let session = session
        try await Screen.run(.demo, linear) { try await LiveServices.startDemo(session: session, $0) }
    }
}
