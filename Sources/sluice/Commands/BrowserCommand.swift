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

            The browser gets a temporary profile that trusts the authority. On a terminal the console opens, and the browser ends \
            with it; otherwise exchanges are printed. --help-hidden has more options: timeouts, limits, TLS.

            Exit codes: 0 the browser succeeded, 1 it or the recording failed, 2 wrong usage.
            """
    )

    @OptionGroup(title: "Rules and recording") var recording: RecordingOptions
    @OptionGroup var proxy: ProxyOptions

    @Option(
        help: .value("name|path", "chromium, chrome, edge, brave, firefox or a path. (default: the first found)"),
        completion: .list(["chromium", "chrome", "edge", "brave", "firefox"])
    )
    var browser: String?
    @Flag(help: "Use the running Sluice instead of starting one.") var running = false
    @OptionGroup var control: ControlOptions
    @Flag(help: "Print a line for each exchange; do not open the console.") var plain = false
    @Argument(help: .value("url", "The pages to open. After '--': arguments for the browser.")) var words: [String] = []

    /// How many of the words are after '--'.
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
            throw ValidationError("'\(wrong)' is not a URL; arguments of the browser follow '--'.")
        }
        if proxy.listener.proxyAuth != nil {
            throw ValidationError("A browser cannot be given a user and a password, so --proxy-auth would refuse it.")
        }
        if usesRunning, recording.session != nil || recording.bounds.isGiven || !recording.profile.isEmpty {
            throw ValidationError("The session and the rules are those of the running Sluice.")
        }
    }

    func run() async throws {
        let browser = try InstalledBrowser.find(browser, environment: Self.environment)
        if usesRunning { return try await runBehindOther(browser) }
        // A browser always gets a forward proxy, even if `--mode` names only other listeners.
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

    private func start(_ browser: InstalledBrowser, _ proxy: BrowserProxy, isAlone: Bool) throws -> BrowserRun {
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
            throw StartError("The running Sluice is not a forward proxy.", hint: "Start it with --mode regular.")
        }
        let process = try start(browser, proxy, isAlone: true)
        if !report(await process.outcome()) { throw ExitCode(1) }
    }

    /// Prints why a browser failed; returns whether it succeeded.
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
            // The console cancels this task when it ends; the step below is for a console that failed earlier.
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
