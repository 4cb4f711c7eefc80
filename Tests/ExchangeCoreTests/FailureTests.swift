import ExchangeCore
import HTTPModel
import NIOCore
import Support
import Testing

@Suite("Failures, retries and ends")
struct FailureTests {
    @Test(
        "An idempotent request on a reused connection that closed is sent once more",
        arguments: ["GET", "DELETE", "PUT", "QUERY", "PROPFIND", "REPORT", "SEARCH", "MKCOL"]
    )
    func retry(method: String) {
        let dialogue = sent(method: method, reused: true)
        dialogue.tell { machine, _ in machine.upstreamBecameWritable(false) }
        dialogue.expect("stop client")
        dialogue.upstreamClosed()
        dialogue.expect("connect http://example.com:80 fresh")
        dialogue.ready()
        dialogue.expect("> \(method) / (none)", "> end", "read client")
        answer(dialogue)
        #expect(dialogue.record.flags == [.retried])
    }

    @Test("It is sent again only once, also where the second connection was reused")
    func retryOnce() {
        let dialogue = sent(reused: true)
        dialogue.upstreamClosed()
        dialogue.expect("connect http://example.com:80 fresh", "stop client")
        dialogue.ready(reused: true)
        dialogue.expect("> GET / (none)", "> end", "read client")
        dialogue.upstreamClosed()
        page(dialogue, 502)
        #expect(dialogue.record.failure?.code == .reset)
    }

    @Test("A kept body is sent again, with what was not sent yet behind it")
    func retryWithBody() {
        let dialogue = putting(reused: true)
        dialogue.requestPart("one")
        dialogue.expect("> part 'one'")
        dialogue.upstreamClosed()
        dialogue.expect("connect http://example.com:80 fresh", "stop client")
        dialogue.requestPart("two")
        dialogue.requestEnd()
        dialogue.expect()
        dialogue.ready()
        dialogue.expect("> PUT / (chunked)", "> part 'one'", "> part 'two'", "> end", "read client")
        answer(dialogue)
        #expect(dialogue.sink.body(.requestReceived) == "onetwo")
    }

    @Test("A body over 2 MiB is not kept, nor one for which the budget has no room, so its request is not sent again")
    func tooLargeToRetry() {
        for (limit, size) in [(Int.max, 2 << 20 + 1), (100_000, 100_001)] {
            let dialogue = Dialogue(method: "PUT", bodyBudget: ByteBudget(limit: limit))
            dialogue.requestHead(.chunked)
            dialogue.expect("connect http://example.com:80", "stop client")
            dialogue.ready(reused: true)
            dialogue.expect("> PUT / (chunked)", "read client")
            dialogue.requestPart(String(repeating: "x", count: size))
            dialogue.expect("> part \(size) bytes")
            dialogue.requestEnd()
            dialogue.expect("> end")
            dialogue.upstreamClosed()
            unanswered(dialogue)
        }
    }

    @Test("What is kept over 64 KiB counts to the budget until the response begins, if it may be needed at all")
    func budget() {
        for (method, kept) in [("PUT", 70_000), ("POST", 0)] {
            let budget = ByteBudget(limit: 1 << 20)
            let dialogue = Dialogue(method: method, bodyBudget: budget)
            dialogue.requestHead(.chunked)
            dialogue.expect("connect http://example.com:80", "stop client")
            dialogue.ready(reused: true)
            dialogue.expect("> \(method) / (chunked)", "read client")
            dialogue.requestPart(String(repeating: "x", count: 60_000))
            dialogue.expect("> part 60000 bytes")
            #expect(budget.bytesInUse == 0)
            dialogue.requestPart(String(repeating: "x", count: 10_000))
            dialogue.expect("> part 10000 bytes")
            #expect(budget.bytesInUse == kept)
            dialogue.requestEnd()
            dialogue.expect("> end")
            answer(dialogue)
            #expect(budget.bytesInUse == 0)
        }
    }

