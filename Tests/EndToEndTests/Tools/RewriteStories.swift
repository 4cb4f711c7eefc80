import Foundation
import HTTPModel
import Testing

extension EndToEnd {
    @Suite("Rewrite")
    struct RewriteStories {
        @Test("Every kind of edit, on a response that is compressed", arguments: bothVersions)
        func kinds(version: String) async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting { nginx in
                """
                rewrite:
                  - name: all kinds
                    at: "https://localhost:\(nginx.secure)/old/*"
                    rules:
                      - { add: header, on: request, name: X-Note, to: added }
                      - { remove: header, on: request, name: If-None-Match }
                      - { modify: header, on: request, name: User-Agent, match: '/^(\\w+).*/', to: "$1 rewritten" }
                      - { add: query, name: added, to: "a b" }
                      - { modify: query, name: page, match: "1", to: "2" }
                      - { remove: query, name: "^utm_", name-regex: true }
                      - { modify: path, match: '\\/old', to: "/new" }
                      - { modify: host, to: "127.0.0.1" }
                      - { add: header, on: response, name: X-Added, to: "yes" }
                      - { remove: header, on: response, name: Set-Cookie, match: second }
                      - { modify: header, on: response, name: Cache-Control, to: no-store }
                      - { modify: status, to: "299 Rewritten" }
                      - { modify: body, on: response, match: '/method (\\w+)/', to: "verb $1!" }
                      - { modify: body, on: response, match: "O", to: "0", case: true, replace: first }
                """
            }
            let url = "https://localhost:\(nginx.secure)/old/way?page=1&utm_source=x&utm_medium=y"
            let answer = try await sluice.answer(version, "--compressed", "-H", "If-None-Match: x", url)
            #expect(answer.status == 299)
            #expect(answer.value("Content-Encoding") == "gzip")
            #expect(answer.value("X-Added") == "yes")
            #expect(answer.values("Set-Cookie") == ["server=1; Path=/"])
            #expect(answer.value("Cache-Control") == "no-store")
            #expect(answer.text.contains("verb GET!\n"), "\(answer.text)")
            let report = ReportingNginx.Report(answer.text)
            #expect(report["url"] == "https://127.0.0.1:\(nginx.secure)/new/way?page=2&added=a%20b")
            #expect(report["note"] == "added")
            #expect(report["match"] == "")
            #expect(report["agent"] == "curl rewritten")
            let exchange = try await sluice.exchange()
            let received = try sluice.bytes(exchange, .responseReceived)
            let sent = try sluice.bytes(exchange, .responseSent)
            // Both are gzip, as they passed.
            #expect(received.prefix(2) == [0x1F, 0x8B])
            #expect(sent.prefix(2) == [0x1F, 0x8B])
            if version == "--http1.1" {
                #expect(answer.head.hasPrefix("HTTP/1.1 299 Rewritten\r\n"), "\(answer.head)")
            }
        }

        @Test("A request's body is edited and framed anew, with a length and in chunks")
        func requestBody() async throws {
            let origin = try Origin { origin, socket in
                while true {
                    let head = try origin.head(socket)
                    let length = head.lowercased().split(separator: "\r\n").first { $0.hasPrefix("content-length:") }
                    let count = length.flatMap { Int($0.dropFirst(15).trimmingCharacters(in: .whitespaces)) }
                    let body = try count.map { try socket.read(count: $0) } ?? socket.readChunked().body
                    try socket.send("HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\r\n".utf8.map { $0 } + body)
                }
            }
            let sluice = try await SluiceProcess(
                profile: """
                    version: 1
                    rewrite:
                      at: "http://localhost:\(origin.port)/*"
                      rules:
                        - { modify: body, on: request, match: '/"(\\w+)":\\s*null/', to: '"$1":"nothing at all"' }

                    """
            )
            let url = "http://localhost:\(origin.port)/"
            let json = "{\"name\": null,\"other\":null,\"caf\u{E9}\":1}"
            let edited = "{\"name\":\"nothing at all\",\"other\":\"nothing at all\",\"caf\u{E9}\":1}"
            let answers = try await sluice.answers([
                ["-H", "Content-Type: application/json", "-d", json, url],
                ["-H", "Content-Type: application/json", "-H", "Transfer-Encoding: chunked", "-d", json, url],
                ["-H", "Content-Type: image/png", "-d", json, url],
            ])
            let texts = answers.map { String(decoding: $0.body, as: UTF8.self) }
            #expect(texts == [edited, edited, json])
            #expect(origin.heads[0].contains("Content-Length: \(edited.utf8.count)\r\n"), "\(origin.heads[0])")
            #expect(origin.errors.isEmpty, "\(origin.errors)")
        }

        @Test("An expression that runs away is stopped, the message passes unmodified, and the trace says so")
        func runaway() async throws {
            let (nginx, sluice) = try await SluiceProcess.reporting {
                """
                rewrite:
                  at: "https://localhost:\($0.secure)/*"
                  rules: [ { modify: body, on: response, match: '/^(a+)+$/', to: x } ]
                """
            }
            let text = String(repeating: "a", count: 50_000) + "!"
            try nginx.put("run.txt", text)
            let answer = try await sluice.answer("https://localhost:\(nginx.secure)/files/run.txt")
            #expect(answer.text == text)
            #expect(answer.seconds < 30)
            let trace = try await sluice.exchange().trace
            #expect(trace.contains("took too long and was stopped"), "\(trace)")
        }
    }
}
