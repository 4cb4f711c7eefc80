import Foundation
import Synchronization
import Testing

@testable import Agents

@Suite("The protocol for agents")
struct AgentServerTests {
    /// What a server answers to these lines, in the order of the answers.
    private func answers(_ lines: [String?], tools: [AgentTool] = [echo]) async -> [JSON] {
        let written = Mutex<[JSON]>([])
        let server = AgentServer(tools, instructions: "Be careful.") { line in
            #expect(!line.contains("\n"))
            if let message = JSON(Data(line.utf8)) { written.withLock { $0.append(message) } }
        }
        let (input, lineEnds) = AsyncStream<Data?>.makeStream()
        for line in lines { lineEnds.yield(line.map { Data($0.utf8) }) }
        let calls = lines.compactMap { $0 }.count { $0.contains("tools/call") && !$0.contains("slow") }
        async let end: Void = server.serve(input)
        // Calls run beside the reading of lines.
        for _ in 0..<1_000 where written.withLock({ $0.count }) < calls { try? await Task.sleep(for: .milliseconds(5)) }
        lineEnds.finish()
        await end
        return written.withLock(\.self)
    }

    private static let echo = AgentTool(
        name: "echo",
        title: "Echo",
        meaning: "Returns a text.",
        parameters: [.init(name: "text", kind: .text(10), meaning: "The text.", isRequired: true)]
    ) { arguments in ["untrusted": .string(arguments.text("text") ?? "")] }

    private static let slow = AgentTool(name: "slow", title: "Slow", meaning: "Waits.", parameters: []) { _ in
        try await Task.sleep(for: .seconds(3_600))
        return [:]
    }

    private static let meta =
        #""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#

    private func request(_ method: String, _ members: String = "", id: String = "1", meta: String = Self.meta) -> String
    {
        let parameters = [members, meta].filter { !$0.isEmpty }.joined(separator: ",")
        return #"{"jsonrpc":"2.0","id":\#(id),"method":"\#(method)","params":{\#(parameters)}}"#
    }

    @Test("server/discover says versions, capabilities and how long that is true")
    func discovery() async {
        let result = await answers([request("server/discover")]).first?["result"]
        #expect(result?["supportedVersions"] == ["2026-07-28"] && result?["capabilities"] == ["tools": [:]])
        #expect(result?["resultType"] == "complete" && result?["cacheScope"] == "private")
        #expect(result?["ttlMs"]?.integer == 3_600_000)
        #expect(result?["_meta"]?["io.modelcontextprotocol/serverInfo"]?["name"] == "sluice")
    }