    @Test("A POST on a reused connection is not sent again, and its client is left without an answer to repeat it")
    func noRetry() {
        for method in ["POST", "PATCH", "LOCK"] {
            let post = sent(method: method, reused: true)
            post.upstreamClosed()
            unanswered(post)
        }
    }

    @Test("Nor is anything that was sent on a connection that the server may have authenticated")
    func noRetryOfBound() {
        let dialogue = Dialogue()
        dialogue.request()
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.ready(reused: true, isBound: true)
        dialogue.expect("> GET / (none)", "> end", "read client")
        dialogue.upstreamClosed()
        unanswered(dialogue)
    }

    @Test("On a fresh connection nothing is sent again")
    func noRetryOfFresh() {
        let fresh = sent()
        fresh.upstreamClosed()
        page(fresh, 502)
    }

    @Test("Once a byte of an answer came, an interim response too, nothing is sent again")
    func noRetryAfterAnswer() {
        let interim = sent(reused: true)
        interim.interim(103)
        interim.expect("< interim 103")
        interim.upstreamClosed()
        page(interim, 502)
        let head = sent(reused: true)
        head.responseHead(200, .length(5))
        head.expect("< 200 (5)")
        head.upstreamClosed()
        head.expect("abandon", "abort", "finished")
        head.finish()
        #expect(head.record.failure?.code == .reset)
    }

    @Test("A server that ends in the middle of a body is recorded with how much had come")
    func place() {
        let dialogue = sent()
        dialogue.responseHead(200, .length(5))
        dialogue.expect("< 200 (5)")
        dialogue.responsePart("abc")
        dialogue.expect("< part 'abc'")
        dialogue.upstreamClosed()
        dialogue.expect("abandon", "abort", "finished")
        dialogue.finish()
        #expect(dialogue.record.failure?.message.hasSuffix(". Of the response's body, 3 of 5 bytes had come.") == true)
    }

    @Test(
        "A connection that cannot be made gives a page",
        arguments: [(ExchangeFailure.Code.dns, 502), (.timeout, 504)]
    )
    func noConnection(code: ExchangeFailure.Code, status: Int) {
        let dialogue = Dialogue()
        dialogue.request([("Accept", "text/html")])
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.upstreamFailed(code)
        let size = dialogue.responseBody.readableBytes
        dialogue.expect("abandon", "< \(status) (\(size))", "< part \(size) bytes", "< end", "finished")
        dialogue.finish()
        #expect(dialogue.record.state == .failed)
        #expect(dialogue.record.status == status)
        #expect(dialogue.record.flags == [.answeredLocally])
        #expect(String(buffer: dialogue.responseBody).hasPrefix("<!doctype html>"))
        #expect(dialogue.sink.body(.responseReceived) == String(buffer: dialogue.responseBody))
    }

    @Test("A failed HEAD gets the page's head only")
    func failedHead() {
        let dialogue = sent(method: "HEAD")
        dialogue.upstreamFailed(.badResponse)
        dialogue.expect("abandon", "< 502 (none)", "< end", "finished")
        dialogue.finish()
        #expect(dialogue.sink.body(.responseReceived) == "")
        #expect(dialogue.record.sizes.responseBody == 0)
    }

    @Test("After a failure the rest of the request is read and dropped")
    func drained() {
        let dialogue = putting(reused: false)
        dialogue.upstreamFailed(.reset)
        let size = dialogue.responseBody.readableBytes
        dialogue.expect("abandon", "< 502 (\(size))", "< part \(size) bytes", "< end")
        dialogue.requestPart("rest")
        dialogue.expect()
        dialogue.requestEnd()
        dialogue.expect("finished")
        dialogue.finish()
        #expect(dialogue.sink.body(.requestReceived) == "rest")
    }

    @Test("An early response goes out while the request is still sent; both must end")
    func earlyResponse() {
        let dialogue = putting(reused: false)
        dialogue.responseHead(200, .length(0))
        dialogue.expect("< 200 (0)")
        dialogue.responseEnd()
        dialogue.expect("< end")
        dialogue.requestPart("rest")
        dialogue.expect("> part 'rest'")
        dialogue.requestEnd()
        dialogue.expect("> end", "finished")
        dialogue.finish()
        #expect(dialogue.record.state == .complete)
    }

