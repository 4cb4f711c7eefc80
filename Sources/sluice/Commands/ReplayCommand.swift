import ArgumentParser
import Clients
import Foundation
import Jobs
import ProxyServer
import Runner

struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Answer from a recorded session, without servers.",
        discussion: """
              sluice replay last -- npm test
              sluice replay good.sluice 'host:api.example.com' --strict --once -- npm test
              sluice replay bug.har --profile rules.yaml

            A proxy like 'sluice run' whose answers come from the recording; no connection to a server is made. A request is \
            answered if method, URL and body are the same as recorded; any other gets 599, with the nearest recorded request. \
            'sluice guide replay' explains more; --help-hidden has further options: timeouts, limits.

            \(FilterHelp.text)

            Exit codes: that of the command; else 0, or 1 where the recording has no answer, the session could not be \
            written whole, an assertion of the profile failed, or, with --strict, there was a miss; 2 wrong usage.
            """
    )

    enum ClientHTTP2: String, ExpressibleByArgument, CaseIterable { case on, off }

    @Argument(
        help: .session,
        completion: .session
    )
    var recordingFile: String
    @Argument(help: .value("filter", "Which of its exchanges answer; one argument."))
    var filter: String?

    @Flag(help: "Give each recorded answer once; further requests for it are misses.")
    var once = false
    @Flag(help: "Move Date, Expires and the end of cookies by the time since the recording.") var refresh = false
    @Option(
        help: .value(
            "factor",
            "Wait as long as the server did, times this. (default: no waiting)"
        )
    )
    var timing: Double?
    @Flag(help: "End with exit code 1 where a request had no recorded answer.") var strict = false

    @OptionGroup(title: "Rules and recording") var recording: RecordingOptions
    @OptionGroup(title: "Where it listens") var listener: ListenerOptions
    @Option(help: .rare(nil, "Whether HTTP/2 is spoken with clients.")) var http2 = ClientHTTP2.on

    @Argument(
        parsing: .postTerminator,
        help: .value(
            "command",
            "After '--': a command to run behind the proxy, with its arguments. Sluice ends with it, with its exit code."
        ),
        completion: .command
    )
    var command: [String] = []

    func validate() throws {
        try HeadlessRun.validate(command)
        if let timing, !(0.001...1_000).contains(timing) {
            throw ValidationError("--timing takes a factor from 0.001 to 1000.")
        }
    }

    func run() async throws {
        var headless = HeadlessRun(recording)
        let child = try headless.findCommand(command)
        var settings = try listener.settings(port: child == nil ? 8080 : 0, hasCommand: child != nil)
        try recording.set(&settings, hasCommand: child != nil)
        settings.http2 = http2 == .on ? .client : []
        // A tunnel that is passed through would lead nowhere.
        settings.tunnelsRefusingHosts = false
        let files = try StartFiles(settings)
        var options = Replay.Options()
        options.rules = files.replay
        options.givesOnce = once
        options.refreshesDates = refresh
        options.timing = timing
        let replay = try Replay(recordingFile, filter: filter ?? "", options: options)
        if let problem = replay.problem { throw problem }
        if let session = settings.session, replay.isRecording(session) {
            throw StartError(
                "\(session) is what is replayed.",
                hint: "Record into another session with --session, or leave it out.",
                isUsage: true
            )
        }
        settings.answers = replay
        headless.opening = replay.opening
        headless.ending = { [strict] in (replay.summary, !strict || replay.misses == 0) }
        try await headless.run(child, settings, files)
    }
}
