import ExchangeCore
import Foundation
import HTTPModel
import NIOCore
import Testing
import Text

@testable import Runner

@Suite("What commands print of a running Sluice")
struct ControlListingTests {
    @Test("Messages that wait stand in columns")
    func holds() throws {
        var endless = WaitingHold(1_234, try Held.request(body: nil))
        endless.unanswered = nil
        endless.age = 3_725
        let holds = [
            WaitingHold(12, try Held.request("PUT", "https://a.example/x", body: ByteBuffer(string: "hi"))),
            WaitingHold(
                13,
                ordinal: 2,
                try Held.response(404, "Not Found", body: ByteBuffer(repeating: 1, count: 1_240_000))
            ),
            endless,
        ]
        #expect(
            ControlListing.table(holds.map { HoldSummary($0) }) == """
                ID          AGE  WHAT         URL                                                BODY  UNANSWERED
                12.1       1:15  PUT          https://a.example/x                                 2 B  cancel in 0:18
                13.2       1:15  404 for GET  https://api.example.com/old                      1.2 MB  cancel in 0:18
                1234.1  1:02:05  POST         https://api.example.com/v1/users?page=1&size=20    head  waiting

                """
        )
    }

    @Test("A message is shown with its head and its decoded body, nothing steers the terminal")
    func shown() throws {
        let message = try Held.request(fields: [("X", "a\u{1B}[31mb")], body: ByteBuffer(string: "one\r\ntwo\u{1B}c"))
        #expect(
            ControlListing.text(HoldDetails(WaitingHold(12, message))) == """
                12.1  request, held for 1:15; unanswered: cancel in 0:18

                POST https://api.example.com/v1/users?page=1&size=20 HTTP/1.1
                Host: api.example.com
                X: a^[[31mb

                one
                two^[c

                """
        )
    }

    @Test("A status says what is in force; its JSON does not have the proxy's password")
    func status() throws {
        var status = ControlStatus(version: "1.2.3", address: "127.0.0.1:8080", pid: 7)
        status.listeners = [
            ListenerState(mode: "regular", address: "127.0.0.1:8080"),
            ListenerState(mode: "socks5", address: "127.0.0.1:1080"),
        ]
        status.proxyAuthorization = "Basic c2VjcmV0"
        status.session = "/tmp/s.sluice"
        status.recording = RecordingState(isOn: false)
        status.tools = [
            ToolState(name: "block", isOn: true, rules: 2, enabled: 1),
            ToolState(name: "rewrite", isOn: false, rules: 2, enabled: 2),
        ]
        #expect(
            ControlListing.text(status) == """
                Sluice     1.2.3, process 7
                listening  127.0.0.1:8080
                listening  127.0.0.1:1080 as socks5
                session    /tmp/s.sluice
                recording  off
                profile    none
                tools      block
                held       0 messages

                """
        )
        #expect(try !ControlListing.json(status).contains("c2VjcmV0"))
    }

    @Test("Hidden characters are named in lists and escaped in JSON")
    func hidden() throws {
        let hold = WaitingHold(12, try Held.request("PUT", "https://a.example/\u{202E}\u{9B}31m", body: nil))
        let table = ControlListing.table([HoldSummary(hold)])
        #expect(table.contains("https://a.example/<U+202E><U+009B>31m"))
        #expect(VisibleText.lines(table) == table)
        let json = try ControlListing.json(HoldSummary(hold))
        #expect(json.contains("/\\u202e\\u009b31m"))
        #expect(VisibleText.lines(json) == json)
        let summary = try ControlLine.decode(HoldSummary.self, Data(json.utf8))
        #expect(summary.url == "https://a.example/\u{202E}\u{9B}31m")
    }

    @Test("A body that is no text, or not there, is described")
    func described() throws {
        func text(_ message: HeldMessage) -> String { ControlListing.text(HoldDetails(WaitingHold(12, message))) }
        let bytes = ByteBuffer(bytes: [0, 1, 0xAB])
        #expect(
            try text(Held.response(body: bytes)).hasSuffix(
                "\n(a body of 3 B that is not text; it begins with 00 01 ab)\n"
            )
        )
        #expect(try text(Held.response(body: nil)).hasSuffix("\n(the body is not held)\n"))
        #expect(try text(Held.response()).hasSuffix("HTTP/1.1 200 OK\n"))
        let broken = try Held.response(fields: [("Content-Encoding", "gzip")], body: bytes)
        #expect(text(broken).contains("(the body could not be decoded completely: "))
        let large = try Held.response(body: ByteBuffer(repeating: 65, count: ControlProtocol.longestShownBody + 1))
        #expect(text(large).hasSuffix("\n(a body of 8.3 MB)\n"))
    }

    @Test("Tools stand in columns, with what is not enabled")
    func tools() {
        let tools = [
            ToolState(name: "block", isOn: true, rules: 2, enabled: 1),
            ToolState(name: "throttle", isOn: false, rules: 0, enabled: 0),
        ]
        #expect(
            ControlListing.table(tools) == """
                TOOL           RULES
                block     on   2 (1 not enabled)
                throttle  off  0

                """
        )
        #expect(
            (try? ControlListing.json(tools[0])) == "{\"enabled\":1,\"name\":\"block\",\"on\":true,\"rules\":2}\n"
        )
    }
}
