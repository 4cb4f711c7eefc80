import Foundation
import Support
import Testing

@testable import Clients
@testable import Jobs
@testable import Runner

@Suite("A browser with a profile of its own")
struct BrowserTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private func install(_ names: String...) throws -> [String: String] {
        try scratch.makeDirectory("bin")
        for name in names { try scratch.write("bin/\(name)", "#!/bin/sh\n", mode: 0o755) }
        return ["PATH": "\(scratch.path("nowhere")):\(scratch.path("bin"))"]
    }

    private let proxy = BrowserProxy(host: "127.0.0.1", port: 8181, authority: Data([1]), leafKeyHash: "SGFzaA==")

    @Test("is found by its name or path, Chromium before Firefox; what is not there is said with the names")
    func finding() throws {
        let environment = try install("firefox-esr", "google-chrome")
        let first = try InstalledBrowser.find(nil, environment: environment)
        #expect(first.executable == scratch.path("bin/google-chrome") && first.family == .chromium)
        #expect(try InstalledBrowser.find("Chrome", environment: environment) == first)
        let firefox = try InstalledBrowser.find("firefox", environment: environment)
        #expect(firefox.executable == scratch.path("bin/firefox-esr") && firefox.family == .firefox)
        let other = try scratch.write("bin/my-firefox-nightly", "", mode: 0o755)
        #expect(try InstalledBrowser.find(other, environment: [:]).family == .firefox)
        func failure(_ name: String) -> StartError? {
            do {
                _ = try InstalledBrowser.find(name, environment: environment)
                return nil
            } catch {
                return error
            }
        }
        let missing = try #require(failure("brave"))
        #expect(missing.message.contains("brave-browser in PATH") && !missing.isUsage)
        #expect(failure("netscape")?.isUsage == true)
        #expect(failure(scratch.path("bin/none"))?.message.contains("cannot be executed: No such file") == true)
    }

    @Test("Chromium's profile has the proxy for all hosts, trusts the one key, and goes without requests of its own")
    func chromium() throws {
        let browser = InstalledBrowser(executable: "/usr/bin/chromium", family: .chromium)
        let profile = try BrowserProfile(browser, proxy, urls: ["a.example/x", "https://b"], further: ["--headless"])
        defer { profile.directory.remove() }
        for flag in [
            "--proxy-server=http://127.0.0.1:8181", "--proxy-bypass-list=<-loopback>", "--disable-quic",
            "--ignore-certificate-errors-spki-list=SGFzaA==", "--no-first-run", "--disable-background-networking",
            "--user-data-dir=\(profile.directory.path)/profile",
        ] {
            #expect(profile.arguments.contains(flag), "\(flag)")
        }
        #expect(profile.arguments.suffix(3) == ["--headless", "http://a.example/x", "https://b"])
        #expect(profile.arguments.contains("--no-sandbox") == (geteuid() == 0))
        #expect(!profile.arguments.contains { $0 == "--ignore-certificate-errors" })
        var old = proxy
        old.leafKeyHash = nil
        #expect(throws: StartError.self) { try BrowserProfile(browser, old, urls: [], further: []) }
    }

    @Test("What a user writes for a URL is never taken for a file or an option")
    func addresses() {
        #expect(BrowserProfile.addresses([]) == ["about:blank"])
        let given = ["localhost:3000", "about:config", "data:text/html,x", "HTTP://x", "[::1]:80/", "file:///a", "x.y"]
        let taken = [
            "http://localhost:3000", "about:config", "data:text/html,x", "HTTP://x", "http://[::1]:80/", "file:///a",
            "http://x.y",
        ]
        #expect(BrowserProfile.addresses(given) == taken)
    }

    @Test("Firefox' settings have the proxy for this machine's hosts too, and no way past it")
    func firefox() {
        var odd = proxy
        odd.host = "a\"b\\"
        let settings = BrowserProfile.firefoxSettings(odd)
        for line in [
            "user_pref(\"network.proxy.ssl\", \"a\\\"b\\\\\");", "user_pref(\"network.proxy.ssl_port\", 8181);",
            "user_pref(\"network.proxy.allow_hijacking_localhost\", true);", "user_pref(\"network.trr.mode\", 5);",
            "user_pref(\"network.http.http3.enable\", false);", "user_pref(\"network.proxy.failover_direct\", false);",
        ] {
            #expect(settings.contains(line + "\n"), "\(line)")
        }
    }

    @Test("A running Sluice is used where it listens, on the loopback address where it listens on all")
    func running() throws {
        var status = ControlStatus(version: "1", address: "0.0.0.0:8080", pid: 1)
        #expect(BrowserProxy(status) == nil)
        status.authority = AuthorityInUse(path: "/ca.pem", certificate: Data([7]), leafKeyHash: "eA==")
        for (address, url) in [
            ("0.0.0.0:8080", "http://127.0.0.1:8080"), ("[::]:80", "http://[::1]:80"),
            ("192.168.1.4:81", "http://192.168.1.4:81"), ("[fe80::1]:82", "http://[fe80::1]:82"),
        ] {
            status.listeners = [ListenerState(mode: "regular", address: address)]
            let proxy = try #require(BrowserProxy(status))
            #expect(proxy.url == url && proxy.authority == Data([7]) && proxy.leafKeyHash == "eA==")
        }
    }

    @Test("A browser that fails says its last words, and its folder goes with it")
    func ending() async throws {
        let path = try scratch.write(
            "bin-chromium",
            "#!/bin/sh\nfor a; do case $a in --user-data-dir=*) mkdir -p \"${a#*=}\"; echo \"${a#*=}\";; esac; done >&2\n"
                + "echo past-me >&2\nexit 21\n",
            mode: 0o755
        )
        let browser = InstalledBrowser(executable: path, family: .chromium)
        let run = try BrowserRun.start(browser, proxy, urls: [], further: [], inherited: [:], isAlone: false)
        let outcome = try #require(await run.outcome())
        #expect(await run.outcome()?.exitCode == nil)
        #expect(
            outcome.exitCode == 21 && outcome.words.contains("ended with 21\n") && outcome.words.contains("past-me")
        )
        let folder = try #require(outcome.words.split(separator: "\n").first { $0.hasSuffix("/profile") })
            .trimmingCharacters(in: .whitespaces)
        #expect(folder.contains("/sluice-browser."))
        #expect(!FileManager.default.fileExists(atPath: (folder as NSString).deletingLastPathComponent))
    }
}
