import ArgumentParser
import Console
import Runner

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "See Sluice at work on traffic of its own, without any network.",
        discussion: """
            An origin and a client are started inside this process; exchanges of every kind go through a real proxy and \
            are recorded. On a terminal the console shows them as they come; elsewhere they are printed.
            """
    )

    @OptionGroup var linear: LinearOptions
    @Option(help: "The session file to record to. (default: a new one)", completion: .newSession) var session: String?
    @Flag(help: "Print what passes and end, on a terminal too.") var plain = false

    func run() async throws {
        guard Screen.isThere || linear.linear, !plain else { return try await Demo.run(session: session) }
        let session = session
        try await Screen.run(.demo, linear) { try await LiveServices.startDemo(session: session, $0) }
    }
}
