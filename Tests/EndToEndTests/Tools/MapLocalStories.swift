import Foundation
import HTTPModel
import Support
import Testing

extension EndToEnd {
    @Suite("Map local")
    struct MapLocalStories {
        private static let files = [
            "one.json": "{\"one\":1}\n", "site/index.html": "<p>index</p>\n", "site/page.html": "<p>page</p>\n",
            "site/deep/data.json": "[1, 2]\n", "site/plain.txt": "0123456789",
            "site/gone.json": "{\"error\":\"gone\"}\n",
            "site/gone.json.headers": "410 Gone\nContent-Type: application/problem+json\nX-Side: car\n",
            "secret.txt": "a secret beside the root\n",
        ]

        private func start() async throws -> (nginx: ReportingNginx, sluice: SluiceProcess) {
            let (nginx, sluice) = try await SluiceProcess.reporting(files: MapLocalStories.files) { nginx in
                let base = "https://localhost:\(nginx.secure)"
                return """
                    map-local:
                      - { name: one, from: "\(base)/one", method: GET, to: one.json, status: 207, headers: { X-Rule: a } }
                      - { name: pass, from: "\(base)/pass/*", to: site/ }
                      - { name: error, from: "\(base)/error/*", to: site/, on-miss: error }
                      - { name: site, from: ["\(base)/site/*", "http://files.test/site/*"], to: site/, on-miss: 404 }
                    """
            }
            try FileManager.default.createSymbolicLink(
                atPath: sluice.scratch.path("site/way-out"),
                withDestinationPath: "../secret.txt"
            )
            return (nginx, sluice)
        }

        @Test("Files and directories answer in the server's place", arguments: bothVersions)
        func files(version: String) async throws {
            let (nginx, sluice) = try await start()
            let base = "https://localhost:\(nginx.secure)"
            let cases: [(path: String, status: Int, type: String, body: String)] = [
                ("/one", 207, "application/json", "{\"one\":1}\n"),
                ("/one?with=query", 207, "application/json", "{\"one\":1}\n"),
                ("/site/page.html", 200, "text/html; charset=utf-8", "<p>page</p>\n"),
                ("/site/", 200, "text/html; charset=utf-8", "<p>index</p>\n"),
                ("/site/deep/data.json", 200, "application/json", "[1, 2]\n"),
                ("/site/plain%2Etxt", 200, "text/plain; charset=utf-8", "0123456789"),
                ("/site/gone.json", 410, "application/problem+json", "{\"error\":\"gone\"}\n"),
                ("/pass/page.html", 200, "text/html; charset=utf-8", "<p>page</p>\n"),
            ]
            let answers = try await sluice.answers(cases.map { [version, base + $0.path] })
            for (expected, answer) in zip(cases, answers) {
                #expect(answer.status == expected.status, "\(expected)")
                #expect(answer.value("Content-Type") == expected.type, "\(expected)")
                #expect(answer.value("Content-Length") == "\(expected.body.utf8.count)", "\(expected)")
                #expect(answer.text == expected.body)
                #expect(answer.version == (version == "--http2" ? "2" : "1.1"))
            }
            #expect(answers[0].value("X-Rule") == "a")
            #expect(answers[6].value("X-Side") == "car")
            #expect(nginx.requests.isEmpty)
            let exchange = try await sluice.exchange(path: "/site/deep/data.json")
            #expect(exchange.trace == "answered from site/deep/data.json (200, 7 bytes)")
            #expect(exchange.record.flags.contains(.answeredLocally))
            #expect(try sluice.body(exchange, .responseReceived) == "[1, 2]\n")
        }

