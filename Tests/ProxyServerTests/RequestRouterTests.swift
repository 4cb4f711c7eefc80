import ExchangeCore
import HTTPModel
import Logging
import NIOCore
import Synchronization
import Testing
import Wire

@testable import ProxyServer

@Suite("What a request's target means")
struct RequestRouterTests {
    private let shared: SharedState

    init() throws {
        let configuration = ProxyConfiguration(authority: try CertificateAuthority.generate(label: "test"))
        shared = try SharedState(configuration, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        let address = try SocketAddress(ipAddress: "127.0.0.1", port: 8_080)
        shared.ownAddresses.withLock { $0 = [address] }
    }

    /// Routes one request and says in one line what came of it: where to, as which URL, with which target and Host.
    private func route(
        _ method: String,
        _ target: String,
        host: String? = "h.example",
        in scope: RequestScope = .proxy
    ) -> String {
        var head = RequestHead(method: method, target: target, fields: host.map { [("Host", $0)] } ?? [])
        let router = RequestRouter(scope: scope, ownPort: 8_080, shared: shared)
        switch router.route(&head, isConnect: method == "CONNECT") {
        case .forward(let url, let to, let remarks):
            let remark = remarks.map { " | \($0.prefix { $0 != "," })" }.joined()
            let name = (to.serverName.map { " as \($0)" } ?? "") + (to.address.map { " at \($0)" } ?? "")
            return
                "\(to.scheme) \(to.authority)\(name) | \(url) | \(head.target) | \(head.fields.value(of: .host) ?? "-")\(remark)"
        case .own(let url): return "own \(url.path)"
        case .connect(let tunnel):
            return "connect \(tunnel.host) \(tunnel.port)" + (tunnel.address.map { " at \($0)" } ?? "")
                + (tunnel.isUnnamed ? " by its address" : "")
        case .invalid(_, let status): return status == 400 ? "invalid" : "invalid \(status)"
        }
    }

    @Test(
        "On the proxy's own port",
        arguments: [
            ("GET", "http://a.example/x?y", "http a.example:80 | http://a.example/x?y | /x?y | a.example"),
            ("GET", "http://a.example:81", "http a.example:81 | http://a.example:81/ | / | a.example:81"),
            ("GET", "HTTP://A.example/X", "http a.example:80 | http://a.example/X | /X | a.example"),
            ("GET", "http://a.example?q", "http a.example:80 | http://a.example/?q | /?q | a.example"),
            ("GET", "http://a.example/x#/../y", "http a.example:80 | http://a.example/x#/../y | /x#/../y | a.example"),
            ("GET", "https://a.example/x", "https a.example:443 | https://a.example/x | /x | a.example"),
            ("GET", "http://[::1]:81/", "http [::1]:81 | http://[::1]:81/ | / | [::1]:81"),
            ("GET", "http://a.example:/x", "http a.example:80 | http://a.example/x | /x | a.example"),
            ("OPTIONS", "http://a.example", "http a.example:80 | http://a.example/ | * | a.example"),
            ("GET", "/x", "http h.example:80 | http://h.example/x | /x | h.example"),
            ("GET", "http://sluice.proxy/ca.pem", "own /ca.pem"),
            ("GET", "http://localhost:8080/", "own /"),
            ("CONNECT", "a.example:443", "connect a.example 443"),
            ("CONNECT", "[::1]:443", "connect ::1 443 by its address"),
            ("CONNECT", "a.example", "invalid"),
            ("CONNECT", "..:80", "invalid"),
            ("CONNECT", ".:80", "invalid"),
            ("CONNECT", "a..example:443", "invalid"),
            ("CONNECT", "A.example.:443", "connect a.example 443 at a.example."),
            ("GET", "http://a..example/", "invalid"),
            ("GET", "http://.a.example/", "invalid"),
            (
                "GET", "http://u@A.example.:81/x",
                "http a.example:81 at a.example. | http://a.example:81/x | /x | a.example.:81"
            ),
            ("GET", "http://localhost.:8080/", "own /"),
            ("GET", "http://0x7f.1:8080/", "own /"),
            ("GET", "http://0177.1/", "http 127.0.0.1:80 | http://127.0.0.1/ | / | 127.0.0.1"),
            ("CONNECT", "[::ffff:10.0.0.1]:443", "connect 10.0.0.1 443 by its address"),
            ("CONNECT", "127.1.:443", "connect 127.0.0.1 443 by its address"),
            ("GET", "ftp://a.example/", "invalid"),
            ("GET", "x", "invalid"),
        ]
    )
    func proxyPort(method: String, target: String, expected: String) { #expect(route(method, target) == expected) }

    @Test("A Host with the root's dot names the same host, and goes out as it came; one of empty labels is refused")
    func rootDot() {
        #expect(
            route("GET", "/x", host: "H.example.")
                == "http h.example:80 at h.example. | http://h.example/x | /x | H.example."
        )
        #expect(
            route("GET", "http://a.example./x", host: "a.example.")
                == "http a.example:80 at a.example. | http://a.example/x | /x | a.example."
        )
        for host in ["..", "a..b", ".a", "a!b"] { #expect(route("GET", "/x", host: host) == "invalid") }
        #expect(route("GET", "/x", host: "") == "own /x")
        let tunnel = RequestScope.tunnel(
            .init(scheme: "https", host: "a.example", port: 443, address: "a.example.")
        )
        #expect(
            route("GET", "/x", host: "a.example.", in: tunnel)
                == "https a.example:443 at a.example. | https://a.example/x | /x | a.example."
        )
    }

