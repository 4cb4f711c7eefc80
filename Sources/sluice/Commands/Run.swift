import ArgumentParser
import Runner

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the proxy without a screen, also for one command.",
        discussion: """
              sluice run
              sluice run --profile Profiles/slow-3g.yaml -- npm test
              sluice run --session build.sluice --log build.jsonl -- ./check.sh

            Ctrl-C stops it: exchanges get a moment to finish, everything is written, and a summary is printed. 'sluice guide \
            headless' explains more; --help-hidden has further options: timeouts, limits, TLS.

            Exit codes: that of the command, with 128 and a signal's number where that ended it; else 0, or 1 where the \
            session could not be written whole or an assertion of the profile failed; 2 wrong usage.
            """
    )

    @OptionGroup(title: "Rules and recording") var recording: RecordingOptions

    @OptionGroup var proxy: ProxyOptions

    @Argument(
        parsing: .postTerminator,
        help: .value(
            "command",
            "After '--': a command to run behind the proxy, with its arguments. Sluice ends with it, with its exit code."
        ),
        completion: .command
    )
    var command: [String] = []

    func validate() throws { try HeadlessRun.validate(command) }

    func run() async throws {
        let headless = HeadlessRun(recording)
        // Found before anything is started; a failure has the exit code that shells use.
        let child = try headless.findCommand(command)
        var settings = try proxy.settings(port: child == nil ? 8080 : 0, hasCommand: child != nil)
        try recording.set(&settings, hasCommand: child != nil)
        let files = try StartFiles(settings)
        try await headless.run(child, settings, files)
    }
}