        @Test("A miss is passed on, answered 404, or explained; the case of letters counts", arguments: bothVersions)
        func misses(version: String) async throws {
            let (nginx, sluice) = try await start()
            let base = "https://localhost:\(nginx.secure)"
            let paths = ["/pass/none", "/site/none", "/error/none", "/site/PAGE.html", "/one"]
            var requests = paths.map { [version, base + $0] }
            requests[4] += ["-d", "x"]
            let answers = try await sluice.answers(requests)
            #expect(answers.map(\.status) == [200, 404, 502, 404, 200])
            #expect(ReportingNginx.Report(answers[0].text)["url"] == base + "/pass/none")
            #expect(answers[2].text.contains("site/none"), "\(answers[2].text)")
            // Another method than the rule's.
            #expect(ReportingNginx.Report(answers[4].text)["method"] == "POST")
            #expect(try await nginx.requests(2).count == 2)
        }

        @Test("HEAD, ranges and conditions are answered as by a server that keeps no caches", arguments: bothVersions)
        func semantics(version: String) async throws {
            let (nginx, sluice) = try await start()
            let url = "https://localhost:\(nginx.secure)/site/plain.txt"
            let answers = try await sluice.answers([
                [version, "-I", url], [version, "-r", "2-5", url], [version, "-r", "-3", url],
                [version, "-r", "50-", url],
                [version, "-H", "If-Modified-Since: Sat, 01 Jan 2050 00:00:00 GMT", "-H", "If-None-Match: *", url],
            ])
            #expect(answers.map(\.status) == [200, 206, 206, 416, 200])
            #expect(answers[0].value("Content-Length") == "10")
            #expect(answers[0].body.isEmpty || answers[0].text == answers[0].head)
            #expect(answers[1].text == "2345")
            #expect(answers[1].value("Content-Range") == "bytes 2-5/10")
            #expect(answers[2].text == "789")
            #expect(answers[3].value("Content-Range") == "bytes */10")
            #expect(answers[4].text == "0123456789")
        }

        @Test("Files are read anew for each request")
        func fresh() async throws {
            let (nginx, sluice) = try await start()
            let url = "https://localhost:\(nginx.secure)/site/changing.txt"
            var statuses: [Int] = []
            var bodies: [String] = []
            for text in [nil, "first", "second, and longer"] {
                if let text { try sluice.scratch.write("site/changing.txt", text) }
                let answer = try await sluice.answer(url)
                statuses.append(answer.status)
                bodies.append(answer.text)
            }
            #expect(statuses == [404, 200, 200])
            #expect(bodies[1...] == ["first", "second, and longer"])
        }

        @Test("No request leads out of the directory")
        func traversal() async throws {
            let (_, sluice) = try await start()
            let attempts = [
                "../secret.txt", "..%2fsecret.txt", "%2e%2e/secret.txt", "%2e%2e%2fsecret.txt", "..%5csecret.txt",
                "..\\secret.txt", "deep/../../secret.txt", "deep/%2e%2e/%2e%2e/secret.txt", "./../secret.txt",
                "way-out", "way-out/", "%2fetc/passwd", "/etc/passwd", "//etc/passwd", "..%c0%afsecret.txt",
                "%c0%ae%c0%ae/secret.txt", "..%00/secret.txt", "plain.txt%00.html", "..;/secret.txt",
                "..%252fsecret.txt", String(repeating: "../", count: 40) + "etc/passwd", "../site/../secret.txt",
                "....//secret.txt", "\u{2025}/secret.txt",
            ]
            for attempt in attempts {
                let answer = latin1(
                    try await blocking {
                        let socket = try sluice.connect()
                        try socket.send(
                            "GET http://files.test/site/\(attempt) HTTP/1.1\r\nHost: files.test\r\n"
                                + "Connection: close\r\n\r\n"
                        )
                        return try socket.readToEnd(toleratingReset: true)
                    }
                )
                let status = Int(answer.dropFirst("HTTP/1.1 ".count).prefix(3)) ?? 0
                // Either refused as no URL, or not found; a path that leads back in is nobody's secret.
                #expect([400, 404, 502].contains(status), "\(attempt): \(answer)")
                #expect(!answer.contains("secret beside"), "\(attempt)")
                #expect(!answer.contains("root:"), "\(attempt)")
            }
            // The proxy is still there, and files are.
            let answer = try await sluice.answer("http://files.test/site/plain.txt")
            #expect(answer.text == "0123456789")
        }
    }
}
