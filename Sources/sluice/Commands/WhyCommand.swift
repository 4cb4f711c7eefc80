import ArgumentParser
import Jobs
import Runner

struct Why: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "why",
        abstract: "Say what each rule did to an exchange, or why not.",
        discussion: """
              sluice why last 12
              sluice why last 12 --profile new.yaml

            The rules are those in force when the exchange began, which the session keeps, or those of --profile. Nothing is sent.
            """
    )

    @Argument(help: .session, completion: .session) var session: String
    @Argument(help: .number) var id: Int64

    @Option(help: .value("file", "Use the rules of this profile instead; repeatable."), completion: .profile)
    var profile: [String] = []
    @OptionGroup var variables: VariableOptions
    @Flag(help: "Show all rules, including those for other hosts.") var all = false

    func validate() throws {
        if id < 1 { throw ValidationError("Exchanges are counted from 1.") }
    }

    func run() throws {
        StandardStreams.out(try RecordedWhy.text(session: session, id: id, profiles: profile, isWhole: all))
    }
}
