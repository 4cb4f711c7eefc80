import Dispatch
import Foundation
import Support
import Testing

extension UserStories {
    @Suite("Working with sessions: stats, trim, diff, one message, following")
    struct SessionToolStories {
        @Test("An expression that takes too long is given up, and list and stats say so; their exit code stays 0")
        func givenUp() async throws {
            let nginx = try await ReportingNginx()
            let sluice = try await SluiceProcess()
            _ = try await sluice.get("http://127.0.0.1:\(nginx.plain)/\(String(repeating: "a", count: 40))!")
            _ = try await sluice.get("http://127.0.0.1:\(nginx.plain)/short")
            _ = try await sluice.stop()
            for command in ["list", "stats"] {
                let outcome = try await sluice.command([command, sluice.session, "path:/^\\/(a+)+$/"])
                #expect(outcome.status == 0 && !outcome.text.contains("aaaa"), "\(command): \(outcome.text)")
                let told = "sluice: the search stopped in 1 exchange, because the expression takes too long"
                #expect(outcome.errors.contains(told), "\(command): \(outcome.errors)")
            }
            let plain = try await sluice.command(["list", sluice.session, "path:/^\\/s/"])
            #expect(plain.errors.isEmpty && plain.text.contains("/short"))
        }

        @Test("Values have places: lists find them and have them as columns, and show prints one")
        func places() async throws {
            let origin = try Origin { origin, socket in
                let head = try origin.head(socket)
                let number = head.contains("/2") ? 2 : 1
                let body =
                    head.contains("/events")
                    ? "data: {\"n\":1}\n\ndata: {\"n\":2}\n\n"
                    : "{\"items\":[{\"id\":\(number)}],\"error\":{\"code\":4\(number),\"text\":\"a\\tb\"}}"
                let type = head.contains("/events") ? "text/event-stream" : "application/json"
                let rest = head.contains("/broken") ? "{\"a\": }" : body
                try socket.send(
                    latin1Bytes(
                        "HTTP/1.1 200 OK\r\nContent-Type: \(type)\r\nContent-Length: \(rest.utf8.count)\r\n"
                            + "Connection: close\r\n\r\n\(rest)"
                    )
                )
            }
            let sluice = try await SluiceProcess()
            for path in ["1?page=1", "2?page=2", "events", "broken"] {
                _ = try await sluice.get("http://127.0.0.1:\(origin.port)/\(path)")
            }
            _ = try await sluice.stop()
            let session = sluice.session
            func ids(_ filter: String) async throws -> String {
                try await sluice.told("list", session, filter, "--columns", "id").split(separator: "\n").joined(
                    separator: " "
                )
            }
            #expect(try await ids("res.json.items[*].id:>1") == "2")
            #expect(try await ids("res.json.error.code:4* req.query.page:1") == "1")
            #expect(try await ids("not res.json.error:*") == "3 4")
            #expect(try await ids("message#2.json.n:2") == "3")
            let columns = try await sluice.told(
                "list",
                session,
                "--columns",
                "path,res.json.error.text,res.json.items[0].id"
            )
            #expect(columns == "/1?page=1\ta\\tb\t1\n/2?page=2\ta\\tb\t2\n/events\t\t\n/broken\t\t\n")
            #expect(try await sluice.told("show", session, "2", "--get", "res.json.items") == "[{\"id\":2}]\n")
            #expect(try await sluice.told("show", session, "1", "--get", "res.json.error.text") == "a\tb\n")
            #expect(try await sluice.told("show", session, "3", "--get", "message#1.json.n") == "1\n")
            let broken = try await sluice.command(["show", session, "4", "--get", "res.json.a"])
            #expect(broken.status == 1)
            #expect(broken.errors.contains("not valid JSON: line 1, column 7: a value is missing"), "\(broken.errors)")
            for wrong in [
                ["list", session, "res.jsn.a:1"], ["list", session, "--columns", "res.jsn"],
                ["show", session, "1", "--get", "a"],
            ] {
                #expect(try await sluice.command(wrong).status == 2, "\(wrong)")
            }
        }

        @Test("What prints JSON lines says in how many places it masked secrets, and --secrets nothing")
        func maskedLines() async throws {
            let nginx = try await ReportingNginx()
            for isMasked in [true, false] {
                let sluice = try await SluiceProcess(["--json"] + (isMasked ? [] : ["--secrets"]))
                _ = try await sluice.get("http://127.0.0.1:\(nginx.plain)/x?token=5f4dcc3b5aa765d61d83")
                _ = try await sluice.get("http://127.0.0.1:\(nginx.plain)/plain")
                let words = "sluice: Secrets are masked in 1 place of 1 line; --secrets keeps them."
                let end = try await sluice.stop()
                #expect(end.errors.contains(words) == isMasked, "\(end.errors)")
                let list = ["list", sluice.session, "--json"] + (isMasked ? [] : ["--secrets"])
                let outcome = try await sluice.command(list)
                #expect(outcome.status == 0 && outcome.errors.contains(words) == isMasked, "\(outcome.errors)")
            }
        }

