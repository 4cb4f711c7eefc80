import ProxyServer
import Testing

@Suite("Modes of listening, as they are written")
struct ListenerModeTests {
    private static func read(_ text: String) -> String {
        do throws(ListenerModeError) {
            let listener = try Listener(reading: text, regular: Listener(host: "10.0.0.1", port: 9_000))
            return "\(listener.mode) on \(listener.place)"
        } catch {
            return "error: \(error)"
        }
    }

    @Test(
        "Mode, host and port are read, with the defaults of mitmproxy",
        arguments: [
            ("regular", "regular on 10.0.0.1:9000"),
            ("regular@8081", "regular on 127.0.0.1:8081"),
            ("Regular@0.0.0.0:0", "regular on 0.0.0.0:0"),
            ("socks5", "socks5 on 127.0.0.1:1080"),
            ("socks5@[::1]:1081", "socks5 on [::1]:1081"),
            ("socks5@localhost:1081", "socks5 on localhost:1081"),
            ("reverse:https://api.example.com@8443", "reverse:https://api.example.com on 127.0.0.1:8443"),
            ("reverse:https://API.example.com:443/", "reverse:https://api.example.com on 127.0.0.1:8080"),
            ("reverse:http://api.example.com.:8000@[::]:80", "reverse:http://api.example.com:8000 on [::]:80"),
            ("reverse:http://[2001:db8::1]:3000", "reverse:http://[2001:db8::1]:3000 on 127.0.0.1:8080"),
            ("reverse:http://[2001:db8::1]", "reverse:http://[2001:db8::1] on 127.0.0.1:8080"),
            ("reverse:https://Bücher.example@8443", "reverse:https://xn--bcher-kva.example on 127.0.0.1:8443"),
            ("reverse:tcp://db.example:5432@5432", "reverse:tcp://db.example:5432 on 127.0.0.1:5432"),
            ("reverse:TLS://mail.example:993@0.0.0.0:1993", "reverse:tls://mail.example:993 on 0.0.0.0:1993"),
        ]
    )
    func right(text: String, expected: String) { #expect(Self.read(text) == expected) }

    #if os(Linux)
    @Test("Transparent is there on Linux")
    func transparent() { #expect(Self.read("transparent@0.0.0.0:8080") == "transparent on 0.0.0.0:8080") }
    #endif

    @Test(
        "What is wrong is refused with what to write",
        arguments: [
            ("", "There is no mode ''; there are regular, reverse:URL, socks5 and transparent."),
            ("regluar", "There is no mode 'regluar'"),
            ("upstream:http://proxy:3128", "--upstream-proxy URL"),
            ("wireguard", "sluice transparent --print"),
            ("local:curl", "sluice run -- COMMAND"),
            ("dns", "dns-spoofing"),
            ("socks4", "--mode socks5"),
            ("https://api.example.com", "--mode reverse:https://HOST:PORT"),
            ("regular:x", "has no value after a colon"),
            ("reverse", "needs the server's URL"),
            ("reverse:", "needs the server's URL"),
            ("reverse:api.example.com", "is not the URL of a server"),
            ("reverse:ftp://api.example.com", "not 'ftp'"),
            ("reverse:https://", "is not a host"),
            ("reverse:https://a b", "is not a host"),
            ("reverse:https://api.example.com:0", "is not a host"),
            ("reverse:https://api.example.com/v1", "remove '/v1'"),
            ("reverse:https://api.example.com?x", "remove '?x'"),
            ("reverse:https://u:p@api.example.com@8080", "cannot have a user"),
            ("reverse:https://u:p@api.example.com", "is not a host"),
            ("reverse:tcp://db.example", "has no port"),
            ("reverse:tls://mail.example@993", "has no port"),
            ("socks5@", "not an address to listen on"),
            ("socks5@x", "not an address to listen on"),
            ("socks5@65536", "not an address to listen on"),
            ("socks5@-1", "not an address to listen on"),
            ("socks5@::1:1080", "not an address to listen on"),
            ("socks5@[]:1080", "not an address to listen on"),
            ("socks5@127.0.0.1:", "not an address to listen on"),
            ("socks5@99999999999999999999", "not an address to listen on"),
        ]
    )
    func wrong(text: String, words: String) {
        let said = Self.read(text)
        #expect(said.hasPrefix("error: ") && said.contains(words), "\(said)")
    }

    @Test("Only loopback is for this machine alone")
    func loopback() {
        for host in ["127.0.0.1", "127.9.9.9", "localhost", "::1"] {
            #expect(Listener(host: host).isLoopback, "\(host)")
        }
        for host in ["0.0.0.0", "::", "10.0.0.1", "127.0.0.1.example.com", "2001:db8::1"] {
            #expect(!Listener(host: host).isLoopback, "\(host)")
        }
    }
}
