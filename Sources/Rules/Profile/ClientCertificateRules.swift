import HTTPModel

/// `client-certificate:`, the certificates that Sluice sends to servers that request one.
package struct ClientCertificateRules: Sendable {
    /// The first rule that matches a server decides.
    package struct Rule: Sendable {
        let heading: RuleHeading
        /// `nil` for every port that the hosts allow.
        fileprivate let port: Int?
        /// The file with the certificate, its issuers', and perhaps the key: PEM or PKCS #12, as an absolute path.
        package let file: String
        /// The PEM file with the key, if it is separate.
        package let keyFile: String?
        /// The password is its first line.
        package let passwordFile: String?

        package var name: String { heading.name }
        package var place: ProfilePlace { heading.place }
        package var isEnabled: Bool { heading.isEnabled }
        var hosts: [Location] { heading.scope.locations ?? [] }
    }

    package private(set) var rules: [Rule] = []

    package init() {}

    /// The first rule for a server, by the name in the request.
    package func index(host: String, port: Int) -> Int? {
        let url = RequestURL(scheme: "tunnel", host: host, port: port, path: "")
        return rules.firstIndex { rule in
            rule.isEnabled && (rule.port ?? port) == port && rule.hosts.contains { $0.matches(url) }
        }
    }

    package var texts: [String] {
        rules.map { rule in
            let port = rule.port.map { " on port \($0)" } ?? ""
            return "\(rule.name): \(rule.heading.scope.text)\(port): \(rule.file)\(rule.isEnabled ? "" : " (disabled)")"
        }
    }

    /// Rules that are never used, each with the rule that matches in its place.
    var shadows: [Int: Int] {
        Shadows.find(rules.map(\.heading)).filter { [nil, rules[$0.key].port].contains(rules[$0.value].port) }
    }
}

extension ClientCertificateRules {
    static let keys: [GrammarKey] = [
        GrammarKey("name", .text, example: "staging", fallback: "its number")
            .means("The certificate's name in exchanges."),
        .enabled,
        GrammarKey("host", .list(.text), example: "\"*.api.example.com\"")
            .means("The servers that may receive it: a host, with * and port allowed, or a list of hosts."),
        GrammarKey("port", .number(1...65_535, unit: ""), example: "443", fallback: "every port")
            .means("The port of these servers, if 'host' has none."),
        GrammarKey("file", .path, example: "client.p12")
            .means("The certificate with its key: PKCS #12, or PEM with both. Instead: 'certificate' and 'key'."),
        GrammarKey("certificate", .path, example: "client.pem", fallback: "what 'file' has")
            .means("The certificate in PEM, followed by its issuers' if the server needs them."),
        GrammarKey("key", .path, example: "client.key", fallback: "what 'file' has")
            .means("The key of 'certificate', in PEM."),
        GrammarKey("password-file", .path, fallback: "asked for at the start, on a terminal")
            .example("~/.client-password").means("The file whose first line is the password of 'file' or 'key'."),
    ]

    /// Adds the rules of one file; rules of several files are in the order of the files.
    mutating func add(_ node: Node, _ reader: inout ProfileReader) {
        for entry in node.members { rule(entry, &reader).map { rules.append($0) } }
    }

    private func rule(_ node: Node, _ reader: inout ProfileReader) -> Rule? {
        let what = "a client-certificate rule"
        guard let fields = reader.fields(node, what, keys: ClientCertificateRules.keys) else { return nil }
        var heading = reader.heading(fields, number: rules.count + 1)
        let hosts = reader.required(fields, "host", what).map { reader.hosts($0, "client-certificate") }
        let port = reader.integer(fields, "port")
        if let node = fields["port"], let host = hosts?.first(where: { !$0.pattern.port.isEmpty }) {
            reader.error("'\(host)' has a port; remove this one or the one in 'host'", at: node)
        }
        func path(_ key: String) -> String? { fields[key].flatMap { reader.path($0, key) } }
        let (file, certificate, key) = (path("file"), path("certificate"), path("key"))
        let passwordFile = path("password-file")
        switch (fields["file"], fields["certificate"], fields["key"]) {
        case (nil, nil, _): reader.error("\(what) needs 'file', or 'certificate' and 'key'", at: node)
        case (nil, _?, nil): reader.error("'certificate' needs 'key'; for a file with both, use 'file'", at: node)
        case (_?, let other?, _), (_?, _, let other?):
            reader.error("'file' contains certificate and key; remove this or 'file'", at: other)
        default: break
        }
        guard let hosts, let file = file ?? certificate else { return nil }
        heading.scope.locations = hosts
        return Rule(heading: heading, port: port, file: file, keyFile: key, passwordFile: passwordFile)
    }
}
