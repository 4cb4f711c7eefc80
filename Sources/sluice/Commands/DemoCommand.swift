import ArgumentParser
import Runner

struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "See Sluice at work on traffic of its own, without any network.",
        discussion: """
            An origin for HTTP and HTTPS and a client are started inside this process; a handful of telling exchanges \
            go through a real proxy and are recorded.
            """
    )

    @Option(help: "The session file to record to. (default: a new one)")
    var session: String?

    func run() async throws {
        try await Demo.run(session: session)
    }
}
