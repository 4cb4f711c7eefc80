import HTTPModel
import Testing

extension EndToEnd {
    @Suite("Map remote")
    struct MapRemoteStories {
        @Test("HTTPS is sent on as HTTP, HTTP/2 as HTTP/1.1; both URLs are recorded", arguments: bothVersions)
        func protocols(version: String) async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting {
                "map-remote: { name: down, from: \"https://localhost:\($0.secure)/api/*\", "
                    + "to: \"http://localhost:\($0.plain)/v2/\" }"
            }
            let url = "https://localhost:\(nginx.secure)/api/users/7?q=%20a"
            let report = try await sluice.report(version, "-d", "body", url)
            #expect(report["place"] == "127.0.0.1:\(nginx.plain)")
            #expect(report["url"] == "http://localhost:\(nginx.plain)/v2/users/7?q=%20a")
            #expect(report["method"] == "POST")
            #expect(report["protocol"] == "HTTP/1.1")
            let exchange = try await sluice.exchange()
            #expect(exchange.record.url.description == url)
            #expect(exchange.record.sentURL?.description == "http://localhost:\(nginx.plain)/v2/users/7?q=%20a")
            #expect(exchange.record.clientVersion == (version == "--http2" ? .http2 : .http11))
            #expect(exchange.record.upstreamVersion == .http11)
            #expect(exchange.upstream?.tls == nil)
            #expect(
                exchange.trace.hasPrefix("sent to http://localhost:\(nginx.plain)/v2/users/7?q=%20a in place of \(url)")
            )
            let shown = try await sluice.told("show", sluice.session, "1")
            #expect(shown.contains("sent to         http://localhost:\(nginx.plain)/v2/users/7"), "\(shown)")
        }

        @Test("HTTP is sent on as HTTPS, and Server Name Indication follows the new host")
        func upgrade() async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting {
                """
                map-remote: { from: "http://old.test/*", to: "https://new.sluice.test:\($0.secure)/" }
                dns-spoofing: { host: new.sluice.test, address: 127.0.0.1 }
                """
            }
            let report = try await sluice.report("http://old.test/page?a=1")
            #expect(report["sni"] == "new.sluice.test")
            #expect(report["url"] == "https://new.sluice.test:\(nginx.secure)/page?a=1")
            #expect(report["protocol"] == "HTTP/2.0")
            #expect(try await sluice.exchange().upstream?.tls?.serverName == "new.sluice.test")
        }

        @Test(
            "Stars, groups, parts, preserved hosts and kept prefixes make the URL that they say",
            arguments: bothVersions
        )
        func forms(version: String) async throws {
            // None of these hosts exists; all are sent to the server.
            let (nginx, sluice) = try await SluiceProcess.reporting { nginx in
                let to = "https://localhost:\(nginx.other)"
                return """
                    map-remote:
                      - { from: "https://*.tenants.test/*", to: "\(to)/$1/$2" }
                      - { from: '/^https:\\/\\/build-(\\d+)\\.test\\/(.*)$/', to: "\(to)/builds/$1/$2?fixed=1" }
                      - { from: "https://host.test/*", to: "\(to)/", preserve-host: true }
                      - { from: "https://prefix.test/v1/*", to: "\(to)/base", keep-prefix: true }
                      - { from: "https://parts.test", to: { host: localhost, port: \(nginx.other), query: "q=2" } }
                      - { from: "https://exact.test/one", to: "\(to)/other" }
                    """
            }
            let host = "https://localhost:\(nginx.other)"
            let cases = [
                ("https://acme.tenants.test/orders/7?x=1", "\(host)/acme/orders/7?x=1"),
                ("https://build-42.test/a/b?x=1", "\(host)/builds/42/a/b?x=1?fixed=1"),
                ("https://host.test/deep/path", "https://host.test/deep/path"),
                ("https://prefix.test/v1/users", "\(host)/base/v1/users"),
                ("https://parts.test/same/path?q=1", "\(host)/same/path?q=2"),
                ("https://exact.test/one?kept", "\(host)/other?kept"),
            ]
            let answers = try await sluice.answers(cases.map { [version, "--compressed", $0.0] })
            for ((asked, expected), answer) in zip(cases, answers) {
                let report = ReportingNginx.Report(answer.text)
                #expect(report["url"] == expected, "\(asked): \(answer.head)\(answer.text)")
                #expect(report["place"] == "127.0.0.1:\(nginx.other)", "\(asked)")
                #expect(report["sni"] == "localhost", "\(asked)")
            }
        }

        @Test("A redirect in the answer leads the client where it says, and rules without a match change nothing")
        func untouched() async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting {
                "map-remote: { from: \"https://localhost:\($0.secure)/mapped\", to: \"http://localhost:\($0.plain)/\" }"
            }
            for path in ["/mapped/below", "/Mapped", "/mapped/"] {
                let url = "https://localhost:\(nginx.secure)\(path)"
                #expect(try await sluice.report(url)["url"] == url)
                let exchange = try await sluice.exchange(path: path)
                #expect(exchange.record.sentURL == nil)
                #expect(exchange.trace.isEmpty)
            }
        }
    }
}
