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

            A proxy like 'sluice run' that answers from the recording and connects to no server. A request is answered if method, URL \
            and body are as recorded; others get 599 with the nearest recorded request. 'sluice guide replay' explains it; \
            --help-hidden has more options: timeouts, limits.

            \(FilterHelp.text)

            Exit codes: that of the command; without one 0, or 1 if the recording has no answers, recording failed, an assertion \
            of the profile failed, or (--strict) a request had no recorded answer; 2 wrong usage.
            """
    )

    @Argument(help: .session, completion: .session) var recordingFile: String
    @Argument(help: .value("filter", "Which of its exchanges answer; one argument.")) var filter: String?
    @Flag(help: "Give each recorded answer only once.") var once = false
    @Flag(help: "Move Date, Expires and ends of cookies by the time since the recording.") var refresh = false
    @Option(help: .value("factor", "Wait as long as the server did, times this. (default: do not wait)"))
    var timing: Double?
    @Flag(help: "Exit with status 1 if a request had no recorded answer.") var strict = false

    @OptionGroup(title: "Rules and recording") var recording: RecordingOptions
    @OptionGroup(title: "Listeners") var listener: ListenerOptions
    @Option(help: .rare(nil, "Whether HTTP/2 is spoken with clients.")) var http2 = Switch.on

    @Argument(parsing: .postTerminator, help: .command, completion: .command) var command: [String] = []

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
        // A replay has no server to which an undecrypted tunnel could lead.
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
            let hint = "Record to another session, or omit --session."
            throw StartError("\(session) is the replayed session.", hint: hint, isUsage: true)
        }
        settings.answers = replay
        headless.opening = replay.opening
        headless.ending = { [strict] in (replay.summary, !strict || replay.misses == 0) }
        try await headless.run(child, settings, files)
    }
}
