import ArgumentParser
import Clients
import Console
import Foundation
import Jobs
import NIOCore
import Recording
import Runner

struct BrowserCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "browser",
        abstract: "Start a browser that uses the proxy and trusts it.",
        discussion: """
              sluice browser https://example.com/
              sluice browser --browser firefox --plain
              sluice browser --running -- --headless=new

            Chromium, Chrome or Firefox gets a temporary profile that trusts the authority, so no certificate has to be installed. \
            At a terminal the console opens, and the browser ends with it; else exchanges are lines, as with 'sluice run'. \
            --help-hidden has further options: timeouts, limits, TLS.

            Exit codes: 0 the browser ended well, 1 it failed or something was not recorded, 2 wrong usage.
            """
    )

    @OptionGroup(title: "Rules and recording") var recording: RecordingOptions
    @OptionGroup var proxy: ProxyOptions

    @Option(
        help: .value("name|path", "chromium, chrome, edge, brave or firefox, or a path. (default: the first found)"),
        completion: .list(["chromium", "chrome", "edge", "brave", "firefox"])
    )
    var browser: String?

    @Flag(help: "Use the Sluice that runs already, in place of one that is started for the browser.")
    var running = false

    @OptionGroup var control: ControlOptions

    @Flag(help: "Print a line for each exchange, and open no console.") var plain = false

    @Argument(
        help: .value(
            "url",
            "What the browser is to open. After '--': further arguments for Chromium or Firefox, such as --headless=new."
        )
    )
    var words: [String] = []

    /// How many of the words stand after '--'.
    private static var countOfFurther: Int {
        let all = CommandLine.arguments
        return all.firstIndex(of: "--").map { all.count - $0 - 1 } ?? 0
    }

    private var url: [String] { Array(words.dropLast(Self.countOfFurther)) }
    private var arguments: [String] { words.suffix(Self.countOfFurther) }
    private var usesRunning: Bool { running || control.control != nil }
    private static var environment: [String: String] { ProcessInfo.processInfo.environment }

    func validate() throws {
        if let wrong = url.first(where: { $0.hasPrefix("-") || $0.isEmpty }) {
            throw ValidationError("'\(wrong)' is no URL; arguments of the browser come after '--'.")
        }
        if proxy.listener.proxyAuth != nil {
            throw ValidationError(
                "A browser cannot be started with a user and a password, so --proxy-auth would refuse it: leave it out, or start "
                    + "'sluice run --proxy-auth FILE' for the others."
            )
        }
        if usesRunning, recording.session != nil || recording.bounds.isGiven || !recording.profile.isEmpty {
            throw ValidationError("What a running Sluice records, and by which rules, is said where it was started.")
        }
    }

    func run() async throws {
        let browser = try InstalledBrowser.find(browser, environment: Self.environment)
        if usesRunning { return try await runBehindOther(browser) }
        // A browser speaks to a forward proxy, whatever the modes are.
        var settings = try proxy.settings(port: 0, hasCommand: true)
        try recording.set(&settings, hasCommand: false)
        let hasConsole = Screen.isThere && !plain && !recording.quiet && !recording.json
        if hasConsole { return try await runWithConsole(browser, settings) }
        let files = try StartFiles(settings)
        try await HeadlessRun(recording).run(
            settings,
            files,
            until: { running in
                let process = try start(browser, BrowserProxy(running), isAlone: true)
                return report(await process.outcome()) ? 0 : 1
            }
        )
    }

    private func start(
        _ browser: InstalledBrowser,
        _ proxy: BrowserProxy,
        isAlone: Bool
    ) throws -> BrowserRun {
        try BrowserRun.start(
            browser,
            proxy,
            urls: url,
            further: arguments,
            inherited: Self.environment,
            isAlone: isAlone
        )
    }

    private func runBehindOther(_ browser: InstalledBrowser) async throws {
        let status = try await control.target().status()
        guard let proxy = BrowserProxy(status) else {
            guard status.forwardAddress != nil else {
                throw StartError(
                    "The running Sluice is no forward proxy, which is what a browser needs.",
                    hint: "Start it with --mode regular as well, or let 'sluice browser' start one of its own."
                )
            }
            throw StartError("The running Sluice does not say where it listens and what signs its certificates.")
        }
        let process = try start(browser, proxy, isAlone: true)
        if !report(await process.outcome()) { throw ExitCode(1) }
    }

    /// Says what a browser that failed has said; returns whether it ended well.
    private func report(_ outcome: (exitCode: Int32, words: String)?) -> Bool {
        guard let outcome, outcome.exitCode != 0 else { return true }
        StandardStreams.error("sluice: \(outcome.words)\n")
        return false
    }

    private func runWithConsole(_ browser: InstalledBrowser, _ settings: RunSettings) async throws {
        var settings = settings
        if settings.log == nil { settings.output = .quiet }
        settings.reportsRotations = false
        let (chosen, files) = (settings, try StartFiles(settings))
        try await Screen.run(.live, LinearOptions.parse([])) { stopping in
            var (running, services) = try await LiveServices.run(chosen, files, stopping)
            let process = try start(browser, BrowserProxy(running), isAlone: false)
            let remarks = services.remarks
            // The console cancels it at its end; where it never came so far, the last step is for nothing else.
            services.background = {
                await withTaskCancellationHandler {
                    guard let outcome = await process.outcome() else { return }
                    remarks.add(outcome.exitCode == 0 ? "The browser has ended." : outcome.words)
                } onCancel: {
                    process.stop()
                }
            }
            await stopping.add {
                process.stop()
                _ = await process.outcome()
                return true
            }
            return services
        }
    }
}
