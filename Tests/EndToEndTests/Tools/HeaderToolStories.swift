import HTTPModel
import Testing

extension EndToEnd {
    @Suite("No caching and block cookies")
    struct HeaderToolStories {
        @Test("No caching edits the fields of its table, and nobody else's", arguments: bothVersions)
        func noCaching(version: String) async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting {
                "no-caching: { only: \"https://localhost:\($0.secure)/fresh*\" }"
            }
            let base = "https://localhost:\(nginx.secure)"
            let fields = [
                "Cache-Control: max-age=9", "Pragma: x", "If-None-Match: \"v1\"",
                "If-Modified-Since: Sat, 01 Jan 2022 00:00:00 GMT", "Cookie: a=1",
            ].flatMap { ["-H", $0] }
            let answers = try await sluice.answers(
                ["/fresh", "/kept"].map { [version, "--compressed"] + fields + [base + $0] }
            )
            let (fresh, kept) = (answers[0], answers[1])
            let freshReport = ReportingNginx.Report(fresh.text)
            #expect(freshReport["cache"] == "no-cache")
            #expect(freshReport["pragma"] == "no-cache")
            #expect(freshReport["match"] == "")
            #expect(freshReport["since"] == "")
            #expect(freshReport["cookie"] == "a=1")
            #expect(fresh.values("Cache-Control") == ["no-cache"])
            #expect(fresh.values("Expires") == ["0"])
            #expect(fresh.values("ETag").isEmpty)
            #expect(fresh.values("Last-Modified").isEmpty)
            #expect(fresh.values("Set-Cookie").count == 2)
            let keptReport = ReportingNginx.Report(kept.text)
            #expect(keptReport["cache"] == "max-age=9")
            #expect(keptReport["pragma"] == "x")
            #expect(keptReport["match"] == "\"v1\"")
            #expect(keptReport["since"] == "Sat, 01 Jan 2022 00:00:00 GMT")
            #expect(kept.values("Cache-Control") == ["max-age=100"])
            #expect(kept.values("Expires") == ["Tue, 01 Jan 2030 00:00:00 GMT"])
            #expect(kept.values("ETag").count == 1)
            #expect(kept.values("Last-Modified").count == 1)
            #expect(try await sluice.exchange(path: "/kept").trace.isEmpty)
        }

        @Test(
            "Block cookies takes cookies out of both messages, and the session still has them",
            arguments: bothVersions
        )
        func blockCookies(version: String) async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting {
                "block-cookies: { only: \"https://localhost:\($0.secure)/*\", except: \"*/login\" }"
            }
            let base = "https://localhost:\(nginx.secure)"
            let cookies = ["-H", "Cookie: session=secret; theme=dark"]
            let answers = try await sluice.answers(
                ["/page", "/login"].map { [version, "--compressed", base + $0] + cookies }
            )
            #expect(ReportingNginx.Report(answers[0].text)["cookie"] == "")
            #expect(answers[0].values("Set-Cookie").isEmpty)
            #expect(answers[0].values("ETag").count == 1)
            #expect(ReportingNginx.Report(answers[1].text)["cookie"] == "session=secret; theme=dark")
            #expect(answers[1].values("Set-Cookie") == ["server=1; Path=/", "second=2"])
            let exchange = try await sluice.exchange(path: "/page")
            #expect(
                exchange.trace
                    == "request: removed Cookie: session, theme\nresponse: removed Set-Cookie: server, second"
            )
            #expect(exchange.text(\.requestHead).contains("session=secret"))
            #expect(!exchange.text(\.requestHeadSent).contains("session=secret"))
            #expect(exchange.text(\.responseHead).contains("second=2"))
        }
    }
}
