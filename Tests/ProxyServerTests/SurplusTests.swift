import ExchangeCore
import HTTPModel
import NIOCore
import ProxyServer
import Support
import Testing

@Suite("Servers that send more than their response", .timeLimit(.minutes(1)))
struct SurplusTests {
    private static let ok = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n"

    @Test(
        "The exchange says how many bytes were dropped, also where it is not over by then",
        arguments: [
            ("GET", ok + "hello", 2), ("GET", ok + "hell", 1), ("GET", ok + "hel" + ok + "bye", ok.utf8.count + 3),
            ("HEAD", ok + "hel", 3), ("GET", "HTTP/1.1 204 No Content\r\n\r\nhello", 5),
            ("GET", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nhel\r\n0\r\n\r\nlo", 2),
            ("GET", ok + "hel", 0),
        ],
        [false, true]
    )
    func surplus(response: (method: String, answer: String, count: Int), isSlow: Bool) async throws {
        let origin = try await LoopbackOrigin { _ in response.answer }
        let stage = ScriptedStage.delaying(.throttle, by: .milliseconds(50))
        let rules = ProxyRules(chain: isSlow ? StageChain([stage]) : StageChain())
        try await LoopbackProxy.run(rules: rules) { proxy in
            let client = try await proxy.connect()
            let request = "\(response.method) http://127.0.0.1:\(origin.port)/ HTTP/1.1\r\nHost: x\r\n\r\n"
            // The second is answered on a connection of its own, and the client sees nothing of what is dropped.
            for count in 1...2 {
                try await client.send(request)
                try await eventually("exchange \(count) is over") { proxy.recorder.finished.count == count }
            }
            try await eventually("both came: \(client.text)") { client.text.ranges(of: "HTTP/1.1 20").count == 2 }
            #expect(!client.text.contains("hell") && !client.text.contains("bye"), "\(client.text)")
            for (record, messages) in proxy.recorder.finished {
                #expect(record.state == .complete)
                let trace = messages.trace.map(\.text)
                let bytes = "\(response.count) byte\(response.count == 1 ? "" : "s")"
                let said = "\(bytes) more than the response came from the server, and were dropped"
                #expect(trace == (response.count == 0 ? [] : [said]))
            }
            let connections = Set(proxy.recorder.connections.filter { $0.leg == .upstream }.map(\.id))
            #expect(connections.count == (response.count == 0 ? 1 : 2))
        }
    }
}
