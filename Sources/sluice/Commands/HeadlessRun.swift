import ArgumentParser
import Foundation
import HTTPModel
import Jobs
import NIOCore
import ProxyServer
import Recording
import Runner

/// What is recorded of a run, what is printed of it, and the rules in force.
struct RecordingOptions: ParsableArguments {
    @Option(
        help: .value("file", "The session to record to; one that exists is continued. (default: a new one)"),
        completion: .newSession
    )
    var session: String?

    @OptionGroup var bounds: SessionBounds

    @Flag(help: "Record nothing.") var noSession = false

    @Option(help: .value("switch", "Whether to record from the start; 'sluice record' switches it later."))
    var record: RecordingSwitch = .on

    @Option(help: .rare("mode", "If the disk is too slow, traffic waits ('lossless') or bodies are cut ('lossy')."))
    var recorder: RecorderConfiguration.Mode = .lossless

    @Option(
        help: .value("file", "A rule profile (YAML); repeatable, their rules follow each other."),
        completion: .profile
    )
    var profile: [String] = []

    @Flag(help: "Print no line for each exchange; with a command, problems only.") var quiet = false
    @Flag(help: "Print a JSON object for each exchange, masked; with a command needs --log.")
    var json = false
    @Option(
        help: .value(
            "file",
            "Write a line for each exchange to a file; JSON with --json or a name that ends in .jsonl."
        ),
        completion: .file()
    )
    var log: String?
    @Flag(help: "With JSON: do not mask secrets.") var secrets = false

    /// Whether each exchange is a JSON object.
    private var hasJSON: Bool { json || log?.lowercased().hasSuffix(".jsonl") == true }

    func validate() throws {
        if quiet, json { throw ValidationError("--quiet and --json exclude each other.") }
        if quiet, log != nil { throw ValidationError("--quiet and --log exclude each other.") }
        if log == "-" {
            throw ValidationError("--log takes a file; without a command, the lines are on standard output.")
        }
        if secrets, !hasJSON { throw ValidationError("--secrets goes with --json or --log FILE.jsonl.") }
        if noSession, record == .off { throw ValidationError("--record and --no-session exclude each other.") }
        if noSession, session != nil { throw ValidationError("--session and --no-session exclude each other.") }
        if noSession, bounds.isGiven {
            throw ValidationError("--no-session leaves nothing to rotate or to keep small.")
        }
        try bounds.check(session)
    }

    func set(_ settings: inout RunSettings, hasCommand: Bool) throws {
        settings.session = session
        settings.recordsNothing = noSession
        settings.isRecording = record == .on
        try bounds.apply(to: &settings)
        settings.recorder = recorder
        settings.profiles = profile
        settings.keepsSecrets = secrets
        settings.becomesLast = true
        settings.log = log
        // The command has the standard output to itself.
        let hasLines = log != nil || !quiet && !hasCommand
        if hasCommand, json, !hasLines {
            throw ValidationError("--json with a command needs --log FILE: standard output is the command's.")
        }
        settings.output = hasJSON ? .json : hasLines ? .lines : .quiet
    }
}

/// A proxy without a screen: until a signal comes, or until the command behind it has ended.
struct HeadlessRun {
    private let recording: RecordingOptions
    private let environment = ProcessInfo.processInfo.environment
    /// Further lines once it listens.
    var opening = ""
    /// Further lines once it has stopped, and whether all is well.
    var ending: () -> (text: String, isFine: Bool) = { ("", true) }

    init(_ recording: RecordingOptions) { self.recording = recording }

    static func validate(_ command: [String]) throws {
        if command.isEmpty, CommandLine.arguments.last == "--" {
            throw ValidationError("There is no command after '--'.")
        }
    }

    /// Finds the command; `nil` where there is none.
    func findCommand(_ command: [String]) throws -> ChildCommand? {
        guard !command.isEmpty else { return nil }
        do {
            return try ChildCommand(command, environment: environment)
        } catch {
            StandardStreams.error(ErrorLine.text("\(error)"))
            throw ExitCode(error.exitCode)
        }
    }

    /// Runs the proxy to its end. Throws `ExitCode` where the command failed, or not all was well.
    func run(_ child: ChildCommand?, _ settings: RunSettings, _ files: StartFiles) async throws {
        // A command gets the signals, so they must be as they were when it is started.
        if child == nil { StopSignals.prepare() }
        let running = try await start(settings, files, hasCommand: child != nil)
        guard let child else {
            await StopSignals.wait()
            StandardStreams.error("sluice: stopping; once more ends it at once\n")
            if !(await finish(running)) { throw ExitCode(1) }
            return
        }
        let (code, outcome) = await run(child, running)
        try await end(running, with: code, outcome)
    }

