import ArgumentParser
import Console
import Foundation
import Recording
import Runner
import Terminal

/// The console on a proxy of its own: what `sluice` does where nothing else is said.
struct ConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Open the console: a proxy, its traffic and every tool on one screen. The default.",
        discussion: "? in the console lists its keys, : all its commands."
    )

    @OptionGroup var proxy: ProxyOptions

    @Option(help: "The session file to record to; one that exists is continued. (default: a new one)")
    var session: String?

    @Option(help: "A rule profile (YAML). Repeatable: the rules of several stand one after the other.")
    var profile: [String] = []

    func run() async throws {
        guard Screen.isThere else {
            StandardStreams.error(Screen.waysToStart)
            throw ExitCode(2)
        }
        var settings = try proxy.settings(port: 8080)
        settings.session = session
        settings.profiles = profile
        settings.output = .quiet
        let chosen = settings
        try await Screen.run(.live) { try await LiveServices.start(chosen, $0) }
    }
}

struct Open: AsyncParsableCommand {
    static let configuration = CommandConfiguration(abstract: "Open a recorded session in the console.")

    @Argument(help: "The session file, or 'last' for the newest one.")
    var session: String

    func run() async throws {
        try Screen.require()
        let reader = try SessionQuery.open(session)
        let path = reader.path
        try await Screen.run(.recorded(name: path)) { _ in ConsoleServices(session: path) }
    }
}

struct Attach: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Open the console on a Sluice that runs elsewhere on this machine.",
        discussion: "Reads the session that it records, and steers it over its control socket."
    )

    @OptionGroup var control: ControlOptions

    @Flag(help: "Look only: change nothing.")
    var view = false

    func run() async throws {
        try Screen.require()
        let client = try control.client()
        let steering = Steering(client)
        let status = try client.ask(ControlRequest(.status)).status
        let canSteer = !view
        try await Screen.run(.attached(canSteer: canSteer)) { _ in
            ConsoleServices(
                session: status?.session,
                steering: steering,
                sender: canSteer ? try status.map { try RequestSender(proxy: $0.address) } : nil,
                authorityPath: StandardPaths.authorityCertificate,
                trustText: TrustHelp.text(path: StandardPaths.authorityCertificate)
            )
        }
    }
}

/// The terminal that the console is drawn on.
enum Screen {
    /// Whether there is one: both ends are a terminal that can be drawn on.
    static var isThere: Bool {
        isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
    }

    static let waysToStart = """
        sluice: The console needs a terminal. Three ways to start without one:
          sluice run                         a proxy on 127.0.0.1:8080 that records what passes
          sluice run --profile FILE -- CMD   a command behind the proxy, with rules
          sluice demo                        see it at work on traffic of its own
        sluice --help lists all commands.

        """

    /// Refuses to go on without a terminal.
    static func require() throws {
        guard !isThere else { return }
        throw StartFailure(
            "The console needs a terminal.",
            hint: "sluice list, show and export print a session without one.",
            isUsage: true
        )
    }

    /// Runs the console, and stops afterwards what was started for it.
    static func run(
        _ source: ConsoleModel.Source,
        _ prepare: @escaping @Sendable (Stopping) async throws -> ConsoleServices
    ) async throws {
        let stopping = Stopping()
        do {
            try await Console.run(source, on: { try SystemTerminal() }, prepare: { try await prepare(stopping) })
        } catch {
            await stopping.stop()
            throw error
        }
        await stopping.stop()
    }
}

/// What is to be stopped when the console ends.
actor Stopping {
    private var steps: [@Sendable () async -> Void] = []

    /// Remembers what to do at the end; what was begun last ends first.
    func add(_ step: @escaping @Sendable () async -> Void) {
        steps.append(step)
    }

    /// Does it.
    func stop() async {
        let steps = self.steps
        self.steps = []
        for step in steps.reversed() { await step() }
    }
}

/// What the console has from a proxy in this process.
enum LiveServices {
    /// Starts the proxy.
    static func start(_ settings: RunSettings, _ stopping: Stopping) async throws -> ConsoleServices {
        let remarks = Remarks()
        let running = try await RunningProxy.start(
            settings,
            print: { _ in },
            complain: { remarks.add($0) }
        )
        await stopping.add {
            let summary = await running.stop()
            StandardStreams.error(RunSummary.text(summary))
        }
        return services(running, remarks)
    }

    /// Starts the demo: an origin, a proxy, and a client that goes on until the console ends.
    static func startDemo(session: String?, _ stopping: Stopping) async throws -> ConsoleServices {
        let origin = try await DemoOrigin.start()
        await stopping.add { await origin.stop() }
        var (settings, _) = try Demo.settings(for: origin, session: session)
        settings.output = .quiet
        let remarks = Remarks()
        let running = try await RunningProxy.start(settings, print: { _ in }, complain: { remarks.add($0) })
        await stopping.add {
            let summary = await running.stop()
            StandardStreams.error(RunSummary.text(summary))
        }
        var services = services(running, remarks)
        services.background = {
            await Demo.drive(origin, through: running.address, authority: running.authority, forever: true)
        }
        return services
    }

    /// What the console needs of a proxy that runs.
    static func services(_ running: RunningProxy, _ remarks: Remarks) -> ConsoleServices {
        let authority = StandardPaths.authorityCertificate
        var services = ConsoleServices(
            session: running.session,
            steering: Steering(running.controlTarget),
            sender: RequestSender(proxy: running.address, authority: running.authority),
            revision: { running.revision },
            authorityPath: authority,
            trustText: TrustHelp.text(path: authority)
        )
        services.remarks = remarks
        return services
    }
}
