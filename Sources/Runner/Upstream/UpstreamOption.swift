package import HTTPModel
package import Jobs
package import ProxyServer
import Wire

/// `--upstream-proxy`: the proxy for requests without a rule of the profile.
package struct UpstreamOption: Sendable, Hashable {
    struct Choice: Sendable, Hashable {
        var proxy: UpstreamProxy
        var origin: String
    }

    private(set) var plain: Choice?
    private(set) var secure: Choice?
    package var bypass: [ProxyBypass] = []
    package var bypassesLocalhost = true

    /// A proxy's URL, or `env` for the environment's variables.
    package init(_ text: String, environment: [String: String]) throws(StartError) {
        if text == "env" {
            try read(environment)
            return
        }
        if text == "direct" {
            throw StartError(
                "--upstream-proxy needs a proxy; without it, connections are direct.",
                hint: "Use --upstream-bypass HOST, or 'proxy: direct' in a profile's 'upstream', for single servers.",
                isUsage: true
            )
        }
        let choice = try UpstreamOption.choice(text, "--upstream-proxy")
        (plain, secure) = (choice, choice)
    }

    private static func choice(_ text: String, _ origin: String) throws(StartError) -> Choice {
        do throws(UpstreamProxy.SyntaxError) {
            return Choice(proxy: try UpstreamProxy(text), origin: origin)
        } catch {
            let hint = "Write a proxy such as http://USER:PASSWORD@HOST:3128 or socks5://HOST:1080, or 'env'."
            throw StartError("\(origin) is not a proxy: \(error).", hint: hint, isUsage: origin.hasPrefix("--"))
        }
    }

    /// Reads the variables that curl reads.
    private mutating func read(_ environment: [String: String]) throws(StartError) {
        func variable(_ names: String...) throws(StartError) -> Choice? {
            for name in names {
                guard let text = environment[name], !text.isEmpty else { continue }
                return try UpstreamOption.choice(text, name)
            }
            return nil
        }
        // HTTP_PROXY is not read: in a CGI program, a client can set it with the header field 'Proxy'.
        plain = try variable("http_proxy", "all_proxy", "ALL_PROXY")
        secure = try variable("https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY")
        let list = environment["no_proxy"] ?? environment["NO_PROXY"] ?? ""
        bypass = list.split(whereSeparator: { $0 == "," || $0 == " " }).compactMap { ProxyBypass($0, isSuffix: true) }
    }

    package func route(_ url: RequestURL) -> UpstreamRoute {
        let isPlain = url.scheme == "http" || url.scheme == "ws"
        guard let choice = isPlain ? plain : secure else { return .direct }
        let isBypassed = bypass.matches(url, withLocalhost: bypassesLocalhost)
        if isBypassed { return .bypassing(reason: "bypassed: \(choice.origin)") }
        return .through(choice.proxy, reason: choice.origin)
    }

    /// Without passwords.
    package var text: String {
        let choices = [plain, secure].compactMap { $0 }
        guard let first = choices.first else { return "none is set in the environment; servers are asked directly" }
        let names =
            plain == secure || choices.count == 1
            ? "\(first.proxy)" : "\(choices[0].proxy) for http, \(choices[1].proxy) for https"
        let only = choices.count == 1 ? (plain == nil ? " for https" : " for http") : ""
        return names + only
    }

    /// Throws for a proxy at the address of this Sluice.
    package func check(listeningOn host: String, port: Int) throws(StartError) {
        let listener = Listener(host: host, port: port)
        for choice in [plain, secure].compactMap({ $0 })
        where listener.leads(host: choice.proxy.host, port: choice.proxy.port) {
            let hint = "Name the proxy behind it, or let Sluice listen on another port: --listen 127.0.0.1:0."
            throw StartError("\(choice.origin) names \(choice.proxy), which is this Sluice itself.", hint: hint)
        }
    }
}

extension Listener {
    /// Whether host and port obviously lead to this listener.
    func leads(host name: String, port other: Int) -> Bool {
        let isAnywhere = ["0.0.0.0", "::"].contains(host)
        let isLoopback = isAnywhere || ["localhost", "::1"].contains(host) || host.hasPrefix("127.")
        let isSame = name == host || isLoopback && ["localhost", "127.0.0.1", "::1"].contains(name)
        return port != 0 && port == other && isSame
    }
}
