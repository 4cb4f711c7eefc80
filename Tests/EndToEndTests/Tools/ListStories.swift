import HTTPModel
import Testing

extension EndToEnd {
    @Suite("Block list and allow list")
    struct ListStories {
        @Test("Blocked requests are answered or cut off, never sent, and recorded", arguments: bothVersions)
        func block(version: String) async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting { nginx in
                let base = "https://localhost:\(nginx.secure)"
                return """
                    block:
                      - { name: cut, at: "\(base)/cut", action: drop }
                      - { name: gone, at: "\(base)/gone", action: 410, method: [GET, POST] }
                      - { name: off, at: "\(base)/*", enabled: false }
                      - { at: "\(base)/forbidden*" }
                    """
            }
            let base = "https://localhost:\(nginx.secure)"
            let answers = try await sluice.answers([
                [version, base + "/cut"], [version, base + "/gone"], [version, "-X", "DELETE", base + "/gone"],
                [version, "-H", "Accept: text/html", base + "/forbidden/page"], [version, base + "/free"],
            ])
            #expect(answers.map(\.status) == [0, 410, 200, 403, 200])
            #expect(answers[0].exit != 0)
            #expect(answers[3].value("Content-Type").hasPrefix("text/html"))
            #expect(answers[1].text.contains("\(base)/gone"), "\(answers[1].text)")
            #expect(try await nginx.requests(2).map { $0.split(separator: " ")[1] } == ["DELETE", "GET"])
            let blocked = try await sluice.told("list", sluice.session, "is:blocked", "--json")
            #expect(blocked.split(separator: "\n").count == 3)
            let cut = try await sluice.exchange(path: "/cut")
            #expect(cut.record.state == .blocked)
            #expect(cut.messages.trace.map(\.rule) == ["cut"])
            #expect(cut.trace.contains("the connection was dropped"))
        }

        @Test("Rules with 'when' act on what their filter matches, decided on bodies, too", arguments: bothVersions)
        func conditions(version: String) async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting { nginx in
                let at = "https://localhost:\(nginx.secure)/*"
                return """
                    block:
                      - { name: alice, at: "\(at)", when: 'req.header.x-user:alice not req.json.dry:true' }
                      - { name: program, at: "\(at)", when: 'process:curl req.query.slow:*', action: 418 }
                    rewrite:
                      - name: typed
                        at: "\(at)"
                        when: 'res.header.content-type:text/plain* req.json.dry:true'
                        rules: [ { add: header, on: response, name: X-Was, to: dry } ]
                    """
            }
            let base = "https://localhost:\(nginx.secure)"
            let json = [version, "-H", "Content-Type: application/json", "-H", "X-User: alice"]
            let answers = try await sluice.answers([
                json + ["-d", #"{"dry":false}"#, base + "/a"], json + ["-d", #"{"dry":true}"#, base + "/b"],
                json + ["-H", "Expect: 100-continue", "-d", #"{"dry":true}"#, base + "/c"],
                [version, "-H", "X-User: bob", base + "/d"], [version, base + "/e?slow=1"],
            ])
            #expect(answers.map(\.status) == [403, 200, 200, 200, 418])
            #expect(answers.map { $0.value("X-Was") } == ["", "dry", "dry", "", ""])
            #expect(try await nginx.requests(3).map { $0.split(separator: " ")[2] } == ["/b", "/c", "/d"])
            let why = try await sluice.told("why", sluice.session, "4")
            #expect(why.contains(#"not matched: when: req.header.x-user:alice does not hold: it is "bob""#), "\(why)")
        }

        @Test("A share of requests is refused, with a seed the same ones in every run")
        func share() async throws {
            let nginx = try await ReportingNginx()
            let urls = (1...60).map { "http://localhost:\(nginx.plain)/call/\($0 % 20)" }
            func refused(seed: Int) async throws -> [Int] {
                let sluice = try await SluiceProcess(
                    profile: """
                        version: 1
                        block: { at: "http://localhost:\(nginx.plain)/*", action: 503, share: 20, seed: \(seed) }

                        """
                )
                return try await sluice.answers(urls.map { [$0] }).enumerated().filter { $0.element.status == 503 }
                    .map(\.offset)
            }
            let first = try await refused(seed: 42)
            // The draws depend on the port too; so few or so many come once in some hundred thousand runs.
            #expect((1...40).contains(first.count), "\(first)")
            #expect(try await refused(seed: 42) == first)
            #expect(try await refused(seed: 43) != first)
        }

        @Test("Only what is allowed passes; a tunnel that is not decrypted goes by its host", arguments: bothVersions)
        func allow(version: String) async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting { nginx in
                """
                intercept: { except: "127.0.0.1" }
                allow:
                  - { at: "https://localhost:\(nginx.secure)/mine/*", action: 404 }
                  - { at: "127.0.0.1:\(nginx.other)" }
                """
            }
            let answers = try await sluice.answers([
                [version, "https://localhost:\(nginx.secure)/mine/a"],
                [version, "https://localhost:\(nginx.secure)/yours"],
                [version, "--insecure", "https://127.0.0.1:\(nginx.other)/unread"],
                [version, "--insecure", "https://127.0.0.1:\(nginx.secure)/unread"],
            ])
            #expect(answers.map(\.status) == [200, 404, 200, 0])
            #expect(try await nginx.requests(2).map { $0.split(separator: " ")[2] } == ["/mine/a", "/unread"])
            let refused = try await sluice.exchange { $0.kind == .tunnel && $0.url.port == nginx.secure }
            #expect(refused.record.state == .blocked)
            #expect(refused.record.status == 404)
        }
    }
}
