import ExchangeCore
import HTTPModel
import NIOCore
import Support
import Synchronization
import Testing

@Suite("Tunnels and upgrades")
struct TunnelTests {
    /// A stage that looks on, and would change what it gathers.
    private static let meddling = ScriptedStage.on(.rewrite) { handler in
        handler.requestDemand = .observe
        handler.responseDemand = .whole(limit: 10, decoded: true)
        handler.onResponseWhole = { _, body, _ in
            body = ByteBuffer(string: "meddled")
            return .forward
        }
    }

    @Test("A CONNECT is answered once the server is there; bytes go both ways; each half ends by itself")
    func connect() {
        let dialogue = tunnel([TunnelTests.meddling])
        dialogue.ready()
        dialogue.expect("< 200 (none)", "tunnel", "read client")
        bothWays(dialogue)
        dialogue.requestEnd()
        dialogue.expect("> end")
        dialogue.responsePart("late")
        dialogue.expect("< part 'late'")
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        dialogue.finish()
        #expect(dialogue.record.status == 200)
        #expect(dialogue.record.state == .complete)
        #expect(dialogue.record.sizes.requestBody == 2)
        #expect(dialogue.record.sizes.responseBody == 6)
        #expect(dialogue.sink.body(.responseReceived) == "..late")
        #expect(dialogue.record.flags.isDisjoint(with: [.requestBodyChanged, .responseBodyChanged]))
    }

    @Test("A server that ends first leaves the client's half open")
    func serverEndsFirst() {
        let dialogue = tunnel()
        dialogue.ready()
        dialogue.expect("< 200 (none)", "tunnel", "read client")
        dialogue.responseEnd()
        dialogue.expect("< end")
        dialogue.requestPart("still")
        dialogue.expect("> part 'still'")
        dialogue.tell { machine, _ in machine.upstreamBecameWritable(false) }
        dialogue.expect("stop client")
        dialogue.tell { machine, _ in machine.upstreamBecameWritable(true) }
        dialogue.expect("read client")
        dialogue.requestEnd()
        dialogue.expect("> end", "finished")
        dialogue.finish()
    }

    @Test(
        "A client that is gone ends the tunnel, and the server hears how",
        arguments: [nil, HTTP2ErrorCode.noError, .connectError]
    )
    func clientGone(resetCode: HTTP2ErrorCode?) {
        let dialogue = tunnel()
        dialogue.ready()
        dialogue.expect("< 200 (none)", "tunnel", "read client")
        dialogue.clientGone(resetCode: resetCode)
        dialogue.expect("abandon\(resetCode.map { " \($0)" } ?? "")", "finished")
        dialogue.finish()
        #expect(dialogue.record.failure?.code == (resetCode == .connectError ? .clientGone : nil))
        #expect(dialogue.record.state == (resetCode == .connectError ? .failed : .complete))
    }

    @Test(
        "A client that resets the connection of a tunnel after either half has ended breaks nothing off",
        arguments: [true, false]
    )
    func resetAfterHalf(isServers: Bool) {
        let dialogue = tunnel()
        dialogue.ready()
        dialogue.expect("< 200 (none)", "tunnel", "read client")
        if isServers { dialogue.responseEnd() } else { dialogue.requestEnd() }
        dialogue.expect(isServers ? "< end" : "> end")
        dialogue.clientGone(resetCode: .connectError)
        dialogue.expect("abandon CONNECT_ERROR", "finished")
        dialogue.finish()
        #expect(dialogue.record.state == .complete)
        #expect(dialogue.trace == ["sluice: the client reset the tunnel"])
    }

    @Test("An end without close_notify is handed on as one, noted, and the server's is marked")
    func withoutCloseNotify() {
        let dialogue = tunnel()
        dialogue.ready()
        dialogue.expect("< 200 (none)", "tunnel", "read client")
        dialogue.tell { $0.requestEndReceived(trailers: nil, wireBytes: 0, isClean: false, now: $1) }
        dialogue.expect("withhold close_notify request", "> end")
        #expect(!dialogue.record.flags.contains(.endedWithoutCloseNotify))
        dialogue.responseEnd(isClean: false)
        dialogue.expect("withhold close_notify response", "< end", "finished")
        dialogue.finish()
        #expect(dialogue.record.flags.contains(.endedWithoutCloseNotify))
        #expect(dialogue.record.state == .complete)
        #expect(dialogue.trace.count == 2)
    }

    @Test(
        "A server that is gone without an end cuts the client off",
        arguments: [nil, HTTP2ErrorCode.noError]
    )
    func serverGone(resetCode: HTTP2ErrorCode?) {
        let dialogue = tunnel()
        dialogue.ready()
        dialogue.expect("< 200 (none)", "tunnel", "read client")
        dialogue.upstreamClosed(resetCode: resetCode)
        dialogue.expect("abandon", resetCode == nil ? "abort CONNECT_ERROR" : "abort NO_ERROR", "finished")
        dialogue.finish()
        #expect(dialogue.record.state == .failed)
    }

