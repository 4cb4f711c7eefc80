import ArgumentParser
import Clients
import Console
import Foundation
import Jobs
import Recording
import Runner
import Store
import Terminal
import Wire

/// The default command.
struct ConsoleCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "console",
        abstract: "Open the console on a proxy of its own.",
        discussion: """
              sluice
              sluice --profile Profiles/slow-3g.yaml --session bug.sluice
              sluice --mode reverse:http://localhost:3000@8081

            In the console, ? lists keys and : all commands. --help-hidden has more options: timeouts, limits, TLS.
            """
    )

    @OptionGroup var linear: LinearOptions

    @Option(help: .newSession, completion: .newSession) var session: String?
    @OptionGroup var bounds: SessionBounds
    @OptionGroup var store: StoreOptions
    @Option(help: .profile, completion: .profile) var profile: [String] = []
    @OptionGroup var variables: VariableOptions
    @OptionGroup var proxy: ProxyOptions

    func validate() throws { try bounds.check(session) }

    func run() async throws {
        guard Screen.isThere || linear.isWanted else {
            StandardStreams.error(Screen.waysToStart)
            throw ExitCode(2)
        }
        var settings = try proxy.settings(port: 8080)
        settings.session = session
        try bounds.apply(to: &settings)
        try store.set(&settings)
        settings.becomesLast = true
        settings.reportsRotations = false
        settings.profiles = profile
        settings.output = .quiet
        let chosen = settings
        let files = try StartFiles(settings)
        try await Screen.run(.live, linear) { try await LiveServices.run(chosen, files, $0).services }
    }
}

struct Open: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "open",
        abstract: "Open a recorded session in the console.",
        discussion: """
              sluice open last
              sluice open bug.zip
              sluice open postgresql://localhost/team 'status:5xx since:2h'

            Of a store the exchanges that fit are fetched into a session for the time.
            """
    )

    @OptionGroup var linear: LinearOptions
    @Argument(help: .session, completion: .session) var session: String
    @Argument(help: .value("filter", "With a store: which exchanges."), completion: .filter) var filter: [String] = []
    @OptionGroup var reading: StoreReading

    func run() async throws {
        try Screen.require(linear)
        if let fetch = try reading.fetch(session) { return try await open(fetch) }
        guard filter.isEmpty else {
            throw ValidationError("Only a store is opened with a filter; in the console / filters.")
        }
        let isArchive = try ArchiveFile.isArchive(session)
        let path = isArchive ? session : try SessionQuery.open(session).path
        try await Screen.run(.recorded(name: path), linear) { stopping in
            guard isArchive else {
                let edits = RecordedSessionEdits(path: path)
                await stopping.add {
                    do {
                        try await edits.close()
                        return true
                    } catch {
                        StandardStreams.error(ErrorLine.text("\(error)"))
                        return false
                    }
                }
                var services = ConsoleServices(session: path)
                services.edits = edits
                services.imports = edits
                return services
            }
            let archive = try ImportedArchive(path)
            await stopping.add {
                archive.remove()
                return true
            }
            return ConsoleServices(session: archive.session, archive: path)
        }
    }
}

extension Open {
    private func open(_ fetch: StoreFetch) async throws {
        let directory = try TemporaryDirectory(.store)
        defer { directory.remove() }
        let path = directory.path + "/store.sluice"
        _ = try LongWork.run("fetching", .things("exchange"), consequence: "Nothing was opened.") { work in
            try fetch.fetch(filter, to: path, work: work)
        }
        try await Screen.run(.recorded(name: fetch.address.shown), linear) { _ in
            ConsoleServices(session: path, archive: fetch.address.shown)
        }
    }
}

struct Attach: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "attach",
        abstract: "Open the console on a running Sluice.",
        discussion: """
              sluice attach
              sluice attach --view --control 4711

            It shows the session that the running Sluice records, and controls it over its control socket.
            """
    )

    @OptionGroup var control: ControlOptions
    @OptionGroup var linear: LinearOptions
    @Flag(help: "Change nothing.") var view = false

    func run() async throws {
        try Screen.require(linear)
        let target = try control.target()
        let status = try await target.status()
        let canSteer = !view
        let authority = status.authority.path
        try await Screen.run(.attached(canSteer: canSteer), linear) { _ in
            var services = ConsoleServices(session: status.session)
            services.control = target
            if canSteer, let proxy = status.forwardAddress {
                services.sender = try RequestSender(
                    proxy: proxy,
                    certificate: status.authority.certificate,
                    authorization: status.proxyAuthorization,
                    mark: status.mark
                )
            }
            services.authorityPath = authority
            services.trustHelp = TrustHelp.lines(path: authority)
            return services
        }
    }
}

/// The console's terminal.
enum Screen {
    static var isThere: Bool { isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1 }

    static let waysToStart = """
        sluice: The console needs a terminal. Without one:
          sluice run                         a recording proxy on 127.0.0.1:8080
          sluice run --profile FILE -- CMD   a command behind the proxy, with rules
          sluice demo                        Sluice at work on traffic of its own
        sluice --help lists all commands.

        """

