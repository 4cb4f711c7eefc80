import ExchangeCore
import Foundation
import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

@Suite("Tools in dry runs")
struct DryRunToolsTests {
    /// Plays a profile's expectations; what did not hold, in words.
    private func problems(_ text: String, file: String = "p.yaml") throws -> [String] {
        let results = try RuleProfile("version: 1\n" + text, file: file).dryRun()
        #expect(!results.isEmpty)
        return results.flatMap { result in
            result.differences.map { "\($0.what): expected \($0.expected), came \($0.came)" }
        }
    }

    @Test("Files answer, and their content is seen")
    func mapLocal() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let content = String(repeating: "x", count: 200_000) + "end"
        try Data(content.utf8).write(to: folder.appending(path: "users.json"))
        let found = try problems(
            """
            map-local: { name: users, from: "https://a.example/v1/*", to: "." }
            expect:
              - request: GET https://a.example/v1/users.json
                fires: [ map-local/users ]
                sends: nothing
                answers: { status: 200, headers: { Content-Type: /json/, Content-Length: "200003" }, body: /xend$/ }
              - { request: GET https://b.example/v1/users.json, fires: [], sends: https://b.example/v1/users.json }
            """,
            file: folder.appending(path: "p.yaml").path
        )
        #expect(found.isEmpty)
    }

    @Test("The mirror says what it would save, and writes nothing")
    func mirror() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString)")
        let found = try problems(
            """
            mirror: { name: copy, to: "\(folder.path)", only: a.example }
            expect:
              - { request: GET http://a.example/x, response: { body: abc }, fires: [ mirror/copy ], answers: { body: abc } }
              - { request: GET http://b.example/x, response: { body: abc }, fires: [] }
            """
        )
        #expect(found.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: folder.path))
    }

    @Test("A network that is down fails, one that is slow takes no time here")
    func throttle() throws {
        let text = """
            throttle:
              - { preset: offline, only: down.example }
              - { name: slow, down: 8, latency: 2000, only: slow.example }
            expect:
              - { request: GET http://down.example/, fails: true }
              - { request: GET http://slow.example/, response: { body: "\(String(repeating: "x", count: 20_000))" }, fails: false, answers: 200 }
            """
        let (found, spent) = try processorTime { try problems(text) }
        #expect(found.isEmpty)
        #expect(spent < .seconds(10))
        var dryRun = DryRun(try RuleProfile("version: 1\n" + text, file: "p.yaml"))
        let body = ByteBuffer(repeating: 0x78, count: 20_000)
        let request = try #require(DryRunRequest("http://slow.example/"))
        let delay = dryRun.play(request, DryRunResponse(body: body)).delay
        // 160 kbit at 8 kbit/s, and the latency.
        #expect(delay > .seconds(15) && delay < .seconds(30), "\(delay)")
    }

    @Test("What is held at a breakpoint goes on unedited")
    func breakpoints() throws {
        let found = try problems(
            """
            breakpoints: { name: login, at: "*/login", method: POST, on: [ request, response ] }
            expect:
              - request: { method: POST, url: http://a.example/login, body: a=1 }
                response: { status: 401, body: no }
                held: [ request, response ]
                sends: { body: a=1 }
                answers: { status: 401, body: "no" }
              - { request: GET http://a.example/login, held: false }
            """
        )
        #expect(found.isEmpty)
    }

    @Test("Names are resolved to what was chosen, and requests are sent elsewhere")
    func destinations() throws {
        let found = try problems(
            """
            dns-spoofing: { host: a.example, address: 127.0.0.1 }
            map-remote: { from: "http://b.example/*", to: "https://c.example:8443/x/" }
            expect:
              - { request: GET http://a.example/, sends: { url: http://a.example/, address: 127.0.0.1 } }
              - { request: GET http://b.example/y?z, fires: map-remote, sends: { url: "https://c.example:8443/x/y?z", address: ~ } }
            """
        )
        #expect(found.isEmpty)
    }
}
