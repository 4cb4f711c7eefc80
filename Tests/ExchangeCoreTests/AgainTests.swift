import ExchangeCore
import HTTPModel
import NIOCore
import Support
import Testing

@Suite("Being asked again")
struct AgainTests {
    @Test("A head hook that wants to be asked again is, until it decides; the head stays as it left it")
    func head() {
        let stage = ScriptedStage.on(.throttle) { handler in
            var count = 0
            handler.onRequestHead = { head, exchange in
                count += 1
                if count == 1 { head.target = "/edited" }
                return count < 3 ? .pause(.again(at: exchange.now + .milliseconds(10))) : .forward
            }
        }
        let dialogue = Dialogue([stage])
        dialogue.request()
        dialogue.expect("wake request 1", "stop client")
        dialogue.elapsed(.request, 1)
        dialogue.expect("wake request 2")
        #expect(dialogue.requestPauses == .paced)
        dialogue.elapsed(.request, 2)
        dialogue.expect("connect http://example.com:80")
        dialogue.ready()
        dialogue.expect("> GET /edited (none)", "> end", "read client")
        dialogue.leaveOpen()
    }

    @Test("A head may be failed when it is asked about again")
    func failure() {
        let stage = ScriptedStage.on(.throttle) { handler in
            var isSecond = false
            handler.onResponseHead = { _, exchange in
                defer { isSecond = true }
                return isSecond
                    ? .fail(ExchangeFailure(.reset, "No."))
                    : .pause(.again(at: exchange.now + .milliseconds(10)))
            }
        }
        let dialogue = Dialogue([stage])
        dialogue.request()
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.ready()
        dialogue.expect("> GET / (none)", "> end", "read client")
        dialogue.responseHead(200, .length(5))
        dialogue.expect("wake response 1", "stop upstream")
        dialogue.elapsed(.response, 1)
        dialogue.expect("abandon", "abort", "finished")
        dialogue.finish()
    }

    @Test("Bytes that are paced may be kept back whole until the question is asked again")
    func bytes() {
        let stage = ScriptedStage.on(.throttle) { handler in
            handler.responseDemand = .pace
            var answers = [false, false, true, false, true]
            handler.onPace = { _, waiting, exchange in
                let isThrough = answers.isEmpty || answers.removeFirst()
                return isThrough
                    ? .pass(min(2, waiting.readableBytes), at: exchange.now)
                    : .again(at: exchange.now + .milliseconds(10))
            }
        }
        let dialogue = Dialogue([stage])
        dialogue.request()
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.ready()
        dialogue.expect("> GET / (none)", "> end", "read client")
        dialogue.responseHead(200, .length(5))
        dialogue.expect("< 200 (5)")
        dialogue.responsePart("abcde")
        dialogue.expect("wake response 1", "stop upstream")
        dialogue.elapsed(.response, 1)
        dialogue.expect("wake response 2")
        dialogue.elapsed(.response, 2)
        dialogue.expect("< part 'ab'", "wake response 3")
        dialogue.elapsed(.response, 3)
        dialogue.expect("< part 'cd'", "< part 'e'", "read upstream")
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        dialogue.finish()
    }
}
