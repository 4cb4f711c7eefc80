import ArgumentParser
import Runner

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "run",
        abstract: "Run the proxy without a screen, also for one command.",
        discussion: """
              sluice run
              sluice run --profile Profiles/slow-3g.yaml -- npm test
              sluice run --session build.sluice --log build.jsonl -- ./check.sh

            Ctrl-C stops it, lets exchanges finish and prints a summary. 'sluice guide headless' explains it; --help-hidden has \
            more options: timeouts, limits, TLS.

            Exit codes: that of the command, or 128 and the number of the signal that ended it; without a command 0, or 1 if \
            recording failed or an assertion of the profile failed; 2 wrong usage.
            """
    )

    @OptionGroup(title: "Rules and recording") var recording: RecordingOptions
    @OptionGroup var proxy: ProxyOptions
    @Argument(parsing: .postTerminator, help: .command, completion: .command) var command: [String] = []

    func validate() throws { try HeadlessRun.validate(command) }

    func run() async throws {
        let headless = HeadlessRun(recording)
        // The command is found before anything is started; a failure has the exit code that shells use.
        let child = try headless.findCommand(command)
        var settings = try proxy.settings(port: child == nil ? 8080 : 0, hasCommand: child != nil)
        try recording.set(&settings, hasCommand: child != nil)
        let files = try StartFiles(settings)
        try await headless.run(child, settings, files)
    }
}
