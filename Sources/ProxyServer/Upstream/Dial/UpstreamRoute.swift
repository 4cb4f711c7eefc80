package import HTTPModel
package import Wire

package enum UpstreamRoute: Sendable, Hashable {
    case direct
    /// A rule or an option excludes this server; `reason` is for the trace.
    case bypassing(reason: String)
    /// A rule or an option selects this proxy; `reason` is for the trace.
    case through(UpstreamProxy, reason: String)

    package var proxy: UpstreamProxy? {
        switch self {
        case .direct, .bypassing: nil
        case .through(let proxy, _): proxy
        }
    }
}

extension UpstreamProxy {
    /// The value of `Proxy-Authorization` (RFC 7617); `nil` without a user.
    package var authorization: String? {
        user.map { BasicCredentials(user: $0.utf8, password: (password ?? "").utf8).fieldValue }
    }

    package func handshake(host: String, port: Int) -> any ProxyHandshake {
        switch kind {
        case .http, .https:
            ConnectHandshake(authority: HostAddress.withPort(host, port), authorization: authorization)
        case .socks5: SOCKS5ClientHandshake(host: host, port: port, user: user, password: password)
        }
    }

    package func failure(_ refusal: ProxyRefusal, to authority: String) -> ExchangeFailure {
        switch refusal {
        case .status(let answer) where answer.status == 407: unauthorized(answer.schemes)
        // tinyproxy's answer to a wrong password.
        case .status(let answer) where answer.status == 401 && user != nil: unauthorized([])
        case .status(let answer): refused(answer, authority)
        case .reply(let code): refused(code, authority)
        case .noMethod where user == nil: unauthorized([])
        case .noMethod:
            failed(
                "takes neither a user with a password nor a client without.",
                hint: "It may know its clients otherwise."
            )
        case .wrongCredentials: unauthorized([])
        case .invalid(let reason): failed("did not answer as a proxy does. \(reason)", hint: kindHint)
        }
    }

    private func failed(_ what: String, hint: String = "") -> ExchangeFailure {
        ExchangeFailure(.upstreamProxy, "The upstream proxy \(self) \(what)", hint: hint)
    }

    private var kindHint: String {
        kind == .socks5 ? "" : "Is it an HTTP proxy? A SOCKS proxy is written socks5://\(host):\(port)."
    }

    var question: String {
        switch kind {
        case .http: "Is it an HTTP proxy, and may this machine use it?"
        case .https: "Does it speak TLS on that port, and may this machine use it?"
        case .socks5: "Is it a SOCKS 5 proxy, and may this machine use it?"
        }
    }

    package func unauthorized(_ schemes: [String]) -> ExchangeFailure {
        let known = schemes.isEmpty || schemes.contains { $0.lowercased() == "basic" }
        guard known else {
            let offered = schemes.prefix(5).joined(separator: ", ")
            let hint = "Ask for a way that takes user and password, or put a proxy between that speaks \(offered)."
            return failed("wants \(offered), and Sluice can only send a user and a password (Basic).", hint: hint)
        }
        let place =
            "Give them with --upstream-proxy \(kind.rawValue)://USER:PASSWORD@\(authority), or in the profile's 'upstream': "
            + "proxy: \"\(kind.rawValue)://USER@\(authority)\" with password-file: FILE."
        guard user != nil else { return failed("wants a user and a password, and none are set.", hint: place) }
        // Clients read this, so it does not contain the user.
        let what = password == nil ? "without a password" : "with this password"
        return failed("does not take the user that is set \(what).", hint: place)
    }

    private var authority: String { HostAddress.withPort(host, port) }

    private func refused(_ answer: ProxyRefusal.HTTPAnswer, _ authority: String) -> ExchangeFailure {
        let reason = answer.reason.isEmpty ? "" : " \(answer.reason)"
        let hint: String =
            switch answer.status {
            case 400, 405, 501: "Is it a proxy? It may be a web server, or not know CONNECT."
            case 403: "Its rules do not allow that server or port; some allow port 443 alone."
            case 502, 503, 504: "The proxy could not reach the server; is the server running, and is its name right?"
            default: ""
            }
        let what = Self.sentence("refused to connect to \(authority): \(answer.status)\(reason)")
        return failed(what + (Self.words(beside: answer).map { " It says: \(Self.sentence($0))" } ?? ""), hint: hint)
    }

    /// A proxy's text if it says more than the status line.
    private static func words(beside answer: ProxyRefusal.HTTPAnswer) -> String? {
        func words(_ text: String) -> [String] {
            text.lowercased().split { !$0.isLetter && !$0.isNumber }.map(String.init)
        }
        let said = words(answer.firstLine).filter { !["http", "error", "\(answer.status)"].contains($0) }
        return said.isEmpty || said == words(answer.reason) ? nil : answer.firstLine
    }

    private static func sentence(_ text: String) -> String {
        text.last.map { ".!?…".contains($0) } == true ? text : text + "."
    }

    private func refused(_ code: UInt8, _ authority: String) -> ExchangeFailure {
        let (reason, hint): (String, String) =
            switch code {
            case 1: ("it failed in general (1)", "The proxy's own log may say more.")
            case 2: ("its rules do not allow it (2)", "")
            case 3: ("the network cannot be reached from there (3)", "")
            case 4: ("the host cannot be reached or found from there (4)", "Is the server's name right?")
            case 5: ("the server refused the connection (5)", "Is the server running, and is the port right?")
            case 6: ("the server is too far away (6, TTL expired)", "")
            case 7: ("it does not know the command CONNECT (7)", "")
            case 8: ("it does not know addresses of this kind (8)", "It may lack IPv6: use the server's name.")
            default: ("with the unknown code \(code)", "")
            }
        return failed("did not connect to \(authority): \(reason).", hint: hint)
    }

    func leadsBack() -> ExchangeFailure {
        let hint = "Name another proxy under 'upstream' or with --upstream-proxy, or let Sluice listen on another port."
        return ExchangeFailure(.loop, "The upstream proxy \(self) leads back to this proxy.", hint: hint)
    }
}
