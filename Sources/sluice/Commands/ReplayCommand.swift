import ArgumentParser
import Foundation
import ProxyServer
import Runner

struct ReplayCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Answer from a recorded session, with no server and no network.",
        discussion: """
            A proxy as 'sluice run' is, also with a command behind it, whose answers come from the recording: status, fields \
            and body as they were received from the server, on which the tools of --profile then act. No connection to any \
            server is made, whatever the tools say; what stays undecrypted is refused. What passes is recorded into a \
            session of its own; the trace of each exchange names the one that answered.

            A request is answered by one of the same method, URL (whatever the order of query fields) and body: JSON by its \
            values, forms by their fields, else byte for byte. Headers are not compared, but 304, 412, 206 and 416 answer \
            only the same conditions and ranges. The same request again gets the next recorded answer; after the last, the \
            last one again, or with --once none. HEAD is answered from a recorded GET where there is no HEAD. 'replay:' in \
            the profile says what else is compared and what is not ('sluice profile help replay').

            Any other request gets 599, a text that names the nearest recorded request and what differs from it, and the \
            field X-Sluice-Replay: miss; the summary lists these. Exchanges that failed or are not there whole do not \
            answer, nor do WebSockets.

            Exit codes: that of the command; else 0, or 1 where the recording has no answer, the session could not be \
            written whole, an assertion of the profile failed, or, with --strict, there was a miss; 2 wrong usage.

            \(FilterHelp.text)
            """
    )

    enum ClientHTTP2: String, ExpressibleByArgument, CaseIterable { case on, off }

    @Argument(
        help: .value("session", "The session to answer from, 'last' for the newest one, or an archive (HAR, …)."),
        completion: .session
    )
    var recordingFile: String
    @Argument(help: .value("filter", "Which of its exchanges answer, as one argument."))
    var filter: String?

    @Flag(help: "Give each recorded answer once; a request that comes more often than it was recorded is a miss.")
    var once = false
    @Flag(help: "Move Date, Expires and the end of cookies by the time since the recording.") var refresh = false
    @Option(
        help: .value(
            "factor",
            "Wait as long as the server did: 1 is as recorded, 0.5 half of it. (default: no waiting)"
        )
    )
    var timing: Double?
    @Flag(help: "End with exit code 1 where a request had no recorded answer.") var strict = false

    @OptionGroup var listener: ListenerOptions
    @Option(help: "Whether HTTP/2 is spoken with clients.") var http2 = ClientHTTP2.on
    @OptionGroup var recording: RecordingOptions

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