    @Test("Without Host, a path is a page of the proxy's own; so is one for its own address")
    func own() {
        #expect(route("GET", "/x", host: nil) == "own /x")
        #expect(route("GET", "/x", host: "127.0.0.1:8080") == "own /x")
        #expect(
            route("GET", "/x", host: "127.0.0.1:81") == "http 127.0.0.1:81 | http://127.0.0.1:81/x | /x | 127.0.0.1:81"
        )
    }

    @Test("Inside a tunnel the connection goes where CONNECT said, and the URL has the name that the client means")
    func tunnel() {
        let tunnel = RequestScope.tunnel(.init(scheme: "https", host: "10.0.0.1", port: 443, serverName: "a.example"))
        #expect(
            route("GET", "/x", host: "a.example", in: tunnel)
                == "https 10.0.0.1:443 as a.example | https://a.example/x | /x | a.example"
        )
        #expect(
            route("GET", "/x", host: nil, in: tunnel) == "https 10.0.0.1:443 as a.example | https://10.0.0.1/x | /x | -"
        )
        #expect(
            route("GET", "/x", host: "a.example:81", in: tunnel)
                == "https 10.0.0.1:443 as a.example | https://a.example/x | /x | a.example:81"
        )
        #expect(route("CONNECT", "b.example:443", in: tunnel) == "invalid")
        let plain = RequestScope.tunnel(.init(scheme: "http", host: "a.example", port: 8_000))
        #expect(
            route("GET", "/x", host: "a.example:8000", in: plain)
                == "http a.example:8000 | http://a.example:8000/x | /x | a.example:8000"
        )
    }

    @Test("By name it is the tunnel's host that a request is for, and what names another is remarked on")
    func namedTunnel() {
        let plain = RequestScope.tunnel(.init(scheme: "http", host: "two.test", port: 9_100, address: "two.test."))
        let to = "http two.test:9100 at two.test. | http://two.test:9100/x | /x |"
        for host in ["two.test:9100", "two.test", "TWO.test.:9100", "Two.Test."] {
            #expect(route("GET", "/x", host: host, in: plain) == "\(to) \(host)")
        }
        #expect(route("GET", "/x", host: nil, in: plain) == "\(to) -")
        for host in ["three.test:9100", "three.test", "10.0.0.1:9100", "sluice.proxy:9100"] {
            let name = host.prefix { $0 != ":" }
            #expect(route("GET", "/x", host: host, in: plain) == "\(to) \(host) | the request names \(name)")
        }
        #expect(
            route("GET", "http://three.test:9100/x", host: "three.test:9100", in: plain)
                == "\(to) three.test:9100 | the request names three.test"
        )
        let secure = RequestScope.tunnel(.init(scheme: "https", host: "two.test", port: 443, serverName: "three.test"))
        #expect(
            route("GET", "http://two.test:443/x", host: "two.test:443", in: secure)
                == "https two.test:443 as three.test | https://two.test/x | /x | two.test:443 | the client's TLS names three.test"
        )
    }

    @Test("In a tunnel to an address it is the name in TLS, else that in Host; and the scheme is the tunnel's")
    func addressedTunnel() {
        let secure = RequestScope.tunnel(.init(scheme: "https", host: "a.example", port: 8_443, address: "10.0.0.1"))
        let to = "https a.example:8443 at 10.0.0.1 | https://a.example:8443/x | /x |"
        for host in ["a.example:8443", "a.example"] {
            #expect(route("GET", "/x", host: host, in: secure) == "\(to) \(host)")
        }
        for host in ["b.example:8443", "b.example", "10.0.0.1:8443"] {
            let name = host.prefix { $0 != ":" }
            #expect(route("GET", "/x", host: host, in: secure) == "\(to) \(host) | the request names \(name)")
        }
        let plain = RequestScope.tunnel(.init(scheme: "http", host: "10.0.0.1", port: 8_000))
        for host in ["b.example:8000", "b.example", "b.example:81", "B.example.:81"] {
            let expected = "http 10.0.0.1:8000 | http://b.example:8000/x | /x | \(host)"
            #expect(route("GET", "/x", host: host, in: plain) == expected)
        }
        let unnamed = RequestScope.tunnel(.init(scheme: "https", host: "10.0.0.1", port: 8_443))
        for (scope, scheme, port) in [(plain, "http", 8_000), (unnamed, "https", 8_443)] {
            for named in ["http", "https"] {
                let url = "\(scheme)://b.example:\(port)/x"
                #expect(
                    route("GET", "\(named)://b.example:\(port)/x", host: "b.example:\(port)", in: scope)
                        == "\(scheme) 10.0.0.1:\(port) | \(url) | /x | b.example:\(port)"
                )
            }
        }
    }

    @Test("Inside a tunnel nothing goes elsewhere: the absolute form is for its target, or refused")
    func misdirected() {
        let scopes: [RequestScope] = [
            .tunnel(.init(scheme: "http", host: "a.example", port: 80)),
            .tunnel(.init(scheme: "http", host: "10.0.0.1", port: 80)),
            .tunnel(.init(scheme: "https", host: "a.example", port: 443)),
            .tunnel(.init(scheme: "https", host: "a.example", port: 443, address: "10.0.0.1")),
        ]
        for scope in scopes {
            for target in [
                "http://127.0.0.1:8080/", "http://b.example:81/x", "wss://b.example:8443/", "x", "ftp://a.example/",
            ] {
                #expect(route("GET", target, in: scope).hasPrefix("invalid"), "\(target)")
            }
            let port = scope.tunnel?.port ?? 0
            let forwarded = route("GET", "http://127.0.0.1:\(port)/x", host: "127.0.0.1:\(port)", in: scope)
            #expect(forwarded.contains(" a.example:") || forwarded.contains(" 10.0.0.1:"), "\(forwarded)")
        }
        #expect(route("GET", "http://a.example:81/", in: scopes[0]) == "invalid 421")
    }

    @Test("A listener that stands in for a server asks that server, whatever the client calls it")
    func reverse() {
        let api = RequestScope.reverse(ReverseTarget(.https, host: "api.example", port: 443))
        for host in ["localhost:8080", "h.example", "api.example", nil] {
            let expected = "https api.example:443 | https://api.example/x?y | /x?y | \(host ?? "-")"
            #expect(route("GET", "/x?y", host: host, in: api) == expected)
        }
        let plain = RequestScope.reverse(ReverseTarget(.http, host: "::1", port: 3_000))
        #expect(route("OPTIONS", "*", host: "a", in: plain) == "http [::1]:3000 | http://[::1]:3000 | * | a")
        let tls = RequestScope.reverse(ReverseTarget(.tls, host: "api.example", port: 8_443))
        #expect(
            route("GET", "/x", host: "a", in: tls) == "https api.example:8443 | https://api.example:8443/x | /x | a"
        )
    }

    @Test("What is asked of it as of a proxy is refused, but for the server's own URLs")
    func reverseAsProxy() {
        let api = RequestScope.reverse(ReverseTarget(.https, host: "api.example", port: 443))
        #expect(route("CONNECT", "api.example:443", in: api) == "invalid")
        #expect(route("GET", "http://other.example/x", in: api) == "invalid")
        #expect(route("GET", "http://api.example/x", in: api) == "invalid")
        #expect(route("GET", "x", in: api) == "invalid")
        let expected = "https api.example:443 | https://api.example/x | /x | h.example"
        #expect(route("GET", "https://api.example/x", in: api) == expected)
        #expect(route("GET", "http://localhost:8080/x", in: api) == expected)
    }

    @Test("Where nothing can be asked for, the proxy's own pages can")
    func nowhere() {
        let nowhere = RequestScope.nowhere("This is not for you.")
        #expect(route("GET", "/ca.pem", host: "127.0.0.1:8080", in: nowhere) == "own /ca.pem")
        #expect(route("GET", "http://sluice.proxy/ca.pem", in: nowhere) == "own /ca.pem")
        #expect(route("GET", "/other", host: "127.0.0.1:8080", in: nowhere) == "invalid")
        #expect(route("GET", "/", host: "a.example", in: nowhere) == "invalid")
        #expect(route("GET", "http://a.example/", in: nowhere) == "invalid")
        #expect(route("GET", "/", host: nil, in: nowhere) == "invalid")
        #expect(route("CONNECT", "a.example:443", in: nowhere) == "invalid")
    }
}