    @Test("initialize answers with the version asked for, or with the newest one with a handshake")
    func handshake() async {
        for (asked, given) in [
            ("2025-11-25", "2025-11-25"), ("2024-11-05", "2024-11-05"), ("2099-01-01", "2025-11-25"),
        ] {
            let line = request("initialize", #""protocolVersion":"\#(asked)""#, meta: "")
            let result = await answers([line, request("tools/list", id: "2", meta: "")])
            #expect(result.first?["result"]?["protocolVersion"] == .string(given))
            // The members of the later revision are left out.
            #expect(result.last?["result"]?["tools"]?.array?.count == 1 && result.last?["result"]?["ttlMs"] == nil)
        }
    }

    @Test(
        "Wrong messages get their code",
        arguments: [
            ("{", -32700), ("[]", -32600), ("1", -32600), (#"{"jsonrpc":"2.0","id":1}"#, -32600),
            (#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, -32600),
            (#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#, -32600),
            (#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#, -32602),
            (
                #"{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}"#,
                -32602
            ),
            (String(repeating: "[", count: 5_000), -32700),
        ]
    )
    func wrong(line: String, code: Int) async {
        #expect(await answers([line]).first?["error"]?["code"]?.integer == Int64(code))
    }

    @Test("A line that is too long is refused, and the next one is answered")
    func longLine() async {
        let answers = await answers([nil, request("server/discover")])
        #expect(answers.map { $0["error"]?["code"]?.integer } == [-32600, nil])
    }

    @Test("An unknown version is refused with the versions that there are")
    func version() async {
        let meta = Self.meta.replacing("2026-07-28", with: "1900-01-01")
        let error = await answers([request("tools/list", meta: meta)]).first?["error"]
        #expect(error?["code"]?.integer == -32022)
        #expect(error?["data"] == ["supported": ["2026-07-28"], "requested": "1900-01-01"])
    }

    @Test("Unknown methods and tools are errors of the protocol; wrong arguments are for the agent")
    func calls() async {
        #expect(await answers([request("prompts/list")]).first?["error"]?["code"]?.integer == -32601)
        #expect(await answers([request("ping")]).first?["error"]?["code"]?.integer == -32601)
        let unknown = request("tools/call", #""name":"nosuch","arguments":{}"#)
        #expect(await answers([unknown]).first?["error"]?["code"]?.integer == -32602)
        for (arguments, words) in [
            ("{}", "'text' is missing"), (#"{"text":1}"#, "must be a text"),
            (#"{"text":"12345678901"}"#, "longer than 10"),
            (#"{"text":"a","more":1}"#, "no parameter 'more'"),
        ] {
            let result = await answers([request("tools/call", #""name":"echo","arguments":\#(arguments)"#)]).first?[
                "result"
            ]
            #expect(result?["isError"] == true)
            #expect(result?["content"]?.array?.first?["text"]?.string?.contains(words) == true, "\(arguments)")
        }
        let right = await answers([request("tools/call", #""name":"echo","arguments":{"text":"a\nb"}"#)]).first?[
            "result"
        ]
        #expect(right?["isError"] == false && right?["structuredContent"] == ["untrusted": "a\nb"])
    }

    @Test("A cancelled call gets no answer, and the end of input ends the calls that run")
    func cancelling() async {
        let cancelled = #"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":7}}"#
        let lines = [
            request("tools/call", #""name":"slow","arguments":{}"#, id: "7"), cancelled,
            request("tools/call", #""name":"slow","arguments":{}"#, id: "8"),
            request("tools/call", #""name":"echo","arguments":{"text":"a"}"#, id: "9"),
        ]
        let began = ContinuousClock.now
        let answers = await answers(lines, tools: [Self.echo, Self.slow])
        #expect(answers.map { $0["id"] } == [9])
        #expect(ContinuousClock.now - began < .seconds(1_800))
    }

    @Test("The eleventh call in a second is refused, and says when to try again")
    func limit() async {
        let lines = (1...11).map { request("tools/call", #""name":"echo","arguments":{"text":"a"}"#, id: "\($0)") }
        let refused = await answers(lines).filter { $0["result"]?["isError"] == true }
        #expect(refused.count == 1)
        let text = refused.first?["result"]?["content"]?.array?.first?["text"]?.string ?? ""
        #expect(text.contains("Try again in"))
    }

    @Test("Sixty requests a minute may be sent")
    func sending() {
        var limit = CallLimit(most: 60, within: .seconds(60))
        let start = ContinuousClock.now
        for second in 0..<60 { #expect(limit.take(now: start + .milliseconds(second)) == nil) }
        #expect(limit.take(now: start + .seconds(59)).map { $0 <= .seconds(1) } == true)
        #expect(limit.take(now: start + .seconds(60)) == nil)
    }

    @Test("A text is cut before a character that does not fit whole")
    func cut() {
        #expect(["aé", "éa", "日本"].map { $0.cut(to: 2) } == ["a…", "é…", "…"])
        #expect("é".cut(to: 2) == "é")
    }

    @Test("Lines of a file: one that is too long is missing, also at the end")
    func lines() async throws {
        for (text, expected) in [
            ("ab\ncd", ["ab", "cd"]), ("long line\nab\n", [nil, "ab"]), ("ab\nlong line", ["ab", nil]),
        ] {
            let pipe = Pipe()
            try pipe.fileHandleForWriting.write(contentsOf: Data(text.utf8))
            try pipe.fileHandleForWriting.close()
            let descriptor = pipe.fileHandleForReading.fileDescriptor
            var lines: [String?] = []
            for await line in LineInput.lines(of: descriptor, longest: 5) {
                lines.append(line.map { String(decoding: $0, as: UTF8.self) })
            }
            #expect(lines == expected, "\(text)")
        }
    }
}
