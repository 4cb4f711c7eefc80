package import HTTPModel

package struct UpstreamRules: Sendable {
    /// The first rule that matches a request decides.
    package struct Rule: Sendable {
        package fileprivate(set) var heading: RuleHeading
        /// The proxy, without a password that is in a file; `nil` to connect directly.
        package fileprivate(set) var proxy: UpstreamProxy?
        /// An absolute path; the password is its first line.
        package fileprivate(set) var passwordFile: String?
        package fileprivate(set) var bypass: [ProxyBypass] = []
        package fileprivate(set) var bypassesLocalhost = true

        /// Whether Sluice connects directly although the rule matches the request.
        package func bypasses(_ url: RequestURL) -> Bool { bypass.matches(url, withLocalhost: bypassesLocalhost) }
    }

    package private(set) var rules: [Rule] = []

    package init() {}

    /// The first enabled rule with a location that matches the URL; `nil` if no rule matches.
    package func rule(for url: RequestURL) -> Rule? {
        rules.first { $0.heading.isEnabled && $0.heading.scope.matches(method: "", url: url) }
    }

    /// `office: a.example: through http://proxy:3128 as user`.
    package var texts: [String] {
        rules.map(\.heading).map { "\($0.name): \($0.scope.text): \($0.action)\($0.isEnabled ? "" : " (disabled)")" }
    }

    /// How a server is reached, in words; `nil` if no rule matches the request.
    func way(to url: RequestURL) -> String? {
        guard let rule = rule(for: url) else { return nil }
        let decider = "'\(rule.heading.name)' under 'upstream', \(rule.heading.place)"
        guard let proxy = rule.proxy else { return "asked directly (\(decider))" }
        return rule.bypasses(url)
            ? "connected directly: the proxy of \(decider) is bypassed" : "asked through \(proxy) (\(decider))"
    }

    /// Rules that are never used, each with the rule that matches in its place.
    var shadows: [Int: Int] { Shadows.find(rules.map(\.heading)) }
}

extension UpstreamRules {
    static let keys: [GrammarKey] = [
        GrammarKey("name", .text, example: "office", fallback: "its number").means("The rule's name in traces."),
        .enabled,
        GrammarKey("proxy", .text, example: "\"http://me@proxy.example:3128\"").means(
            "The proxy, as http://, https:// (TLS with the proxy) or socks5://[USER@]HOST:PORT, or 'direct' for none. Put its password into a file, because sessions contain the profile."
        ),
        GrammarKey("password-file", .path, example: "~/.proxy-password", fallback: "no password")
            .means("The file whose first line is the password of the proxy's user."),
        GrammarKey("only", .locations, fallback: "every server")
            .example("[ \"*.example.com\", \"https://api.example.org\" ]")
            .means("The requests, by their final URL, after map-remote and rewrite."),
        GrammarKey("except", .locations, example: "[ \"*.internal.example\" ]", fallback: "none")
            .means("Exceptions; a later rule may match them."),
        GrammarKey("bypass", .list(.text), example: "[ \"*.corp.example\", 10.0.0.0/8 ]", fallback: "none").means(
            "Servers to connect to directly: hosts, '*.SUFFIX', '.SUFFIX' (includes the name itself), addresses, networks; hosts may have a port."
        ),
        GrammarKey("bypass-localhost", .flag, example: "false", fallback: "true")
            .means("Whether to connect directly to localhost, names below it and loopback addresses."),
    ]

    /// Adds the rules of one file; rules of several files are in the order of the files.
    mutating func add(_ node: Node, _ reader: inout ProfileReader) {
        for entry in node.members {
            // An entry that is only a proxy is a rule for every request.
            let rule = entry.mapping == nil ? self.rule(of: entry, &reader) : self.rule(in: entry, &reader)
            if let rule { rules.append(rule) }
        }
    }

    private func rule(of node: Node, _ reader: inout ProfileReader) -> Rule? {
        guard let text = reader.text(node, "upstream") else { return nil }
        return rule(text, at: node, RuleHeading(name: "rule \(rules.count + 1)", place: reader.place(node)), &reader)
    }

    private func rule(in node: Node, _ reader: inout ProfileReader) -> Rule? {
        guard let fields = reader.fields(node, "an upstream rule", keys: UpstreamRules.keys) else { return nil }
        var heading = reader.heading(fields, number: rules.count + 1)
        heading.scope.locations = fields["only"].map { reader.locations($0) }
        heading.scope.exceptions = fields["except"].map { reader.locations($0) } ?? []
        guard let proxyNode = reader.required(fields, "proxy", "an upstream rule"),
            let text = reader.text(proxyNode, "proxy"), var rule = rule(text, at: proxyNode, heading, &reader)
        else { return nil }
        rule.bypassesLocalhost = reader.flag(fields, "bypass-localhost") ?? true
        for entry in fields["bypass"]?.members ?? [] {
            guard let text = reader.text(entry, "bypass") else { continue }
            if let bypass = ProxyBypass(text) {
                rule.bypass.append(bypass)
            } else {
                let forms = "a host, *.SUFFIX, an address, or a network such as 10.0.0.0/8"
                reader.error("'\(text.prefix(60))' is not one of: \(forms)", at: entry)
            }
        }
        if let node = fields["password-file"], let path = reader.path(node, "password-file") {
            if rule.proxy?.user == nil {
                reader.error("a password needs a user: write \(example(rule.proxy)) under 'proxy'", at: node)
            }
            rule.passwordFile = path
        }
        if !rule.bypass.isEmpty {
            rule.heading.action += ", but not to \(rule.bypass.map(\.description).joined(separator: ", "))"
        }
        if rule.proxy != nil, !rule.bypassesLocalhost { rule.heading.action += ", to localhost too" }
        return rule
    }

    private func example(_ proxy: UpstreamProxy?) -> String {
        "\(proxy?.kind.rawValue ?? "http")://USER@\(proxy?.host ?? "HOST"):\(proxy?.port ?? 3_128)"
    }

    private func rule(_ text: String, at node: Node, _ heading: RuleHeading, _ reader: inout ProfileReader) -> Rule? {
        var rule = Rule(heading: heading)
        if text == "direct" {
            rule.heading.action = "directly"
            return rule
        }
        if text == "env" {
            let instead = "start with '--upstream-proxy env' for requests without a rule, or name the proxy"
            reader.error("'env' depends on the environment and is not for profiles: \(instead)", at: node)
            return nil
        }
        do throws(UpstreamProxy.SyntaxError) {
            let proxy = try UpstreamProxy(text)
            if proxy.password != nil {
                let hint = "sessions contain the profile; put the password into a file: password-file: FILE"
                reader.error("'proxy' contains a password; \(hint)", at: node)
                return nil
            }
            rule.proxy = proxy
            rule.heading.action = "through \(proxy)\(proxy.user.map { " as \($0)" } ?? "")"
            return rule
        } catch {
            reader.error("'proxy' must be a proxy or 'direct': \(error)", at: node)
            return nil
        }
    }
}
