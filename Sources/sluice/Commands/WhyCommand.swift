import ArgumentParser
import Jobs
import Runner

struct Why: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Say what each rule did to an exchange, or why not.",
        discussion: """
              sluice why last 12
              sluice why last 12 --profile new.yaml

            The rules are those that were in force when the exchange began; the session keeps them. With --profile another \
            profile is asked about the recorded request and response; nothing is sent.
            """
    )

    @Argument(help: .session, completion: .session)
    var session: String
    @Argument(help: .number) var id: Int64

    @Option(
        help: .value("file", "A profile to ask in place of the rules of the time. Repeatable."),
        completion: .profile
    )
    var profile: [String] = []

    @Flag(help: "Tell every rule, those for other hosts too, however many they are.") var all = false

    func validate() throws {
        if id < 1 { throw ValidationError("Exchanges are counted from 1.") }
    }

    func run() throws {
        StandardStreams.out(try RecordedWhy.text(session: session, id: id, profiles: profile, isWhole: all))
    }
}
