import ArgumentParser
import Foundation
import HTTPModel
import NIOCore
import ProxyServer
package import Recording
import Runner

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run the proxy without a screen, recording what passes.",
        discussion: """
            Stops at SIGINT (Ctrl-C), SIGTERM, or when its terminal is closed: exchanges get a moment to finish, everything is written, and a summary \
            says what there was. The exit code is 1 where the session could not be written whole.
            """
    )

    @OptionGroup var proxy: ProxyOptions

    @Option(help: "The session file to record to; one that exists is continued. (default: a new one)")
    var session: String?

    @Flag(help: "Record nothing.") var noSession = false

    @Option(help: "Whether exchanges are recorded from the start: 'on' or 'off'; 'sluice record' switches it later.")
    var record: RecordingSwitch = .on

    @Option(
        help: "What gives way when the disk is too slow: 'lossless' lets the traffic wait, 'lossy' cuts bodies short."
    )
    var recorder: RecorderConfiguration.Mode = .lossless

    @Option(help: "A rule profile (YAML). Repeatable: the rules of several stand one after the other.")
    var profile: [String] = []

    @Argument(
        parsing: .postTerminator,
        help: .value(
            "command",
            "After '--': a command to run behind the proxy, with its arguments. Sluice ends with it, with its exit code."
        )
    )
    var command: [String] = []

    @Flag(help: "Print no line for each exchange.") var quiet = false
    @Flag(help: "Print one JSON object for each exchange, with its secrets masked.") var json = false
    @Flag(help: "With --json: keep secrets as they were.") var secrets = false

    func validate() throws {
        if command.isEmpty, CommandLine.arguments.last == "--" {
            throw ValidationError("There is no command after '--'.")
        }
        if quiet, json { throw ValidationError("--quiet and --json exclude each other.") }
        if secrets, !json { throw ValidationError("--secrets goes with --json.") }
        if noSession, record == .off { throw ValidationError("--record and --no-session exclude each other.") }
        if noSession, session != nil { throw ValidationError("--session and --no-session exclude each other.") }
    }

    func run() async throws {
        let environment = ProcessInfo.processInfo.environment
        // Found before anything is started; a failure has the exit code that shells use.
        let child = try command.isEmpty ? nil : findCommand(environment)
        var settings = try proxy.settings(port: child == nil ? 8080 : 0)
        settings.session = session
        settings.recordsNothing = noSession
        settings.isRecording = record == .on
        settings.recorder = recorder
        settings.profiles = profile
        // The command has the standard output to itself.
        settings.keepsSecrets = secrets
        settings.output = json ? .json : quiet || child != nil ? .quiet : .lines
        // A command gets the signals, so they must be as they were when it is started.
        let files = try StartFiles(settings)
        if child == nil { StopSignals.prepare() }
        let running = try await RunningProxy.start(settings, files: files)
        announce(running)
        guard let child else {
            await StopSignals.wait()
            StandardStreams.error("sluice: stopping; once more ends it at once\n")
            if !(await finish(running)) { throw ExitCode(1) }
            return
        }
        let code = await run(child, environment, running)
        StopSignals.prepare()
        let isFine = await finish(running)
        if code != 0 { throw ExitCode(code) }
        if !isFine { throw ExitCode(1) }
    }

    private func findCommand(_ environment: [String: String]) throws -> ChildCommand {
        do {
            return try ChildCommand(command, environment: environment)
        } catch {
            StandardStreams.error("sluice: \(error)\n")
            throw ExitCode(error.exitCode)
        }
    }

    /// Runs the command to its end; returns its exit code.
    private func run(_ child: ChildCommand, _ environment: [String: String], _ running: RunningProxy) async -> Int32 {
        do {
            let outcome = try await ChildRun.run(
                child,
                proxy: running.address,
                authority: running.authority,
                inherited: environment,
                note: { StandardStreams.error("sluice: \($0)\n") }
            )
            for note in outcome.notes { StandardStreams.error("sluice: \(note)\n") }
            return outcome.exitCode
        } catch {
            StandardStreams.error("sluice: \(error)\n")
            return (error as? ChildError)?.exitCode ?? 1
        }
    }

    /// Stops the proxy, prints the summary, and checks the profile's assertions; returns whether everything was
    /// recorded and every assertion holds.
    private func finish(_ running: RunningProxy) async -> Bool {
        let summary = await running.stop()
        StandardStreams.error(RunSummary.text(summary))
        do {
            let results = try await running.checkAssertions()
            for result in results { StandardStreams.error(result.text) }
            return summary.error == nil && results.allSatisfy(\.passes)
        } catch {
            StandardStreams.error("sluice: \(error)\n")
            return false
        }
    }

    private func announce(_ running: RunningProxy) {
        let host = running.address.ipAddress ?? ""
        let address = "\(host.contains(":") ? "[\(host)]" : host):\(running.address.port ?? 0)"
        var text = "sluice: listening on \(address)\n"
        text +=
            running.session.map { session in
                record == .on
                    ? "sluice: recording to \(session)\n"
                    : "sluice: not recording before 'sluice record on', then to \(session)\n"
            } ?? "sluice: not recording, as --no-session says\n"
        if let recovered = running.recovered {
            let ids = recovered.first.map(\.description).joined(separator: ", ")
            text +=
                "sluice: the session was not closed; \(recovered.count) \(recovered.count == 1 ? "exchange was" : "exchanges were") in flight (\(ids)"
            text += recovered.count > recovered.first.count ? ", …)\n" : ")\n"
        }
        if let profile = running.profileSummary { text += "sluice: profile: \(profile)\n" }
        text += running.profileLints.map { "\($0)\n" }.joined()
        StandardStreams.error(text)
    }
}

extension RecorderConfiguration.Mode: ExpressibleByArgument {}
