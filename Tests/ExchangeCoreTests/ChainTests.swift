import Content
import ExchangeCore
import HTTPModel
import NIOCore
import Support
import Testing

@Suite("Stages in a chain")
struct ChainTests {
    private static let answer = LocalAnswer(status: 200, contentType: "text/plain", text: "local")

    @Test("A stage's answer replaces the server only: later request hooks and the response chain still run")
    func localAnswer() {
        let stages: [any Stage] = [
            ScriptedStage.on(.throttle) { handler in
                handler.onRequestHead = { _, exchange in
                    exchange.note("asked")
                    return .forward
                }
            },
            ScriptedStage.on(.mapLocal) { $0.onRequestHead = { _, _ in .respond(ChainTests.answer) } },
            ScriptedStage.on(.rewrite) { handler in
                handler.onResponseHead = { head, _ in
                    head.fields.append("X-Rewritten", "yes")
                    return .forward
                }
            },
        ]
        let dialogue = Dialogue(stages, method: "POST")
        dialogue.requestHead(.length(4))
        dialogue.expect("< 200 (5)", "< part 'local'", "< end")
        dialogue.requestPart("body")
        dialogue.expect()
        dialogue.requestEnd()
        dialogue.expect("finished")
        dialogue.finish()
        #expect(dialogue.responseHead?.fields.value(of: "x-rewritten") == "yes")
        #expect(dialogue.trace == ["throttle: asked"])
        #expect(dialogue.record.flags == [.answeredLocally, .responseChanged])
        #expect(dialogue.record.upstreamConnection == nil)
        #expect(dialogue.sink.body(.requestReceived) == "body")
        #expect(dialogue.sink.body(.responseReceived) == "local")
    }

    @Test("A local answer to HEAD has no body, sent or recorded")
    func localAnswerToHead() {
        let dialogue = Dialogue(
            [ScriptedStage.on(.mapLocal) { $0.onRequestHead = { _, _ in .respond(ChainTests.answer) } }],
            method: "HEAD"
        )
        dialogue.request()
        // The head asked for is answered before the client says that it has no more.
        dialogue.expect("< 200 (none)", "< end", "finished")
        dialogue.finish()
        #expect(dialogue.sink.body(.responseReceived) == "")
    }