    @Test("A server gone after its half ended ends the tunnel too", arguments: [true, false])
    func goneAfterHalf(closes: Bool) {
        let dialogue = tunnel()
        dialogue.ready()
        dialogue.expect("< 200 (none)", "tunnel", "read client")
        dialogue.responseEnd()
        dialogue.expect("< end")
        if closes { dialogue.upstreamClosed() } else { dialogue.upstreamFailed(.reset) }
        dialogue.expect("abandon", "finished")
        dialogue.finish()
    }

    @Test("A CONNECT whose server is not there gets a 502")
    func unreachable() {
        let dialogue = tunnel()
        dialogue.upstreamFailed()
        let size = dialogue.responseBody.readableBytes
        dialogue.expect("abandon", "< 502 (\(size))", "< part \(size) bytes", "< end", "read client")
        dialogue.clientGone()
        dialogue.expect("finished")
        dialogue.finish()
        #expect(dialogue.record.state == .failed)
    }

    @Test("A tunnel that is read after all ends without a word to its client", arguments: [true, false])
    func readAfterAll(isConnected: Bool) {
        let dialogue = Dialogue(url: "example.com:443", method: "CONNECT", kind: .tunnel, established: true)
        dialogue.requestHead()
        dialogue.expect("connect tunnel://example.com:443", "stop client")
        if isConnected {
            dialogue.ready()
            dialogue.expect("tunnel", "read client")
        }
        dialogue.tell { $0.tunnelIsRead(now: $1) }
        // Nobody has cut anything off.
        dialogue.expect("abandon NO_ERROR", "finished")
        #expect(dialogue.record.failure == nil)
        dialogue.finish()
    }

    @Test("An established tunnel is not answered twice, nor with a page inside it")
    func established() {
        let good = tunnel(established: true)
        good.ready()
        good.expect("tunnel", "read client")
        good.clientGone()
        good.expect("abandon", "finished")
        good.finish()
        #expect(good.record.status == 200)
        let bad = tunnel(established: true)
        bad.upstreamFailed()
        bad.expect("abandon", "abort", "finished")
        bad.finish()
        let refused = Dialogue(
            [
                ScriptedStage.on(.blockList) {
                    $0.onRequestHead = { _, _ in .refuse(LocalAnswer(status: 403, contentType: "a/b", text: "")) }
                }
            ],
            url: "example.com:443",
            method: "CONNECT",
            kind: .decryptedTunnel,
            established: true
        )
        refused.requestHead()
        refused.expect("abort CONNECT_ERROR", "finished")
        refused.finish()
        #expect(refused.record.state == .blocked)
    }

    @Test("A tunnel cannot be answered by a stage, but refused and dropped")
    func stages() {
        let answering = ScriptedStage.on(.mapLocal) {
            $0.onRequestHead = { _, _ in .respond(LocalAnswer(status: 200, contentType: "a/b", text: "x")) }
        }
        let dialogue = tunnel([answering])
        dialogue.leaveOpen()
    }