    private func start(
        _ settings: RunSettings,
        _ files: StartFiles,
        hasCommand: Bool = false
    ) async throws -> RunningProxy {
        try files.checkAssertions(settings)
        let running = try await RunningProxy.start(settings, files: files)
        if !(hasCommand && recording.quiet) { announce(running) }
        return running
    }

    /// Runs the proxy until `body` ends, whose result is the exit code.
    func run(
        _ settings: RunSettings,
        _ files: StartFiles,
        until body: (RunningProxy) async throws -> Int32
    ) async throws {
        let running = try await start(settings, files)
        var code: Int32 = 1
        do {
            code = try await body(running)
        } catch {
            StandardStreams.error(ErrorLine.text("\(error)"))
        }
        try await end(running, with: code)
    }

    private func end(_ running: RunningProxy, with code: Int32, _ outcome: ChildOutcome? = nil) async throws {
        StopSignals.prepare()
        let isFine = await finish(running, outcome)
        if code != 0 { throw ExitCode(code) }
        if !isFine { throw ExitCode(1) }
    }

    /// Runs the command to its end; returns the exit code, and its outcome if it could be started.
    private func run(_ child: ChildCommand, _ running: RunningProxy) async -> (Int32, ChildOutcome?) {
        // The system redirects connections to a transparent listener, which look as if they led elsewhere.
        let isTransparent = running.listening.contains { $0.mode == .transparent }
        do {
            let outcome = try await ChildRun.run(
                child,
                proxy: running.address,
                listeners: isTransparent ? nil : running.listening.map(\.address),
                authority: running.authority,
                credentials: running.ownCredentials,
                inherited: environment,
                note: { StandardStreams.error("sluice: \($0)\n") }
            )
            return (outcome.exitCode, outcome)
        } catch {
            StandardStreams.error(ErrorLine.text("\(error)"))
            return ((error as? ChildError)?.exitCode ?? 1, nil)
        }
    }

    /// Stops the proxy, prints the summary, and checks the profile's assertions; returns whether everything was
    /// recorded and every assertion holds.
    private func finish(_ running: RunningProxy, _ outcome: ChildOutcome? = nil) async -> Bool {
        let summary = await running.stop()
        if outcome == nil || !recording.quiet || summary.hasProblem {
            StandardStreams.error(RunSummary.text(summary) + (running.maskedSummary ?? ""))
        }
        if let outcome {
            for note in outcome.notes(isUnused: summary.isUnused) { StandardStreams.error("sluice: \(note)\n") }
        } else if let unused = RunSummary.unused(summary) {
            StandardStreams.error(unused)
        }
        let end = ending()
        StandardStreams.error(end.text)
        do {
            let results = try await running.checkAssertions()
            for result in results { StandardStreams.error(result.text) }
            return end.isFine && summary.error == nil && running.isLogWhole && results.allSatisfy(\.passes)
        } catch {
            StandardStreams.error(ErrorLine.text("\(error)"))
            return false
        }
    }

    private func announce(_ running: RunningProxy) {
        var text = running.listening.map { listener in
            let mode = listener.mode == .regular ? "" : " as \(listener.mode)"
            return "sluice: listening on \(listener.address.place)\(mode)\n"
        }.joined()
        text +=
            running.session.map { session in
                recording.record == .on
                    ? "sluice: recording to \(session)\n"
                    : "sluice: not recording before 'sluice record on', then to \(session)\n"
            } ?? "sluice: not recording, as --no-session says\n"
        if let recovered = running.recovered {
            let ids = recovered.first.map(\.description).joined(separator: ", ")
            text +=
                "sluice: the session was not closed; \(recovered.count) \(recovered.count == 1 ? "exchange was" : "exchanges were") in flight (\(ids)"
            text += recovered.count > recovered.first.count ? ", …)\n" : ")\n"
        }
        if let proxy = running.upstreamSummary { text += "sluice: upstream proxy: \(proxy)\n" }
        if let profile = running.profileSummary { text += "sluice: profile: \(profile)\n" }
        text += running.profileLints.map { "\($0)\n" }.joined()
        StandardStreams.error(text + opening)
    }
}

extension RecorderConfiguration.Mode: ExpressibleByArgument {}
