import ExchangeCore
import HTTPModel
import NIOCore
package import Rules

/// DNS spoofing: connects to the address in a rule instead of the host's address.
///
/// Rules match the host that Sluice is about to look up, after map-remote. `Host`, the TLS server name and the name
/// that the certificate must have do not change. An IP address is never looked up, so no rule applies to it. Tunnels
/// that are not decrypted are spoofed, too.
struct DNSSpoofing: RuleTool {
    struct Rule: ToolRule {
        var heading: RuleHeading
        /// An address without brackets, or a name.
        let address: String
    }

    let rules: RuleList<Rule>

    func handler(for opening: ExchangeOpening) -> (any StageHandler)? {
        rules.askForConditions(opening)
        return RequestHeadHandler { head, exchange in
            let destination = exchange.destination
            guard !exchange.isAnswered, !destination.host.isAddress else { return .forward }
            let (scheme, host) = (destination.scheme, destination.host.lowercased())
            var lookedUp = opening
            lookedUp.url = RequestURL(scheme: scheme, host: host, port: destination.port, path: "")
            lookedUp.head = head
            guard let rule = rules.first(lookedUp)?.rule else { return .forward }
            exchange.destination.address = rule.address
            exchange.fired(rule: rule.heading.name, "connects to \(rule.address) for \(destination.host)")
            return .forward
        }
    }
}

extension DNSSpoofing {
    static let descriptor = ToolDescriptor(
        "dns-spoofing",
        order: 1000,
        title: "DNS spoofing",
        letter: "d",
        directions: [.request],
        takesTunnels: true,
        noun: "a dns-spoofing rule",
        summary: "Connects to other addresses for hosts; Host, SNI and certificate check stay unchanged.",
        scope: .none,
        keys: [
            GrammarKey("host", .locations, example: "\"*.api.example.com\"").means(
                "The hosts, with a port if only that is meant; matched against the host that is about to be looked up, "
                    + "after map-remote."
            ),
            GrammarKey("address", .text, example: "\"127.0.0.1\"")
                .means("Where to connect: an IPv4 or IPv6 address, or another host. The port stays."),
        ],
        example: "dns-spoofing: [ { host: api.example.com, address: \"127.0.0.1\" } ]",
        // The host to look up is known only after the earlier tools have run.
        actsWithoutMatch: true
    )

    /// The path does not count.
    static func concerns(_ rule: Rule, method: String, url: RequestURL) -> Bool {
        guard !url.host.isAddress else { return false }
        let bare = RequestURL(scheme: url.scheme, host: url.host, port: url.port, path: "")
        return rule.heading.scope.matches(method: method, url: bare)
    }

    static func breadths(for url: RequestURL) -> [ExchangeScope] {
        url.host.isAddress ? [] : ExchangeScope.all(for: url).filter { $0 >= .host }
    }

    static func draft(from source: RuleSource, _ breadth: ExchangeScope, at place: Node) -> [Node.Member] {
        [Node.Member("host", place), Node.Member("address", .text("127.0.0.1"))]
    }

    static func rule(_ heading: RuleHeading, _ fields: ProfileFields, _ reader: inout ProfileReader) -> Rule? {
        let hostNode = reader.required(fields, "host", descriptor.noun)
        let addressNode = reader.required(fields, "address", descriptor.noun)
        guard let hostNode, let addressNode, let text = reader.text(addressNode, "address") else { return nil }
        let locations = reader.hosts(hostNode, "dns-spoofing")
        for host in locations.map(\.pattern.host) where host.isAddress {
            reader.lint("\(host) is an address, which is never looked up; use map-remote", at: hostNode)
        }
        guard let address = text.asHost else {
            let hint = RequestURL.splitAuthority(text)?.port == nil ? "" : "; map-remote changes ports"
            reader.error("'\(text.prefix(80))' is neither an address nor the name of a host\(hint)", at: addressNode)
            return nil
        }
        let isDotted = text.utf8.allSatisfy { $0 &- 0x30 < 10 || $0 == UInt8(ascii: ".") }
        if isDotted, HostAddress.canonical(text[...]) != text {
            reader.error("'\(text)' is not an IPv4 address: it needs four numbers from 0 to 255", at: addressNode)
            return nil
        }
        var heading = heading
        heading.scope.locations = locations
        heading.action = "connect to \(address)"
        return Rule(heading: heading, address: address)
    }
}

extension Tool { package static let dnsSpoofing = Tool(DNSSpoofing.self) }
