package import Foundation
import HTTPModel
import Jobs
import NIOCore
package import Runner
import Wire

/// How a browser comes to the proxy: the address, and what it is to trust.
package struct BrowserProxy: Sendable {
    package var host: String
    package var port: Int
    /// The authority's certificate, DER.
    package var authority: Data
    /// The SHA-256 of the public key of all minted certificates, in Base64; `nil` where a Sluice does not say it.
    package var leafKeyHash: String?

    package init(host: String, port: Int, authority: Data, leafKeyHash: String?) {
        (self.host, self.port, self.authority, self.leafKeyHash) = (host, port, authority, leafKeyHash)
    }

    /// That of a proxy in this process.
    package init(_ running: RunningProxy) {
        self.init(
            host: Self.reachable(running.address.ipAddress ?? ""),
            port: running.address.port ?? 0,
            authority: Data(running.authority.certificateDER),
            leafKeyHash: running.leafKeyHash
        )
    }

    /// That of another process; `nil` where it does not say what is needed.
    package init?(_ status: ControlStatus) {
        guard let authority = status.authority,
            let (host, port) = RequestURL.splitAuthority(status.forwardAddress ?? ""), let port
        else { return nil }
        let address = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        self.init(
            host: Self.reachable(address),
            port: port,
            authority: authority.certificate,
            leafKeyHash: authority.leafKeyHash
        )
    }

    /// Where a proxy listens on all addresses, the browser uses the loopback one.
    private static func reachable(_ host: String) -> String {
        switch host {
        case "", "0.0.0.0": "127.0.0.1"
        case "::": "::1"
        default: host
        }
    }

    var url: String { "http://\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}

/// A fresh profile in a folder of its own, with which a browser uses the proxy and trusts its authority. Nothing outside of
/// the folder is touched.
struct BrowserProfile: Sendable {
    let directory: TemporaryDirectory
    /// The arguments of the browser, without its name.
    let arguments: [String]
    let variables: [String: String]

    /// Throws ``StartError``.
    init(_ browser: InstalledBrowser, _ proxy: BrowserProxy, urls: [String], further: [String]) throws {
        let directory = try TemporaryDirectory("browser")
        self.directory = directory
        do {
            switch browser.family {
            case .chromium:
                variables = Self.temporaryFolder(directory)
                arguments = try Self.chromium(proxy, in: directory) + further + Self.addresses(urls)
            case .firefox:
                variables = ["MOZ_CRASHREPORTER_DISABLE": "1"]
                _ = try directory.write(Data(Self.firefoxSettings(proxy).utf8), to: "user.js")
                try FirefoxTrust.add(proxy.authority, toProfile: directory.path, of: browser)
                let own = ["--no-remote", "--new-instance", "--profile", directory.path]
                arguments = own + further + Self.addresses(urls)
            }
        } catch {
            directory.remove()
            throw error
        }
    }

    /// URLs as a browser's command line takes them: a host alone is meant as one, and not as a file or an option.
    static func addresses(_ urls: [String]) -> [String] {
        guard !urls.isEmpty else { return ["about:blank"] }
        return urls.map { url in
            let scheme = url.prefix { $0.isLetter || $0.isNumber || "+-.".contains($0) }
            let rest = url.dropFirst(scheme.count)
            let isWhole =
                rest.hasPrefix("://") || ["about", "data", "chrome", "file"].contains(scheme) && rest.first == ":"
            return isWhole ? url : "http://\(url)"
        }
    }

    // MARK: - Chromium

    /// Chromium leaves a folder with a socket in the temporary one where it is killed, so that is to be its own.
    ///
    /// The path of a socket has 104 bytes at the most; where this one would be longer the user's folder stays.
    private static func temporaryFolder(_ directory: TemporaryDirectory) -> [String: String] {
        let socket = "\(directory.path)/org.chromium.Chromium.XXXXXX/SingletonSocket"
        return socket.utf8.count < 104 ? ["TMPDIR": directory.path] : [:]
    }

    private static func chromium(_ proxy: BrowserProxy, in directory: TemporaryDirectory) throws -> [String] {
        guard let hash = proxy.leafKeyHash else {
            throw StartError(
                "The running Sluice is too old to say by which key its certificates are known.",
                hint: "Start it again, or let 'sluice browser' start one of its own."
            )
        }
        var flags = [
            "--user-data-dir=\(directory.path)/profile",
            "--proxy-server=\(proxy.url)",
            // Requests to this machine pass the proxy, too.
            "--proxy-bypass-list=<-loopback>",
            // Only the certificates that this Sluice mints are taken; all others are verified as ever.
            "--ignore-certificate-errors-spki-list=\(hash)",
            "--disable-quic",
        ]
        // No pages, questions and bars of a first start; no requests that nobody asked for, as far as flags go.
        flags += [
            "no-first-run", "no-default-browser-check", "disable-search-engine-choice-screen", "test-type",
            "disable-background-networking", "disable-component-update", "disable-sync", "disable-default-apps",
            "disable-field-trial-config", "disable-client-side-phishing-detection", "disable-domain-reliability",
            "disable-component-extensions-with-background-pages", "disable-breakpad", "metrics-recording-only",
            "no-pings", "no-service-autorun", "password-store=basic", "use-mock-keychain",
        ].map { "--" + $0 }
        let features = [
            "NetworkTimeServiceQuerying", "OptimizationHints", "Translate", "MediaRouter", "DialMediaRouteProvider",
            "AutofillServerCommunication", "CertificateTransparencyComponentUpdater", "InterestFeedContentSuggestions",
        ]
        flags.append("--disable-features=\(features.joined(separator: ","))")
        // Chromium refuses to start its sandbox as root.
        if geteuid() == 0 { flags.append("--no-sandbox") }
        return flags
    }

    // MARK: - Firefox

    static func firefoxSettings(_ proxy: BrowserProxy) -> String {
        let quoted = proxy.host.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        let settings: [(String, String)] = [
            ("network.proxy.type", "1"),
            ("network.proxy.http", "\"\(quoted)\""), ("network.proxy.http_port", "\(proxy.port)"),
            ("network.proxy.ssl", "\"\(quoted)\""), ("network.proxy.ssl_port", "\(proxy.port)"),
            ("network.proxy.no_proxies_on", "\"\""), ("network.proxy.allow_hijacking_localhost", "true"),
            ("network.proxy.failover_direct", "false"),
            // HTTP/3 and DNS over HTTPS would lead past the proxy.
            ("network.http.http3.enable", "false"), ("network.trr.mode", "5"),
            ("browser.aboutwelcome.enabled", "false"), ("browser.shell.checkDefaultBrowser", "false"),
            ("browser.startup.homepage", "\"about:blank\""), ("browser.startup.homepage_override.mstone", "\"ignore\""),
            ("startup.homepage_welcome_url", "\"\""), ("startup.homepage_welcome_url.additional", "\"\""),
            ("browser.newtabpage.enabled", "false"), ("browser.tabs.warnOnClose", "false"),
            ("datareporting.policy.firstRunURL", "\"\""),
            ("datareporting.policy.dataSubmissionEnabled", "false"),
            ("datareporting.policy.dataSubmissionPolicyBypassNotification", "true"),
            ("datareporting.healthreport.uploadEnabled", "false"), ("toolkit.telemetry.enabled", "false"),
            ("toolkit.telemetry.unified", "false"), ("toolkit.telemetry.server", "\"\""),
            ("app.normandy.enabled", "false"), ("app.update.enabled", "false"), ("app.update.auto", "false"),
            ("extensions.update.enabled", "false"), ("extensions.getAddons.cache.enabled", "false"),
            ("extensions.systemAddon.update.enabled", "false"), ("media.gmp-manager.updateEnabled", "false"),
            ("media.gmp-manager.url", "\"\""), ("browser.region.update.enabled", "false"),
            ("browser.region.network.url", "\"\""), ("browser.safebrowsing.downloads.remote.enabled", "false"),
            ("browser.safebrowsing.malware.enabled", "false"), ("browser.safebrowsing.phishing.enabled", "false"),
            ("browser.safebrowsing.provider.mozilla.updateURL", "\"\""),
            ("browser.search.update", "false"), ("browser.topsites.contile.enabled", "false"),
            ("dom.push.connection.enabled", "false"), ("geo.provider.network.url", "\"\""),
            ("network.captive-portal-service.enabled", "false"), ("network.connectivity-service.enabled", "false"),
            ("security.certerrors.mitm.priming.enabled", "false"), ("security.OCSP.enabled", "0"),
            ("services.settings.server", "\"data:,#remote-settings-dummy/v1\""),
        ]
        return settings.map { "user_pref(\"\($0)\", \($1));\n" }.joined()
    }
}
