import ArgumentParser
import Foundation
import HTTPModel
import Jobs
import NIOCore
import ProxyServer
import Recording
import Rules
import Runner
import Text

/// Session, log and rules of a run.
struct RecordingOptions: ParsableArguments {
    @Option(help: .newSession, completion: .newSession) var session: String?
    @OptionGroup var bounds: SessionBounds
    @Flag(help: "Record nothing.") var noSession = false
    @Option(help: .value("switch", "Whether to record from the start; 'sluice record' changes it."))
    var record: Switch = .on
    @Option(help: .rare("mode", "If the disk is too slow, traffic waits (lossless) or bodies are cut (lossy)."))
    var recorder: RecorderConfiguration.Mode = .lossless
    @Option(help: .profile, completion: .profile) var profile: [String] = []
    @OptionGroup var variables: VariableOptions
    @Flag(help: "Do not print a line for each exchange; with a command, print only problems.") var quiet = false
    @Flag(help: "Print a JSON object for each exchange, masked.") var json = false
    @Option(help: .value("file", "Write a line for each exchange; JSON if it ends in .jsonl."), completion: .file())
    var log: String?
    @OptionGroup var report: JUnitOptions
    @Flag(help: "With JSON and --junit: do not mask secrets.") var secrets = false
    @OptionGroup var store: StoreOptions

    private var hasJSON: Bool { json || log?.lowercased().hasSuffix(".jsonl") == true }

    func validate() throws {
        if quiet, json { throw ValidationError("--quiet and --json exclude each other.") }
        if quiet, log != nil { throw ValidationError("--quiet and --log exclude each other.") }
        if log == "-" {
            throw ValidationError("--log takes a file; without a command, the lines are on standard output.")
        }
        if let junit = report.junit, junit == log || junit == session {
            throw ValidationError("--junit needs a file of its own.")
        }
        if secrets, !hasJSON, report.junit == nil {
            throw ValidationError("--secrets needs --json, --log FILE.jsonl or --junit.")
        }
        if noSession, record == .off { throw ValidationError("--record and --no-session exclude each other.") }
        if noSession, session != nil { throw ValidationError("--session and --no-session exclude each other.") }
        if noSession, bounds.isGiven { throw ValidationError("--no-session has no file to rotate or limit.") }
        try bounds.check(session)
    }

    func set(_ settings: inout RunSettings, hasCommand: Bool) throws {
        settings.session = session
        settings.recordsNothing = noSession
        settings.isRecording = record == .on
        try bounds.apply(to: &settings)
        try store.set(&settings)
        settings.recorder = recorder
        settings.profiles = profile
        settings.keepsSecrets = secrets
        settings.becomesLast = true
        settings.log = log
        // Standard output belongs to the command.
        let hasLines = log != nil || !quiet && !hasCommand
        if hasCommand, json, !hasLines {
            throw ValidationError("--json with a command needs --log FILE, since the command uses standard output.")
        }
        settings.output = hasJSON ? .json : hasLines ? .lines : .quiet
    }
}

/// A proxy without a screen: until a signal comes, or until the command behind it has ended.
struct HeadlessRun {
    private let recording: RecordingOptions
    private let environment = ProcessInfo.processInfo.environment
    /// Further lines to print once the proxy listens.
    var opening = ""
    /// Further lines to print once the proxy has stopped, and whether the run succeeded.
    var ending: () -> (text: String, isFine: Bool) = { ("", true) }

    init(_ recording: RecordingOptions) { self.recording = recording }

    static func validate(_ command: [String]) throws {
        if command.isEmpty, CommandLine.arguments.last == "--" {
            throw ValidationError("There is no command after '--'.")
        }
    }

    func findCommand(_ command: [String]) throws -> ChildCommand? {
        guard !command.isEmpty else { return nil }
        do {
            return try ChildCommand(command, environment: environment)
        } catch {
            StandardStreams.error(ErrorLine.text("\(error)"))
            throw ExitCode(error.exitCode)
        }
    }

    /// Throws `ExitCode` if the command or the recording failed.
    func run(_ child: ChildCommand?, _ settings: RunSettings, _ files: StartFiles) async throws {
        // A command gets the signals, so their handlers are set only without one.
        if child == nil { StopSignals.prepare() }
        let running = try await start(settings, files, hasCommand: child != nil)
        guard let child else {
            await StopSignals.wait()
            StandardStreams.error("sluice: stopping; Ctrl-C again stops at once\n")
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
        try recording.report.check()
        let running = try await RunningProxy.start(settings, files: files)
        if !(hasCommand && recording.quiet) { announce(running) }
        return running
    }

    /// Runs the proxy until `body` ends, which returns the exit code.
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

    /// The exit code of the command, and its outcome if it could be started.
    private func run(_ child: ChildCommand, _ running: RunningProxy) async -> (Int32, ChildOutcome?) {
        // Connections that the system redirects to a transparent listener look direct, so bypasses cannot be found.
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

    /// Stops the proxy and prints the summary; returns whether everything was recorded and every assertion holds.
    private func finish(_ running: RunningProxy, _ outcome: ChildOutcome? = nil) async -> Bool {
        let summary = await running.stop()
        if outcome == nil || !recording.quiet || summary.hasProblem || running.hasLostSpans || running.hasUnsent {
            let more = [running.storeSummary, running.maskedSummary, running.spanSummary].compactMap(\.self)
            StandardStreams.error(RunSummary.text(summary) + more.joined())
        }
        if let outcome {
            for note in outcome.notes(isUnused: summary.isUnused) { StandardStreams.error("sluice: \(note)\n") }
        } else if let unused = RunSummary.unused(summary) {
            StandardStreams.error(unused)
        }
        let end = ending()
        StandardStreams.error(end.text)
        let holds = await checkAssertions(running)
        return holds && end.isFine && summary.error == nil && running.isLogWhole
    }

    private func checkAssertions(_ running: RunningProxy) async -> Bool {
        var (report, holds) = (JUnitReport(), true)
        do {
            for result in try await running.checkAssertions() {
                StandardStreams.error(result.text)
                report.add(result)
                holds = holds && result.passes
            }
        } catch {
            StandardStreams.error(ErrorLine.text("\(error)"))
            report.add("assertions", failure: ("The assertions could not be checked.", "\(error)\n"))
            holds = false
        }
        do {
            if let junit = recording.report.junit, report.count == 0 {
                StandardStreams.error("sluice: \(junit) has no tests, because the profile has no assertions\n")
            }
            try recording.report.write(report, suite: "Sluice assertions", isSecret: recording.secrets)
        } catch {
            StandardStreams.error(ErrorLine.text("\(error)"))
            holds = false
        }
        return holds
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
                    : "sluice: not recording until 'sluice record on', then to \(session)\n"
            } ?? "sluice: not recording (--no-session)\n"
        if let recovered = running.recovered {
            let ids = recovered.first.map(\.description).joined(separator: ", ")
            let more = recovered.count > recovered.first.count ? ", …" : ""
            text += "sluice: the session was not closed; in flight: \(recovered.count.of("exchange")) (\(ids)\(more))\n"
        }
        if let proxy = running.upstreamSummary { text += "sluice: upstream proxy: \(proxy)\n" }
        if let profile = running.profileSummary { text += "sluice: profile: \(profile)\n" }
        text += running.profileLints.map { "\($0)\n" }.joined()
        StandardStreams.error(text + opening)
    }
}

extension RecorderConfiguration.Mode: ExpressibleByArgument {}
