import HTTPModel
import Wire

extension Listener {
    /// Reads `MODE[@[HOST:]PORT]` like mitmproxy: `regular`, `socks5@1081`, `transparent@0.0.0.0:8080`,
    /// `reverse:https://api.example.com@[::1]:8443`. The argument `regular` is used for `regular` without an address.
    package init(reading text: String, regular: Listener = Listener()) throws(ListenerModeError) {
        // The last @ begins the address: an earlier one belongs to user information.
        let at = text.lastIndex(of: "@")
        let mode = try ListenerMode(reading: at.map { text[..<$0] } ?? text[...])
        guard let at else {
            self = mode == .regular ? regular : Listener(mode)
            return
        }
        let place = text[text.index(after: at)...]
        guard let (host, port) = Listener.place(String(place)) else {
            throw ListenerModeError(
                "'\(place.prefix(80))' behind the @ of '\(text.prefix(80))' is not an address to listen on; write a port, or an "
                    + "address and a port: @8443, @0.0.0.0:8443, @[::1]:8443."
            )
        }
        self.init(mode, host: host ?? "127.0.0.1", port: port)
    }

    /// Reads `[HOST:]PORT`; `nil` for anything else.
    package static func place(_ text: String) -> (host: String?, port: Int)? {
        let colon = text.lastIndex(of: ":")
        let digits = colon.map { text[text.index(after: $0)...] } ?? text[...]
        guard !digits.isEmpty, digits.utf8.count <= 5, digits.utf8.allSatisfy({ $0 &- 0x30 < 10 }),
            let port = Int(digits), (0...65_535).contains(port)
        else { return nil }
        guard let colon, colon > text.startIndex else { return (nil, port) }
        var host = text[..<colon]
        if host.first == "[", host.last == "]", host.count > 2 {
            host = host.dropFirst().dropLast()
        } else if host.contains(where: { ":[]".contains($0) }) {
            // An IPv6 address without brackets: it is ambiguous which colon begins the port.
            return nil
        }
        return (String(host), port)
    }
}

extension ListenerMode {
    private static let all = "regular, reverse:URL, socks5 and transparent"

    init(reading text: Substring) throws(ListenerModeError) {
        let colon = text.firstIndex(of: ":")
        let name = (colon.map { text[..<$0] } ?? text).lowercased()
        let value = colon.map { text[text.index(after: $0)...] }
        if name == "reverse" {
            self = .reverse(try ReverseTarget(reading: value ?? ""))
            return
        }
        guard let mode = ListenerMode.plain[name] else { throw ListenerMode.unknown(name) }
        if value != nil {
            throw ListenerModeError(
                "The mode \(name) has no value after a colon; the address to listen on follows an @."
            )
        }
        #if !os(Linux)
        if mode == .transparent {
            throw ListenerModeError("The mode transparent works only on Linux, whose kernel redirects connections.")
        }
        #endif
        self = mode
    }

    private static let plain: [String: ListenerMode] = [
        "regular": .regular, "socks5": .socks5, "transparent": .transparent,
    ]

    /// The error for an unknown mode; for a mode of other proxies, it says what to use instead.
    private static func unknown(_ name: String) -> ListenerModeError {
        let instead: String? =
            switch name {
            case "upstream": "--upstream-proxy URL sets another proxy to connect through, for every mode"
            case "socks", "socks4": "only version 5 of SOCKS is supported: --mode socks5"
            case "local": "for programs of this machine use 'sluice run -- COMMAND', or --mode transparent"
            case "wireguard", "tun":
                "for devices of a network use --mode transparent on their gateway ('sluice transparent --print')"
            case "dns": "for names use the tool dns-spoofing of a profile, which acts on Sluice's connections"
            case "http", "https", "tcp", "tls":
                "for one server use --mode reverse:\(name)://HOST:PORT"
            default: nil
            }
        guard let instead else {
            return ListenerModeError("There is no mode '\(name.prefix(40))'; there are \(all).")
        }
        return ListenerModeError("There is no mode \(name); \(instead).")
    }
}

extension ReverseTarget {
    /// Reads the URL of a server: a scheme, a host, and a port if the scheme has no default.
    init(reading text: Substring) throws(ListenerModeError) {
        let example = "for example reverse:https://api.example.com"
        guard let mark = text.firstRange(of: "://") else {
            throw ListenerModeError(
                text.isEmpty
                    ? "The mode reverse needs the server's URL, \(example)."
                    : "'\(text.prefix(80))' is not the URL of a server; write http://, https://, tcp:// or tls://, \(example)."
            )
        }
        let scheme = text[..<mark.lowerBound].lowercased()
        guard let transport = Transport(rawValue: scheme) else {
            throw ListenerModeError("The mode reverse supports http, https, tcp and tls, not '\(scheme.prefix(20))'.")
        }
        var rest = text[mark.upperBound...]
        if rest.last == "/" { rest.removeLast() }
        if rest.contains("@") {
            throw ListenerModeError("The server of the mode reverse cannot have a user; '\(text.prefix(80))' has one.")
        }
        if let slash = rest.firstIndex(where: { "/?#".contains($0) }) {
            throw ListenerModeError(
                "The mode reverse is for a whole server: remove '\(rest[slash...].prefix(60))'. The tool map-remote "
                    + "of a profile adds a path before the client's."
            )
        }
        guard let (host, port) = RequestURL.splitAuthority(rest) else {
            throw ListenerModeError("'\(rest.prefix(80))' is not a host, nor a host and a port, \(example).")
        }
        guard let port = port ?? RequestURL.defaultPort(of: scheme) else {
            throw ListenerModeError(
                "\(scheme)://\(rest) has no port, and \(scheme) has no default: \(scheme)://\(rest):PORT."
            )
        }
        self.init(transport, host: HostName.inASCII(host), port: port)
    }
}
