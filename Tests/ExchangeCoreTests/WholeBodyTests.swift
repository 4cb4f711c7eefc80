import Content
import ExchangeCore
import HTTPModel
import NIOCore
import Support
import Testing

@Suite("Whole bodies")
struct WholeBodyTests {
    /// A stage that puts something at the end of the response's body.
    private static func appending(
        _ text: String,
        slot: StageID = .rewrite,
        limit: Int = 100,
        decoded: Bool = false
    ) -> ScriptedStage {
        .on(slot) { handler in
            handler.responseDemand = .whole(limit: limit, decoded: decoded)
            handler.onResponseWhole = { _, body, exchange in
                body.writeString(text)
                exchange.fired(rule: nil, "appended")
                return .forward
            }
        }
    }

    @Test("A body within the limit is given whole and framed anew; trailers stay")
    func underLimit() {
        let dialogue = sent([WholeBodyTests.appending("!")])
        dialogue.responseHead(200, .untilClose)
        dialogue.responsePart("ab")
        dialogue.responsePart("cd")
        dialogue.expect()
        dialogue.responseEnd()
        dialogue.expect("< 200 (5)", "< part 'abcd!'", "< end", "finished")
        dialogue.finish()
        #expect(dialogue.sink.body(.responseReceived) == "abcd")
        #expect(dialogue.sink.body(.responseSent) == "abcd!")

        let trailing = sent([WholeBodyTests.appending("!")])
        trailing.responseHead(200, .chunked)
        trailing.responseEnd([("X-T", "1")])
        trailing.expect("< 200 (chunked)", "< part '!'", "< end X-T: 1", "finished")
        trailing.finish()
    }

    @Test("An unchanged body goes on with the framing it came with")
    func unchanged() {
        let dialogue = sent([WholeBodyTests.appending("")])
        dialogue.responseHead(200, .chunked)
        dialogue.responsePart("ab")
        dialogue.responseEnd()
        dialogue.expect("< 200 (chunked)", "< part 'ab'", "< end", "finished")
        dialogue.finish()
        #expect(dialogue.record.flags.isDisjoint(with: [.responseBodyChanged, .responseChanged]))
    }

    @Test("Over the limit everything passes unmodified, and the trace says so")
    func overLimit() {
        let dialogue = sent([WholeBodyTests.appending("!", limit: 3)])
        dialogue.responseHead(200, .chunked)
        dialogue.responsePart("ab")
        dialogue.expect()
        dialogue.responsePart("cd")
        dialogue.expect("< 200 (chunked)", "< part 'abcd'")
        dialogue.responsePart("ef")
        dialogue.expect("< part 'ef'")
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        dialogue.finish()
        #expect(
            dialogue.trace == [
                "rewrite: the body is larger than the limit of 3 bytes; it passed unmodified"
            ]
        )
    }

    @Test("A length over the limit is believed at once")
    func announcedOverLimit() {
        let dialogue = sent([WholeBodyTests.appending("!", limit: 3)])
        dialogue.responseHead(200, .length(4))
        dialogue.expect("< 200 (4)")
        dialogue.responsePart("abcd")
        dialogue.expect("< part 'abcd'")
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        dialogue.finish()
        #expect(dialogue.trace.count == 1)
    }

    @Test("Two stages each get the body, the second as the first left it")
    func twoStages() {
        let dialogue = sent([
            WholeBodyTests.appending("2", slot: .breakpoints), WholeBodyTests.appending("1", slot: .rewrite),
        ])
        dialogue.responseHead(200, .length(1))
        dialogue.responsePart("0")
        dialogue.responseEnd()
        dialogue.expect("< 200 (3)", "< part '012'", "< end", "finished")
        dialogue.finish()
    }

    @Test(
        "A coded body is decoded before and coded again after",
        arguments: ["gzip", "deflate", "br", "zstd", "gzip, br"]
    )
    func coded(encoding: String) throws {
        let codings = ContentCoding.list(encoding)
        let dialogue = sent([WholeBodyTests.appending(" world", decoded: true)])
        dialogue.responseHead(200, .chunked, [("Content-Encoding", encoding)])
        dialogue.responsePart(try ContentEncoder.encode(ByteBuffer(string: "hello"), codings: codings))
        dialogue.responseEnd()
        let size = dialogue.responseBody.readableBytes
        let lines = dialogue.takePending()
        #expect(lines.first == "< 200 (\(size))")
        #expect(lines.suffix(2) == ["< end", "finished"])
        dialogue.finish()
        #expect(dialogue.responseHead?.fields.value(of: .contentEncoding) == encoding)
        let decoded = ContentDecoder.decode(dialogue.responseBody, codings: codings, limit: 1_000)
        #expect(String(buffer: decoded.bytes) == "hello world")
    }

    @Test("A body whose coding is broken or unknown passes unmodified", arguments: ["gzip", "rot13"])
    func corrupt(encoding: String) {
        let dialogue = sent([WholeBodyTests.appending("!", decoded: true)])
        dialogue.responseHead(200, .length(4), [("Content-Encoding", encoding)])
        dialogue.responsePart("abcd")
        dialogue.responseEnd()
        dialogue.expect("< 200 (4)", "< part 'abcd'", "< end", "finished")
        dialogue.finish()
        #expect(dialogue.trace.count == 1)
        #expect(dialogue.trace.first?.contains("could not be decoded") == true)
    }

    @Test("A stage that gathers the request lets the client continue, at once or when an earlier pause ends")
    func expectContinue() {
        let gathering = ScriptedStage.on(.breakpoints) { $0.requestDemand = .whole(limit: 10, decoded: false) }
        let dialogue = Dialogue([gathering], method: "PUT")
        dialogue.requestHead(.length(2), [("Expect", "100-continue")])
        dialogue.expect("< interim 100")
        dialogue.requestPart("ab")
        dialogue.requestEnd()
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.ready()
        dialogue.expect("> PUT / (2)", "> part 'ab'", "> end", "read client")
        dialogue.interim(100)
        dialogue.expect()
        dialogue.responseHead(200, .length(0))
        dialogue.expect("< 200 (0)")
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        dialogue.finish()

        let pausing = ScriptedStage.delaying(.rewrite, by: .zero)
        let later = Dialogue([pausing, gathering], method: "PUT")
        later.requestHead(.length(2), [("Expect", "100-continue")])
        later.expect("wake request 1", "stop client")
        later.elapsed(.request, 1)
        later.expect("< interim 100", "read client")
        later.leaveOpen()
    }
}