        @Test("A stream is followed as it comes, one of its messages is printed whole, and ctrl-c ends with 0")
        func following() async throws {
            let long = String(repeating: "0123456789", count: 5_000)
            let go = DispatchSemaphore(value: 0)
            let origin = try Origin { origin, socket in
                _ = try origin.head(socket)
                try socket.send(
                    latin1Bytes("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: first\n\n")
                )
                _ = go.wait(timeout: .now() + 60)
                try socket.send(latin1Bytes("data: \(long)\n\n"))
                _ = go.wait(timeout: .now() + 60)
                try socket.send(latin1Bytes("data: last\n\n"))
            }
            let sluice = try await SluiceProcess()
            let client = try Program("curl", ["-sN", "--proxy", sluice.url, "http://127.0.0.1:\(origin.port)/events"])
            try await eventually("the exchange is recorded") { try sluice.records().count == 1 }
            let arguments = ["show", sluice.session, "1", "--follow"]
            let environment = SluiceProcess.environment(sluice.scratch)
            let follower = try Program(try SluiceProcess.executable(), arguments, environment: environment)
            let other = try Program(try SluiceProcess.executable(), arguments, environment: environment)
            try await eventually("the first message is followed: \(follower.errors)") {
                follower.output.contains("5 B  first") && other.output.contains("first")
            }
            #expect(follower.status == nil)
            go.signal()
            try await eventually("the second message follows") { follower.output.contains("[--message 2 has all]") }
            let message = try await sluice.command(["show", sluice.session, "1", "--message", "2"])
            #expect(message.status == 0 && message.text == long && message.errors.isEmpty)
            let none = try await sluice.command(["show", sluice.session, "1", "--message", "9"])
            #expect(none.status == 1 && none.errors.contains("has 2 messages so far"), "\(none.errors)")
            other.signal(SIGINT)
            #expect(try await other.outcome(within: 30).status == 0)
            #expect(!other.output.contains("last"))
            go.signal()
            #expect(try await client.outcome(within: 30).status == 0)
            let end = try await follower.outcome(within: 30)
            #expect(end.status == 0 && end.errors.isEmpty, "\(end.errors)")
            let lines = end.text.split(separator: "\n")
            #expect(lines.count == 3 && lines.last?.hasSuffix("4 B  last") == true, "\(end.text.suffix(200))")
            #expect(try await sluice.stop().status == 0)
        }