    @Test("Stages run in their fixed order, those of one identity as given")
    func order() {
        let slots: [StageID] = [.throttle, .rewrite, .mapRemote, .blockList, .rewrite]
        let stages = slots.enumerated().map { position, slot in
            ScriptedStage.on(slot) { handler in
                handler.onRequestHead = { _, exchange in
                    exchange.fired(rule: String(position), "seen")
                    return .forward
                }
            }
        }
        let dialogue = Dialogue(stages)
        dialogue.request()
        dialogue.expect("connect http://example.com:80", "stop client")
        dialogue.clientGone()
        dialogue.expect("abandon", "abort", "finished")
        dialogue.finish()
        #expect(
            dialogue.trace == [
                "block(3): seen", "rewrite(1): seen", "rewrite(4): seen", "map-remote(2): seen", "throttle(0): seen",
            ]
        )
    }

    @Test("A refusal answers at once and asks no further hook")
    func refuse() {
        let dialogue = Dialogue([
            ScriptedStage.on(.blockList) { $0.onRequestHead = { _, _ in .refuse(ChainTests.answer) } },
            ScriptedStage.on(.rewrite) { handler in
                handler.onRequestHead = { _, exchange in
                    exchange.note("asked")
                    return .drop
                }
            },
        ])
        dialogue.request()
        dialogue.expect("< 200 (5)", "< part 'local'", "< end", "finished")
        dialogue.finish()
        #expect(dialogue.trace.isEmpty)
        #expect(dialogue.record.state == .blocked)
    }

    @Test("A response can be refused; what the server sent and what the client got are both recorded")
    func refuseResponse() {
        let dialogue = sent([
            ScriptedStage.on(.rewrite) { handler in
                handler.responseDemand = .whole(limit: 100, decoded: false)
                handler.onResponseWhole = { _, _, _ in .refuse(ChainTests.answer) }
            }
        ])
        dialogue.responseHead(500, .chunked)
        dialogue.responsePart("secret")
        dialogue.responseEnd()
        dialogue.expect("< 200 (5)", "< part 'local'", "< end", "finished")
        dialogue.finish()
        #expect(dialogue.sink.body(.responseReceived) == "secret")
        #expect(dialogue.sink.body(.responseSent) == "local")
        #expect(dialogue.messages.responseHead.map { String(buffer: $0).contains(" 500 ") } == true)
        #expect(dialogue.record.status == 200)
    }

    @Test("An answer of our own ends with close_notify, however the server ended")
    func refuseUncleanResponse() {
        let dialogue = sent([
            ScriptedStage.on(.rewrite) { handler in
                handler.responseDemand = .whole(limit: 100, decoded: false)
                handler.onResponseWhole = { _, _, _ in .refuse(ChainTests.answer) }
            }
        ])
        dialogue.responseHead(200, .untilClose)
        dialogue.responsePart("secret")
        dialogue.responseEnd(isClean: false)
        dialogue.expect("< 200 (5)", "< part 'local'", "< end", "finished")
        dialogue.finish()
        #expect(dialogue.record.flags.contains(.endedWithoutCloseNotify))
    }

    @Test("A response hook's answer replaces the response; later hooks still see it")
    func respondToResponse() {
        let dialogue = sent([
            ScriptedStage.on(.rewrite) { $0.onResponseHead = { _, _ in .respond(ChainTests.answer) } },
            ScriptedStage.on(.throttle) { handler in
                handler.responseDemand = .whole(limit: 100, decoded: false)
                handler.onResponseWhole = { _, body, _ in
                    body = ByteBuffer(string: "LOCAL!")
                    return .forward
                }
            },
        ])
        dialogue.responseHead(500, .length(100))
        dialogue.expect("abandon", "< 200 (6)", "< part 'LOCAL!'", "< end", "finished")
        dialogue.finish()
        #expect(dialogue.sink.body(.responseSent) == "LOCAL!")
    }

    @Test("A drop cuts the client off, in whichever hook", arguments: 0..<5)
    func drop(hook: Int) {
        let stage = ScriptedStage.on(.throttle) { handler in
            switch hook {
            case 0: handler.onRequestHead = { _, _ in .drop }
            case 1:
                handler.requestDemand = .whole(limit: 10, decoded: false)
                handler.onRequestWhole = { _, _, _ in .drop }
            case 2: handler.onResponseHead = { _, _ in .drop }
            case 3:
                handler.responseDemand = .observe
                handler.onResponsePart = { _, _ in .drop }
            default:
                handler.responseDemand = .whole(limit: 10, decoded: false)
                handler.onResponseWhole = { _, _, _ in .drop }
            }
        }
        let dialogue = Dialogue([stage], method: "POST")
        var last: [String] = []
        dialogue.tell { machine, now in
            let head = RequestHead(method: "POST", target: "/", fields: [("Host", "example.com")])
            machine.requestHeadReceived(head, framing: .length(1), now: now)
            machine.requestPartReceived(ByteBuffer(string: "a"), now: now)
            machine.requestEndReceived(trailers: nil, wireBytes: 1, now: now)
            let facts = UpstreamFacts(connection: ConnectionID(2), version: .http11, isReused: false)
            machine.upstreamReady(facts, now: now)
            machine.responseHeadReceived(ResponseHead(status: 200), framing: .length(1), now: now)
            machine.responsePartReceived(ByteBuffer(string: "b"), now: now)
            machine.responseEndReceived(trailers: nil, wireBytes: 1, now: now)
        }
        last = dialogue.takePending()
        #expect(last.last == "finished")
        #expect(last.contains("abort"))
        #expect(!last.contains("< end"))
        dialogue.finish()
        #expect(dialogue.record.state == .blocked)
    }

    @Test("Observing leaves bytes and length alone")
    func observe() {
        let dialogue = sent([
            ScriptedStage.on(.mirror) { handler in
                handler.responseDemand = .observe
                handler.onResponsePart = { part, exchange in
                    exchange.note("saw \(String(buffer: part))")
                    return .forward
                }
            }
        ])
        dialogue.responseHead(200, .length(3))
        dialogue.expect("< 200 (3)")
        dialogue.responsePart("abc")
        dialogue.expect("< part 'abc'")
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        dialogue.finish()
        #expect(dialogue.trace == ["mirror: saw abc"])
        #expect(dialogue.sink.body(.responseSent) == "")
    }

    @Test("Work that an observer has at the end is done before the client has the end, and its trace is kept")
    func endWork() {
        let dialogue = sent([
            ScriptedStage.on(.mirror) { handler in
                handler.responseDemand = .observe
                handler.onResponseEnd = { _ in
                    let entry = TraceEntry(stage: "mirror", outcome: .note, text: "saved")
                    return .perform(ScriptedWork { WorkOutcome(.forward, trace: [entry]) })
                }
            }
        ])
        dialogue.onEffect = { [unowned dialogue] effect, machine in
            guard case .perform(let work, let direction, let generation) = effect else { return }
            machine.workDone(direction, generation: generation, work.run(), now: dialogue.now)
        }
        dialogue.responseHead(200, .length(3))
        dialogue.expect("< 200 (3)")
        dialogue.responsePart("abc")
        dialogue.expect("< part 'abc'")
        dialogue.responseEnd()
        #expect(dialogue.takePending().suffix(3) == ["work response 1", "< end", "finished"])
        dialogue.finish()
        #expect(dialogue.trace == ["mirror: saved"])
    }

    @Test("Where a stage's edit of method or status forbids or needs a body, the framing follows")
    func fittedFraming() {
        let toGet = Dialogue(
            [
                ScriptedStage.on(.rewrite) { handler in
                    handler.onRequestHead = { head, _ in
                        head.method = "GET"
                        return .forward
                    }
                }
            ],
            method: "HEAD"
        )
        toGet.request()
        toGet.expect("connect http://example.com:80", "stop client")
        toGet.ready()
        toGet.expect("> GET / (none)", "> end", "read client")
        toGet.responseHead(200, .length(3))
        toGet.expect("< 200 (none)")
        toGet.responsePart("abc")
        toGet.expect()
        toGet.responseEnd()
        toGet.expect("< end", "finished")
        toGet.finish()

        let toNoContent = sent([
            ScriptedStage.on(.rewrite) { handler in
                handler.onResponseHead = { head, _ in
                    head.status = head.status == 204 ? 200 : 204
                    return .forward
                }
            }
        ])
        toNoContent.responseHead(204)
        toNoContent.expect("< 200 (0)")
        toNoContent.responseEnd()
        toNoContent.expect("< end", "finished")
        toNoContent.finish()
    }

    @Test("A changed destination is where the request goes, and is recorded beside what was asked")
    func destination() {
        let dialogue = Dialogue(
            [
                ScriptedStage.on(.mapRemote) { handler in
                    handler.onRequestHead = { _, exchange in
                        exchange.destination = Destination(scheme: "http", host: "localhost", port: 3_000)
                        return .forward
                    }
                }
            ],
            url: "https://example.com/a?b"
        )
        dialogue.request()
        dialogue.expect("connect http://localhost:3000", "stop client")
        #expect(dialogue.record.sentURL?.description == "http://localhost:3000/a?b")
        #expect(dialogue.record.flags == [.requestChanged])
        dialogue.leaveOpen()
    }

    @Test("Handlers are told of the end once")
    func ended() {
        let dialogue = sent([
            ScriptedStage.on(.mirror) { handler in
                var isOver = false
                handler.onEnded = { isComplete in
                    #expect(!isOver && isComplete)
                    isOver = true
                    return nil
                }
            }
        ])
        answer(dialogue)
    }

    private func answer(_ dialogue: Dialogue) {
        dialogue.responseHead(200, .length(0))
        dialogue.expect("< 200 (0)")
        dialogue.responseEnd()
        dialogue.expect("< end", "finished")
        dialogue.finish()
    }
}
