import Foundation
import HTTPModel
import Support
import Testing

extension EndToEnd {
    @Suite("Breakpoints")
    struct BreakpointStories {
        private func start(
            _ rule: String = "on: [request, response]"
        ) async throws -> (nginx: ReportingNginx, sluice: SluiceProcess) {
            try await SluiceProcess.reporting {
                "breakpoints: { name: stop, at: \"https://localhost:\($0.secure)/held*\", \(rule) }"
            }
        }

        @Test("Request and response are listed, shown, edited and go on as edited", arguments: bothVersions)
        func edit(version: String) async throws {
            let (nginx, sluice) = try await start()
            let url = "https://localhost:\(nginx.secure)/held?x=1"
            async let pending = sluice.answer(version, "--compressed", "-d", "a=1&b=2", "-H", "X-Note: client", url)
            let request = try await sluice.held(url)
            #expect(request == "1.1")
            #expect(nginx.requests.isEmpty)
            let listed = try object(try await sluice.told("hold", "list", "--json"))
            #expect(listed["method"] as? String == "POST")
            #expect(listed["side"] as? String == "request")
            #expect(try await sluice.told("hold", "list").contains("1.1"))
            let shown = try await sluice.told("hold", "show", request)
            #expect(shown.contains("\nPOST \(url) "), "\(shown)")
            #expect(shown.hasSuffix("a=1&b=2\n"), "\(shown)")
            try await sluice.told(
                "hold",
                "edit",
                request,
                "--method",
                "PUT",
                "--path",
                "/edited",
                "--query",
                "y=3",
                "--remove",
                "query.x",
                "--header",
                "X-Note: edited",
                "form.a=9"
            )
            try await eventually("the response is held") { try await sluice.held(url) == "1.2" }
            let response = try await sluice.told("hold", "show", "1.2")
            // The body came compressed, and is shown as text.
            #expect(response.contains("\nmethod PUT\n"), "\(response)")
            #expect(response.contains("\nurl https://localhost:\(nginx.secure)/edited?y=3\n"), "\(response)")
            #expect(response.contains("\nnote edited\n"), "\(response)")
            #expect(response.lowercased().contains("\ncontent-encoding: gzip\n"), "\(response)")
            try await sluice.told(
                "hold",
                "edit",
                "1",
                "--status",
                "299",
                "--header",
                "X-Held: yes",
                "--body",
                "by hand"
            )

            let answer = try await pending
            #expect(answer.status == 299)
            #expect(answer.text == "by hand")
            #expect(answer.value("Content-Encoding") == "gzip")
            #expect(answer.value("X-Held") == "yes")
            let exchange = try await sluice.exchange()
            #expect(try sluice.body(exchange, .requestReceived) == "a=1&b=2")
            #expect(try sluice.body(exchange, .requestSent) == "a=9&b=2")
            #expect(exchange.record.flags.contains(.held))
            #expect(exchange.record.url.description == url)
            #expect(exchange.record.sentURL?.description == "https://localhost:\(nginx.secure)/edited?y=3")
            let trace = exchange.trace.split(separator: "\n").map { String($0.prefix { $0 != ":" }) }
            #expect(
                trace == ["held the request", "the request was edited", "held the response", "the response was edited"]
            )
            #expect(exchange.trace.contains("body 7 → 7 bytes"), "\(exchange.trace)")
        }

        @Test("An editor edits the whole message, and decides by how it ends")
        func editor() async throws {
            let (nginx, sluice) = try await start("on: request")
            let url = "https://localhost:\(nginx.secure)/held"
            func editor(_ text: String) throws -> [String: String] {
                let path = try sluice.scratch.write("editor", "#!/bin/sh\n\(text)\n")
                try FileManager.default.setAttributes([.posixPermissions: 0o700], ofItemAtPath: path)
                return ["EDITOR": path, "VISUAL": path]
            }
            async let pending = sluice.report("-H", "X-Note: before", url)
            let name = try await sluice.held(url)
            let failed = try await sluice.command(["hold", "edit", name], environment: try editor("exit 1"))
            #expect(failed.status == 1)
            #expect(try await sluice.held(url) == name)
            let edited = try await sluice.command(
                ["hold", "edit", name],
                environment: try editor("sed -i -e 's/before/after/' -e 's|/held HTTP|/edited HTTP|' \"$1\"")
            )
            #expect(edited.status == 0, "\(edited.errors)")
            let report = try await pending
            #expect(report["note"] == "after")
            #expect(report["url"] == "https://localhost:\(nginx.secure)/edited")
        }

        @Test("Messages go on as they came, or are cut off; nobody decides twice", arguments: bothVersions)
        func decisions(version: String) async throws {
            let (nginx, sluice) = try await start("on: request")
            let base = "https://localhost:\(nginx.secure)/held/"
            for (number, decision) in ["execute", "cancel", "abort"].enumerated() {
                async let pending = sluice.answer(version, base + decision)
                let name = try await sluice.held(base + decision)
                #expect(name == "\(number + 1).1")
                try await sluice.told("hold", decision, name)
                let answer = try await pending
                #expect(answer.status == (decision == "abort" ? 0 : 200))
                #expect((answer.exit == 0) == (decision != "abort"))
                let late = try await sluice.command(["hold", "execute", name])
                #expect(late.status == 1)
                #expect(late.errors.contains("message \(name) is no longer waiting"), "\(late.errors)")
            }
            let aborted = try await sluice.exchange(path: "/held/abort")
            #expect(aborted.record.failure?.code == .aborted)
            #expect(try await nginx.requests(2).count == 2)
            #expect(try await sluice.told("hold", "list", "--json").isEmpty)
        }

        @Test("All that waits is decided about at once, and a client that goes away waits no more")
        func all() async throws {
            let (nginx, sluice) = try await start("on: request")
            let urls = (1...3).map { "https://localhost:\(nginx.secure)/held/\($0)" }
            async let first = sluice.answer(urls[0])
            async let second = sluice.answer(urls[1])
            let gone = try Program(
                "curl",
                ["-sS", "--noproxy", "", "--proxy", sluice.url, "--cacert", sluice.authority, urls[2]]
            )
            for url in urls { _ = try await sluice.held(url) }
            gone.signal(SIGKILL)
            try await eventually("two messages are held") {
                try await sluice.told("hold", "list", "--json").split(separator: "\n").count == 2
            }
            try await sluice.told("hold", "execute", "all")
            #expect(try await first.status == 200)
            #expect(try await second.status == 200)
            let record = try await sluice.exchange(path: "/held/3").record
            #expect(record.failure?.code == .clientGone)
        }

        @Test(
            "What nobody decides about in time fares as the rule says",
            arguments: ["execute", "cancel", "abort"],
            bothVersions
        )
        func policy(then: String, version: String) async throws {
            let (nginx, sluice) = try await start("on: response, after: 100ms, then: \(then)")
            let answer = try await sluice.answer(version, "https://localhost:\(nginx.secure)/held")
            #expect(answer.status == (then == "abort" ? 0 : 200))
            #expect((answer.exit == 0) == (then != "abort"))
            #expect(answer.seconds >= 0.099)
            let exchange = try await sluice.exchange()
            let outcome = ["execute": "executed", "cancel": "cancelled", "abort": "aborted"][then] ?? ""
            #expect(exchange.trace.hasPrefix("held the response\nno decision within 100 ms: \(outcome)"))
            #expect(exchange.record.flags.contains(.held))
            #expect(try await nginx.requests(1).count == 1)
        }
    }
}
