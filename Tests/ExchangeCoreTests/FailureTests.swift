import ExchangeCore
import HTTPModel
import NIOCore
import Support
import Testing

@Suite("Failures, retries and ends")
struct FailureTests {
    @Test("An idempotent request on a reused connection that closed is sent once more", arguments: ["GET", "DELETE"])
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

    @Test("A body over 64 KiB is not kept, so its request is not sent again")
    func tooLargeToRetry() {
        let dialogue = putting(reused: true)
        dialogue.requestPart(String(repeating: "x", count: 65_537))
        dialogue.expect("> part 65537 bytes")
        dialogue.requestEnd()
        dialogue.expect("> end")
        dialogue.upstreamClosed()
        page(dialogue, 502)
    }

    @Test("Neither a POST nor a request on a fresh connection is sent again")
    func noRetry() {
        let post = sent(method: "POST", reused: true)
        post.upstreamClosed()
        page(post, 502)
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
