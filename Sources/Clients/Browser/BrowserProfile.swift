package import Foundation
import HTTPModel
import Jobs
import NIOCore
package import Runner
import Wire

package struct BrowserProxy: Sendable {
    package var host: String
    package var port: Int
    /// DER.
    package var authority: Data
    /// The SHA-256 of the public key of all minted certificates, in Base64.
    package var leafKeyHash: String?

    package init(host: String, port: Int, authority: Data, leafKeyHash: String?) {
        (self.host, self.port, self.authority, self.leafKeyHash) = (host, port, authority, leafKeyHash)
    }

    package init(_ running: RunningProxy) {
        self.init(
            host: running.address.reachable.ipAddress ?? "127.0.0.1",
            port: running.address.port ?? 0,
            authority: Data(running.authority.certificateDER),
            leafKeyHash: running.leafKeyHash
        )
    }

    package init?(_ status: ControlStatus) {
        guard let (host, port) = RequestURL.splitAuthority(status.forwardAddress ?? ""), let port else { return nil }
        let address = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        let place = try? SocketAddress(ipAddress: address, port: port)
        self.init(
            host: place?.reachable.ipAddress ?? address,
            port: port,
            authority: status.authority.certificate,
            leafKeyHash: status.authority.leafKeyHash
        )
    }

    var url: String { "http://\(HostAddress.withPort(host, port))" }
}

/// A temporary profile with which a browser uses the proxy and trusts its authority.
struct BrowserProfile: Sendable {
    let directory: TemporaryDirectory
    let arguments: [String]
    let variables: [String: String]

    init(_ browser: InstalledBrowser, _ proxy: BrowserProxy, urls: [String], further: [String]) throws {
        let directory = try TemporaryDirectory(.browser)
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

    /// A host without a scheme becomes a URL, so that the browser does not take it for a file or an option.
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

    /// Puts the socket, which remains if Chromium is killed, into the directory if the path has less than 104 bytes.
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
            // Requests to this machine use the proxy, too.
            "--proxy-bypass-list=<-loopback>",
            // Certificates that this Sluice mints are accepted without verification; all others are verified.
            "--ignore-certificate-errors-spki-list=\(hash)",
            "--disable-quic",
        ]
        // No pages and questions of a first start; no requests of the browser's own, as far as flags allow.
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

    static func firefoxSettings(_ proxy: BrowserProxy) -> String {
        let quoted = proxy.host.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
        let settings: [(String, String)] = [
            ("network.proxy.type", "1"),
            ("network.proxy.http", "\"\(quoted)\""), ("network.proxy.http_port", "\(proxy.port)"),
            ("network.proxy.ssl", "\"\(quoted)\""), ("network.proxy.ssl_port", "\(proxy.port)"),
            ("network.proxy.no_proxies_on", "\"\""), ("network.proxy.allow_hijacking_localhost", "true"),
            ("network.proxy.failover_direct", "false"),
            // HTTP/3 and DNS over HTTPS would bypass the proxy.
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