        @Test("A session is counted, compared and trimmed; what runs is refused, what changed has exit code 1")
        func session() async throws {
            let origin = try Origin { origin, socket in
                while true {
                    let head = try origin.head(socket)
                    let isBad = head.contains("/bad/")
                    let text = "{\"path\":\"\(isBad ? "bad" : "good")\"}"
                    try socket.send(
                        latin1Bytes(
                            "HTTP/1.1 \(isBad ? "500 X" : "200 OK")\r\nContent-Type: application/json\r\n"
                                + "Content-Length: \(text.utf8.count)\r\n\r\n\(text)"
                        )
                    )
                }
            }
            let sluice = try await SluiceProcess()
            let base = "http://127.0.0.1:\(origin.port)"
            for path in ["/items/1", "/items/2", "/items/3", "/bad/secret-mark"] {
                _ = try await sluice.get(base + path)
            }
            _ = try await sluice.exchange(path: "/bad/secret-mark")
            let refused = try await sluice.command(["trim", sluice.session, "status:200", "--in-place"])
            #expect(refused.status == 1 && refused.errors.contains("in use by another Sluice"), "\(refused.errors)")
            #expect(try await sluice.stop().status == 0)

            let stats = try await sluice.told("stats", sluice.session)
            #expect(stats.hasPrefix("4 exchanges, 1 error (25.0 %), from "), "\(stats)")
            #expect(stats.contains("  GET 127.0.0.1/items/{id}\n") && stats.contains("  127.0.0.1\n"))
            let hosts = try object(
                try await sluice.told("stats", sluice.session, "status:200", "--by", "host", "--json")
            )
            #expect(hosts["exchanges"] as? Int == 3 && hosts["endpoints"] == nil)
            #expect((hosts["hosts"] as? [[String: Any]])?.first?["responseBytes"] as? Int == 3 * 15)

            let copy = sluice.scratch.path("copy.sluice")
            let trimmed = try await sluice.told("trim", sluice.session, "status:200", "-o", copy)
            #expect(trimmed.hasPrefix("1 exchange removed, 3 kept.\n"), "\(trimmed)")
            #expect(try await sluice.told("list", copy, "status:500").split(separator: "\n").count == 1)
            #expect(try Data(contentsOf: URL(filePath: copy)).firstRange(of: Data("secret-mark".utf8)) == nil)
            #expect(try await sluice.command(["trim", sluice.session, "*", "-o", copy]).status == 1)
            let dry = try await sluice.told("trim", sluice.session, "--before", "2099-01-01", "--dry-run")
            #expect(dry.contains("4 exchanges would be removed, 0 kept. Nothing was changed."), "\(dry)")
            #expect(try await sluice.command(["trim", sluice.session, "--dry-run"]).status == 2)
            #expect(try await sluice.command(["trim", sluice.session, "--after", "soon", "--in-place"]).status == 2)

            let same = try await sluice.command(["diff", sluice.session, sluice.session])
            #expect(same.status == 0 && same.text.hasSuffix("They behave the same.\n"), "\(same.text)")
            let less = try await sluice.command(["diff", sluice.session, copy])
            #expect(less.status == 1 && less.text.contains("only in the first: #4"), "\(less.text)")
            let pair = try await sluice.command(["diff", sluice.session, "1", "4", "--json"])
            #expect(pair.status == 1)
            let places = (try object(pair.text)["differences"] as? [[String: Any]])?.compactMap {
                $0["place"] as? String
            }
            #expect(places == ["req.path", "res.status", "res.json.path"], "\(pair.text)")
            let two = try await sluice.command(["diff", sluice.session + ":1", copy + ":2"])
            #expect(
                two.status == 0 && two.text.contains("session.sluice:1 and ") && two.text.contains("copy.sluice:2"),
                "\(two.text)\(two.errors)"
            )
            #expect(try await sluice.command(["diff", sluice.session, "1", "99"]).status == 1)
            let part = try await sluice.command(["diff", sluice.session, copy, "status:200"])
            #expect(part.status == 0, "\(part.text)")
            let former = ["trim", sluice.session, "--keep", "status:200", "--dry-run"]
            #expect(try await sluice.command(former).status == 0)
            #expect(try await sluice.command(["diff", sluice.session]).status == 2)

            let inPlace = try await sluice.told("trim", sluice.session, "status:200", "--in-place")
            #expect(inPlace.hasPrefix("1 exchange removed, 3 kept.\n"))
            #expect(try await sluice.command(["diff", sluice.session, copy]).status == 0)
        }

        private struct DescribedAPI: Decodable {
            var problems: [String]
            var checked: Int
            var paths: [String]
        }

        @Test("The API of a session is described; what was recorded fits the description")
        func openAPI() async throws {
            let sluice = try await SluiceProcess()
            let origin = try Origin { origin, socket in
                while true {
                    let head = try origin.head(socket)
                    let path = head.split(separator: " ")[1]
                    let isMissing = path.hasSuffix("/0")
                    let text =
                        isMissing
                        ? #"{"error":"none","at":"2026-11-23T08:00:00Z"}"#
                        : #"{"id":\#(path.utf8.count),"tags":["a",1,null],"next":"/users/\#(path.hashValue)"}"#
                    try socket.send(
                        latin1Bytes(
                            "HTTP/1.1 \(isMissing ? "404 Not Found" : "200 OK")\r\nContent-Type: application/json\r\n"
                                + "Content-Length: \(text.utf8.count)\r\n\r\n\(text)"
                        )
                    )
                }
            }
            let base = "http://127.0.0.1:\(origin.port)"
            for path in ["/users/1?page=2", "/users/22", "/users/0", "/users/1/orders/7", "/status?q=a%20b&q=c"] {
                _ = try await sluice.get(base + path)
            }
            try await eventually("five exchanges") { try sluice.records().count == 5 }
            #expect(try await sluice.stop().status == 0)
            let (api, har) = (sluice.scratch.path("api.json"), sluice.scratch.path("all.har"))
            for (format, file) in [("openapi", api), ("har", har)] {
                let outcome = try await sluice.command(["export", sluice.session, "--format", format, "-o", file])
                #expect(outcome.status == 0, "\(outcome.errors)")
            }
            let result = try await Peers.run("openapi.py", [api, har], as: DescribedAPI.self)
            #expect(result.problems == [] && result.checked == 5)
            let paths = ["/status", "/users/{userId}", "/users/{userId}/orders/{orderId}"]
            #expect(result.paths == paths)
        }
    }
}
