import Foundation
import HTTPModel
import Support
import Testing

extension EndToEnd {
    @Suite("What the proxy says of itself")
    struct ProxyPages {
        @Test("Its pages answer at its own address, at sluice.proxy through it, and inside its TLS")
        func pages() async throws {
            let sluice = try await SluiceProcess()
            let own = sluice.url
            let direct = ["--proxy", "", "-i"]
            let ways: [[String]] = [
                direct + [own + "/"],
                direct + ["http://localhost:\(sluice.port)/"],
                ["-i", "http://sluice.proxy/"],
                ["-i", own + "/"],
                ["-i", "https://sluice.proxy/"],
                direct + ["https://127.0.0.1:\(sluice.port)/"],
            ]
            for way in ways {
                let outcome = try await sluice.curl(way)
                #expect(outcome.status == 0, "\(way): \(outcome.errors)")
                // Under TLS curl speaks HTTP/2, which has neither a reason phrase nor capital letters.
                let isHTTP2 = way.last?.hasPrefix("https") == true
                #expect(outcome.text.contains(isHTTP2 ? "HTTP/2 200 \r\n" : "HTTP/1.1 200 OK\r\n"), "\(way)")
                #expect(outcome.text.lowercased().contains("content-type: text/html; charset=utf-8\r\n"))
                #expect(outcome.text.contains("Sluice HTTP debugging proxy"))
            }
            let shown = try await SluiceProcess.run(["ca", "show"], scratch: sluice.scratch).text
            let fingerprint = shown.split(separator: "\n").last?.split(separator: " ").last.map(String.init) ?? "?"
            #expect(try await sluice.get("http://sluice.proxy/").contains(fingerprint))
            #expect(
                try await sluice.get("-o", "/dev/null", "-w", "%{http_code}", "http://sluice.proxy/nothing") == "404"
            )
            #expect(try await sluice.get("-d", "x", "-w", "%{http_code}", "http://sluice.proxy/").hasSuffix("405"))
            #expect(try await sluice.get("-I", "http://sluice.proxy/").contains("200 OK"))
            #expect(try sluice.records().isEmpty, "the proxy's own pages are nobody's traffic")
        }

        @Test("The authority can be taken along as PEM, as DER and as a profile, and is the one that signs")
        func authority() async throws {
            let sluice = try await SluiceProcess()
            let pem = try await sluice.get("-i", "http://sluice.proxy/ca.pem")
            #expect(pem.contains("Content-Type: application/x-pem-file\r\n"))
            let der = try await sluice.curl(["http://sluice.proxy/ca.der"]).output
            let file = try sluice.scratch.write("ca.der", der)
            let converted = try await Program.require("openssl", ["x509", "-inform", "der", "-in", file]).text
            #expect(pem.hasSuffix(converted))
            #expect(latin1(sluice.scratch.bytes("config/sluice/ca-cert.pem")) == converted)
            let path = try await SluiceProcess.run(["ca", "path"], scratch: sluice.scratch).text
            #expect(path == sluice.authority + "\n")
            let profile = try await sluice.get("-i", "http://sluice.proxy/ca.mobileconfig")
            #expect(profile.contains("Content-Type: application/x-apple-aspen-config\r\n"))
            #expect(profile.contains("com.apple.security.root"))
            #expect(
                profile.components(separatedBy: .whitespacesAndNewlines).joined().contains(
                    Data(der).base64EncodedString()
                )
            )
        }

        @Test("Another site's page may not read them, and nothing that it sends changes anything")
        func crossSite() async throws {
            let sluice = try await SluiceProcess()
            let foreign = [
                "--proxy", "", "-i", "-H", "Origin: https://evil.example", "-H", "Sec-Fetch-Site: cross-site",
            ]
            for path in ["/", "/ca.pem", "/nothing"] {
                let text = try await sluice.curl(foreign + [sluice.url + path]).text.lowercased()
                #expect(text.hasPrefix("http/1.1 "))
                #expect(!text.contains("access-control-"), "\(text)")
            }
            for method in ["POST", "PUT", "DELETE", "OPTIONS", "PATCH"] {
                let text = try await sluice.curl(foreign + ["-X", method, sluice.url + "/"]).text
                #expect(text.hasPrefix("HTTP/1.1 405 "), "\(method): \(text)")
            }
        }

        @Test("A name that was rebound to this machine gets none of them")
        func foreignHost() async throws {
            let sluice = try await SluiceProcess()
            let answer = try sluice.connect()
            try answer.send("GET /ca.pem HTTP/1.1\r\nHost: rebound.invalid:\(sluice.port)\r\n\r\n")
            let head = try answer.readHead()
            #expect(head.hasPrefix("HTTP/1.1 502 "), "\(head)")
            #expect(try await sluice.exchange(path: "/ca.pem").record.url.host == "rebound.invalid")
        }

        @Test("The proxy's own port speaks TLS too, for HTTP and for CONNECT")
        func secureProxyPort() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let relay = try await TLSRelay(origin)
            let sluice = try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root])
            let proxy = ["--proxy", "https://localhost:\(sluice.port)", "--proxy-cacert", sluice.authority]
            for url in ["http://127.0.0.1:\(origin.port)/plain", "https://localhost:\(relay.port)/secure"] {
                let outcome = try await sluice.curl(proxy + [url])
                #expect(outcome.text == "ok", "\(url): \(outcome.errors)")
            }
            #expect(try await sluice.exchange(path: "/plain").client?.tls != nil)
            #expect(try await sluice.exchange(path: "/secure").record.url.scheme == "https")
        }

        @Test("The certificates that it mints suit names and addresses")
        func minted() async throws {
            let origin = try Origin.answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let relay = try await TLSRelay(origin)
            let sluice = try await SluiceProcess(["--upstream-ca", try await TestAuthority.shared.root])
            for host in ["localhost", "127.0.0.1"] {
                #expect(try await sluice.get("https://\(host):\(relay.port)/") == "ok")
            }
            let name = try await sluice.secureClient(
                to: relay.port,
                name: "deep.sluice.test",
                sending: Array("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".utf8)
            )
            #expect(latin1(name.output).hasSuffix("ok"), "\(name.errors)")
            #expect(relay.handshakes.contains { $0.hasPrefix("deep.sluice.test ") })
        }
    }
}