    @Test("A stage that wants a CONNECT whole gets it at once, without a body, and can hold but not fill it")
    func wholeConnect() {
        let asked = Mutex<[ByteBuffer]>([])
        let whole = ScriptedStage.on(.breakpoints) { handler in
            handler.requestDemand = .whole(limit: 10, decoded: true)
            handler.onRequestWhole = { _, body, _ in
                asked.withLock { $0.append(body) }
                body = ByteBuffer(string: "meddled")
                return .pause(.decision(nil))
            }
        }
        let dialogue = Dialogue([whole], url: "example.com:443", method: "CONNECT", kind: .tunnel)
        dialogue.requestHead()
        dialogue.expect("hold 1.1 request", "stop client")
        guard case .request(let head, nil, let destination)? = dialogue.held else { return }
        #expect(
            dialogue.decide(.execute(.request(head, body: ByteBuffer(string: "not used"), destination: destination)))
        )
        dialogue.expect("connect tunnel://example.com:443")
        dialogue.ready()
        dialogue.expect("< 200 (none)", "tunnel", "read client")
        bothWays(dialogue)
        dialogue.leaveOpen()
        #expect(asked.withLock(\.self) == [ByteBuffer()])
        #expect(dialogue.sink.body(.requestReceived) == "..")
    }

    @Test("Tunnelled TLS is counted but not recorded")
    func tunnelledTLS() {
        let dialogue = tunnel()
        dialogue.ready()
        dialogue.expect("< 200 (none)", "tunnel", "read client")
        dialogue.tell { machine, _ in machine.tunnelIsTLS("not decrypted: example.com is excluded") }
        bothWays(dialogue)
        dialogue.clientGone()
        dialogue.expect("abandon", "finished")
        dialogue.finish()
        #expect(dialogue.sink.body(.requestReceived) == "")
        #expect(dialogue.sink.body(.responseReceived) == "")
        #expect(dialogue.record.sizes.requestBody == 2)
        #expect(dialogue.record.flags.contains(.tunnelledTLS))
    }

    @Test("After 101 bytes go both ways, past whatever stages there are")
    func upgrade() {
        let dialogue = sent([TunnelTests.meddling], fields: [("Upgrade", "echo")])
        dialogue.responseHead(101, .none, [("Upgrade", "echo")])
        dialogue.expect("< 101 (none)", "tunnel")
        bothWays(dialogue)
        dialogue.responseEnd()
        dialogue.expect("< end")
        dialogue.requestEnd()
        dialogue.expect("> end", "finished")
        dialogue.finish()
        #expect(dialogue.record.kind == .upgraded)
        #expect(dialogue.record.status == 101)
        #expect(dialogue.sink.body(.requestReceived) == "..")
        #expect(dialogue.record.timings.send == 0)
    }

    @Test("A refused upgrade goes on as HTTP")
    func refusedUpgrade() {
        let dialogue = sent()
        answer(dialogue)
        #expect(dialogue.record.kind == .http)
    }

    @Test("A 101 before the request is whole is a failure (RFC 9110 7.8)")
    func earlyUpgrade() {
        let dialogue = Dialogue(method: "POST")
        dialogue.requestHead(.length(5))
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.ready()
        dialogue.expect("> POST / (5)", "read client")
        dialogue.responseHead(101)
        let size = dialogue.responseBody.readableBytes
        dialogue.expect("abandon", "< 502 (\(size))", "< part \(size) bytes", "< end")
        dialogue.clientGone()
        dialogue.expect("finished")
        dialogue.finish()
        #expect(dialogue.record.failure?.code == .badResponse)
    }

    @Test("A 101 that a stage makes another response of switches nothing")
    func editedUpgrade() {
        let stage = ScriptedStage.on(.rewrite) { handler in
            handler.onResponseHead = { head, _ in
                head.status = 403
                return .forward
            }
        }
        let dialogue = sent([stage], fields: [("Upgrade", "echo")])
        dialogue.responseHead(101, .none, [("Upgrade", "echo")])
        dialogue.expect("< 403 (0)", "abandon", "< end", "finished")
        dialogue.finish()
    }

    @Test("A 101 that nobody asked for is a failure (RFC 9110 7.8)")
    func unaskedUpgrade() {
        let dialogue = sent()
        dialogue.responseHead(101)
        let size = dialogue.responseBody.readableBytes
        dialogue.expect("abandon", "< 502 (\(size))", "< part \(size) bytes", "< end", "finished")
        dialogue.finish()
        #expect(dialogue.record.failure?.code == .badResponse)
    }

    @Test(
        "A 101 has to agree on a protocol that was asked for (RFC 9110 7.8)",
        arguments: [
            ("echo", [], false), ("echo", ["other"], false), ("echo", [" , "], false),
            ("echo", ["HTTP/2.0, echo"], false),
            ("TLS/1.0", ["TLS/1.2, HTTP/1.1"], true), ("a, SPDY/3.1", ["spdy/3.1"], true), ("tcp", ["TCP", "x"], true),
        ]
    )
    func agreedUpgrade(asked: String, agreed: [String], isRight: Bool) {
        let dialogue = sent(fields: [("Upgrade", asked)])
        dialogue.responseHead(101, .none, agreed.map { ("Upgrade", $0) })
        if isRight {
            dialogue.expect("< 101 (none)", "tunnel")
            dialogue.leaveOpen()
            return
        }
        let size = dialogue.responseBody.readableBytes
        dialogue.expect("abandon", "< 502 (\(size))", "< part \(size) bytes", "< end", "finished")
        dialogue.finish()
        #expect(dialogue.record.failure?.code == .badResponse)
    }

    @Test("A flood of interim responses is a failure")
    func interimFlood() {
        let dialogue = sent()
        for _ in 1...100 {
            dialogue.interim(103)
            dialogue.expect("< interim 103")
        }
        dialogue.interim(103)
        let size = dialogue.responseBody.readableBytes
        dialogue.expect("abandon", "< 502 (\(size))", "< part \(size) bytes", "< end", "finished")
        dialogue.finish()
        #expect(dialogue.record.failure?.code == .badResponse)
    }

    private func tunnel(_ stages: [any Stage] = [], established: Bool = false) -> Dialogue {
        let dialogue = Dialogue(
            stages,
            url: "example.com:443",
            method: "CONNECT",
            kind: .tunnel,
            established: established
        )
        dialogue.requestHead()
        dialogue.expect("connect tunnel://example.com:443", "stop client")
        return dialogue
    }

    private func bothWays(_ dialogue: Dialogue) {
        dialogue.requestPart("..")
        dialogue.expect("> part '..'")
        dialogue.responsePart("..")
        dialogue.expect("< part '..'")
    }
}