    @Test("A server that closes or breaks after an early response makes no failure of it", arguments: [true, false])
    func earlyResponseThenClosed(closes: Bool) {
        let dialogue = putting(reused: false)
        dialogue.responseHead(413, .length(0))
        dialogue.expect("< 413 (0)")
        dialogue.responseEnd()
        dialogue.expect("< end")
        if closes { dialogue.upstreamClosed() } else { dialogue.upstreamFailed(.reset) }
        dialogue.expect("abandon")
        dialogue.requestPart("rest")
        dialogue.expect()
        dialogue.requestEnd()
        dialogue.expect("finished")
        dialogue.finish()
        #expect(dialogue.record.state == .complete)
        #expect(dialogue.record.failure == nil)
        #expect(dialogue.record.status == 413)
    }

    @Test("A client that goes away while connecting, waiting, or in mid-response fails the exchange", arguments: 0...2)
    func clientGone(step: Int) {
        let dialogue = Dialogue()
        dialogue.request()
        dialogue.expect("connect http://example.com:80", "stop client")
        if step > 0 {
            dialogue.ready()
            dialogue.expect("> GET / (none)", "> end", "read client")
        }
        if step > 1 {
            dialogue.responseHead(200, .length(5))
            dialogue.expect("< 200 (5)")
        }
        dialogue.clientGone()
        dialogue.expect("abandon", "abort", "finished")
        dialogue.ready()
        dialogue.finish()
        #expect(dialogue.record.failure?.code == .clientGone)
    }

    @Test("A request that breaks gives a 400 page, or after the response only a note")
    func requestFailed() {
        let early = putting(reused: false)
        early.requestFailed()
        page(early, 400)
        let late = putting(reused: false)
        late.responseHead(200, .length(0))
        late.expect("< 200 (0)")
        late.responseEnd()
        late.expect("< end")
        late.requestFailed()
        late.expect("abandon", "finished")
        late.finish()
        #expect(late.record.state == .complete)
        #expect(late.trace == ["sluice: after the response: A chunk has no size."])
    }

    @Test("Being stopped gives a page, or cuts a response short")
    func interrupted() {
        let waiting = sent()
        waiting.interrupted()
        page(waiting, 503)
        let receiving = sent()
        receiving.responseHead(200, .length(5))
        receiving.expect("< 200 (5)")
        receiving.interrupted()
        receiving.expect("abandon", "abort", "finished")
        receiving.finish()
        #expect(receiving.record.failure?.code == .stopped)
    }

    private func putting(reused: Bool) -> Dialogue {
        let dialogue = Dialogue(method: "PUT")
        dialogue.requestHead(.chunked)
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.ready(reused: reused)
        dialogue.expect("> PUT / (chunked)", "read client")
        return dialogue
    }

    /// The client's connection ends, and that is all.
    private func unanswered(_ dialogue: Dialogue, location: SourceLocation = #_sourceLocation) {
        dialogue.expect("abandon", "abort", "finished", location: location)
        dialogue.finish(location)
        #expect(dialogue.record.failure?.code == .reset && dialogue.record.status == 0, sourceLocation: location)
        #expect(dialogue.trace.contains { $0.hasSuffix("the client may repeat it") }, sourceLocation: location)
    }

    /// The client gets a page in place of a response, and that is all.
    private func page(_ dialogue: Dialogue, _ status: Int, location: SourceLocation = #_sourceLocation) {
        let size = dialogue.responseBody.readableBytes
        dialogue.expect(
            "abandon",
            "< \(status) (\(size))",
            "< part \(size) bytes",
            "< end",
            "finished",
            location: location
        )
        dialogue.finish(location)
        #expect(dialogue.record.state == .failed, sourceLocation: location)
    }
}