    static func require(_ linear: LinearOptions) throws {
        guard !isThere, !linear.isWanted else { return }
        throw StartError("The console needs a terminal.", hint: "Use --linear, or sluice list or show.", isUsage: true)
    }

    /// Runs the console, then the steps of its ``Stopping``.
    static func run(
        _ source: ConsoleModel.Source,
        _ linear: LinearOptions,
        _ prepare: @escaping @Sendable (Stopping) async throws -> ConsoleServices
    ) async throws {
        let stopping = Stopping()
        let settings = ViewSettingsFile()
        if linear.resetView { settings.remove() }
        var isDone = true
        do {
            if linear.isWanted {
                isDone = try await Console.runLinear(
                    source,
                    input: STDIN_FILENO,
                    write: { StandardStreams.out($0) },
                    prepare: { try await prepare(stopping) },
                    configure: { $0.makeGuide = GuideTables.guide }
                )
            } else {
                try await Console.run(
                    source,
                    on: { try SystemTerminal() },
                    prepare: { try await prepare(stopping) },
                    configure: { model in
                        KeyFile().configure(&model)
                        model.makeGuide = GuideTables.guide
                    },
                    settings: settings
                )
            }
        } catch {
            await stopping.stop()
            throw error
        }
        let isWhole = await stopping.stop()
        if !isDone || !isWhole { throw ExitCode(1) }
    }
}

struct LinearOptions: ParsableArguments {
    @Flag(help: "Read commands and write answers as lines, for screen readers and scripts.") var linear = false
    @Flag(help: "Reset the console's columns, order, theme and filters.") var resetView = false

    /// Whether the user requested lines, or the terminal can only print lines.
    var isWanted: Bool {
        guard !linear, isatty(STDIN_FILENO) == 1 else { return linear }
        return isatty(STDOUT_FILENO) == 0 || ProcessInfo.processInfo.environment["TERM"] == "dumb"
    }
}

/// Steps that run when the console ends.
actor Stopping {
    private var steps: [@Sendable () async -> Bool] = []

    /// Adds a step that returns whether it succeeded; the last one added runs first.
    func add(_ step: @escaping @Sendable () async -> Bool) { steps.append(step) }

    /// Stops a proxy and prints its summary; the step fails if the recording is incomplete.
    func add(_ running: RunningProxy) {
        add {
            let summary = await running.stop()
            let sent = [running.storeSummary, running.spanSummary].compactMap(\.self).joined()
            StandardStreams.error(RunSummary.text(summary) + sent)
            return summary.error == nil
        }
    }

    /// Returns whether all steps succeeded.
    @discardableResult
    func stop() async -> Bool {
        var isFine = true
        while let step = steps.popLast() { isFine = await step() && isFine }
        return isFine
    }
}

/// The services of a proxy in this process.
enum LiveServices {
    static func run(
        _ settings: RunSettings,
        _ files: StartFiles,
        _ stopping: Stopping
    ) async throws -> (running: RunningProxy, services: ConsoleServices) {
        let remarks = DeferredOutput()
        let rules = RulesState.newFile
        if settings.profiles.isEmpty, FileManager.default.fileExists(atPath: rules) {
            remarks.add("\(rules) in this folder is not in force; U loads it, --profile \(rules) starts with it.")
        }
        return try await start(settings, files, stopping, remarks)
    }

    private static func start(
        _ settings: RunSettings,
        _ files: StartFiles?,
        _ stopping: Stopping,
        _ remarks: DeferredOutput
    ) async throws -> (running: RunningProxy, services: ConsoleServices) {
        let running = try await RunningProxy.start(
            settings,
            files: files,
            print: { _ in },
            report: { remarks.add($0) },
            reportsRefusals: false
        )
        await stopping.add(running)
        return (running, services(running, remarks))
    }

    /// Starts the demo: an origin, a proxy, and a client that goes on until the console ends.
    static func startDemo(session: String?, _ stopping: Stopping) async throws -> ConsoleServices {
        let origin = try await DemoOrigin.start()
        await stopping.add {
            await origin.stop()
            return true
        }
        var (settings, _) = try Demo.settings(for: origin, session: session)
        settings.output = .quiet
        let (running, prepared) = try await start(settings, nil, stopping, DeferredOutput())
        var services = prepared
        services.background = {
            await Demo.drive(origin, through: running.address, authority: running.authority, forever: true)
        }
        return services
    }

    private static func services(_ running: RunningProxy, _ remarks: DeferredOutput) -> ConsoleServices {
        var services = ConsoleServices(session: running.session)
        services.control = running.controlTarget
        services.imports = running.imports
        services.sender = running.forwardAddress.map {
            RequestSender(proxy: $0, authority: running.authority, authorization: running.ownCredentials?.fieldValue)
        }
        services.revision = { running.revision }
        services.authorityPath = running.authorityPath
        services.trustHelp = TrustHelp.lines(path: running.authorityPath)
        services.remarks = remarks
        return services
    }
}
