import ExchangeCore
import HTTPModel
import NIOCore
import Support
import Testing

/// The hooks from which a verdict may come, as a stage for each.
enum Hook: String, CaseIterable, CustomTestStringConvertible {
    case requestHead
    case requestWhole
    case requestOverflowed
    case responseHead
    case responsePart
    case responseWhole
    case responseOverflowed

    var testDescription: String { rawValue }

    /// A stage whose hook of this kind decides; `isAgain` tells its later calls from the first.
    func stage(
        _ slot: StageID = .mapLocal,
        _ verdict: @escaping @Sendable (_ isAgain: Bool) -> Verdict
    ) -> ScriptedStage {
        .on(slot) { handler in
            var calls = 0
            func next() -> Verdict {
                calls += 1
                return verdict(calls > 1)
            }
            switch self {
            case .requestHead: handler.onRequestHead = { _, _ in next() }
            case .requestWhole:
                handler.requestDemand = .whole(limit: 100, decoded: false)
                handler.onRequestWhole = { _, _, _ in next() }
            case .requestOverflowed:
                handler.requestDemand = .whole(limit: 1, decoded: false)
                handler.onRequestOverflowed = { _, _ in next() }
            case .responseHead: handler.onResponseHead = { _, _ in next() }
            case .responsePart:
                handler.responseDemand = .observe
                handler.onResponsePart = { _, _ in next() }
            case .responseWhole:
                handler.responseDemand = .whole(limit: 100, decoded: false)
                handler.onResponseWhole = { _, _, _ in next() }
            case .responseOverflowed:
                handler.responseDemand = .whole(limit: 1, decoded: false)
                handler.onResponseOverflowed = { _, _ in next() }
            }
        }
    }

    /// An exchange with a body both ways, told until the hook of the one stage was called.
    func reached(_ stages: [any Stage]) -> (dialogue: Dialogue, effects: [String]) {
        let dialogue = Dialogue(stages, method: "POST")
        var effects: [String] = []
        for step in Hook.steps {
            if dialogue.isOver || dialogue.requestPauses.contains(.working) { break }
            if dialogue.responsePauses.contains(.working) { break }
            step(dialogue)
            effects += dialogue.takePending()
        }
        return (dialogue, effects)
    }

    private static let steps: [@Sendable (Dialogue) -> Void] = [
        { $0.requestHead(.length(2)) },
        { $0.requestPart("ab") },
        { $0.requestEnd() },
        { $0.ready() },
        { $0.responseHead(200, .length(2)) },
        { $0.responsePart("cd") },
        { $0.responseEnd() },
    ]

    var direction: FlowDirection { rawValue.hasPrefix("request") ? .request : .response }
}

@Suite("Failing an exchange, and work that may block")
struct VerdictTests {
    private static let broken = ExchangeFailure(.reset, "It broke.")
    private static let answer = LocalAnswer(status: 418, contentType: "text/plain", text: "mine")
    private static let nothing = ScriptedWork { WorkOutcome(.forward) }

    @Test("Any hook can fail the exchange as though the network had", arguments: Hook.allCases)
    func fail(hook: Hook) {
        let (dialogue, effects) = hook.reached([hook.stage { _ in .fail(VerdictTests.broken) }])
        #expect(effects.suffix(2) == ["abort", "finished"])
        #expect(!effects.contains("< end"))
        dialogue.finish()
        #expect(dialogue.record.state == .failed)
        #expect(dialogue.record.failure == VerdictTests.broken)
    }

    @Test("Any hook can have work done, and the message goes on when that is done", arguments: Hook.allCases)
    func forward(hook: Hook) {
        // Only the first part is to wait; a head hook is not asked again.
        let stage = hook.stage { $0 ? .forward : .perform(VerdictTests.nothing) }
        let (dialogue, effects) = hook.reached([stage])
        #expect(effects.contains("work \(hook.direction) 1"))
        #expect(dialogue.work != nil)
        let entry = TraceEntry(stage: "map-local", rule: "r", outcome: .fired, text: "looked")
        let rest =
            effects
            + dialogue.effects { dialogue in
                dialogue.workDone(hook.direction, 1, WorkOutcome(.forward, trace: [entry]))
                dialogue.workDone(hook.direction, 1, WorkOutcome(.drop))
                #expect(!dialogue.requestPauses.union(dialogue.responsePauses).contains(.working))
                for step in unfinished(dialogue) { step(dialogue) }
            }
        #expect(rest.filter { $0.hasPrefix(">") } == ["> POST / (2)", "> part 'ab'", "> end"])
        #expect(rest.filter { $0.hasPrefix("<") } == ["< 200 (2)", "< part 'cd'", "< end"])
        dialogue.finish()
        #expect(dialogue.trace.filter { $0.contains("looked") } == ["map-local(r): looked"])
        #expect(dialogue.record.state == .complete)
    }

    /// What is still to be told in an exchange that was stopped on its way.
    private func unfinished(_ dialogue: Dialogue) -> [(Dialogue) -> Void] {
        var steps: [(Dialogue) -> Void] = []
        let isRequestTold = dialogue.sink.body(.requestReceived) == "ab"
        if !isRequestTold { steps.append { $0.requestPart("ab") } }
        if dialogue.record.sizes.requestWire == 0 { steps.append { $0.requestEnd() } }
        if dialogue.record.upstreamConnection == nil { steps.append { $0.ready() } }
        if dialogue.messages.responseHead == nil { steps.append { $0.responseHead(200, .length(2)) } }
        if dialogue.sink.body(.responseReceived) != "cd" { steps.append { $0.responsePart("cd") } }
        if !dialogue.isOver, dialogue.record.sizes.responseWire == 0 { steps.append { $0.responseEnd() } }
        return steps
    }

    @Test(
        "What the work came to counts as though the hook had decided it",
        arguments: [Hook.requestHead, .responseHead]
    )
    func respond(hook: Hook) {
        let later = ScriptedStage.on(.throttle) { handler in
            handler.onResponseHead = { head, exchange in
                exchange.note("saw \(head.status)")
                return .forward
            }
        }
        let stage = hook.stage { _ in .perform(VerdictTests.nothing) }
        let (dialogue, _) = hook.reached([stage, later])
        dialogue.workDone(hook.direction, 1, WorkOutcome(.respond(VerdictTests.answer)))
        let effects = dialogue.takePending()
        #expect(effects.filter { $0.hasPrefix("<") } == ["< 418 (4)", "< part 'mine'", "< end"])
        #expect(dialogue.trace.isEmpty || dialogue.trace == ["throttle: saw 418"])
        if !dialogue.isOver {
            dialogue.requestEnd()
            _ = dialogue.takePending()
        }
        dialogue.finish()
        #expect(dialogue.trace == ["throttle: saw 418"])
        #expect(dialogue.record.flags.contains(.answeredLocally))
    }

    @Test("Work may come to refusing, dropping and failing")
    func otherOutcomes() {
        func ended(_ verdict: Verdict) -> Dialogue {
            let dialogue = Dialogue([Hook.requestHead.stage { _ in .perform(VerdictTests.nothing) }])
            dialogue.request()
            dialogue.expect("work request 1", "stop client")
            dialogue.workDone(.request, 1, WorkOutcome(verdict))
            return dialogue
        }
        let refused = ended(.refuse(VerdictTests.answer))
        refused.expect("< 418 (4)", "< part 'mine'", "< end", "finished")
        refused.finish()
        #expect(refused.record.state == .blocked)
        let dropped = ended(.drop)
        dropped.expect("abort", "finished")
        dropped.finish()
        #expect(dropped.record.state == .blocked)
        let failed = ended(.fail(VerdictTests.broken))
        failed.expect("abort", "finished")
        failed.finish()
        #expect(failed.record.failure == VerdictTests.broken)
    }

    @Test("The demand is read when the work of the head hook is done")
    func demandAfterWork() {
        let stage = ScriptedStage.on(.mirror) { handler in
            handler.responseDemand = .whole(limit: 100, decoded: false)
            handler.onResponseHead = { _, _ in .perform(VerdictTests.nothing) }
            handler.onResponseWhole = { _, body, _ in
                body.writeString("!")
                return .forward
            }
        }
        let dialogue = sent([stage])
        dialogue.responseHead(200, .length(2))
        dialogue.expect("work response 1", "stop upstream")
        dialogue.responsePart("ab")
        dialogue.responseEnd()
        dialogue.expect()
        dialogue.workDone(.response, 1, WorkOutcome(.forward))
        dialogue.expect("< 200 (3)", "< part 'ab!'", "< end", "finished")
        dialogue.finish()
    }

    @Test("Work that ends after the client has gone, or after the server's page, does nothing")
    func tooLate() {
        let gone = Dialogue([Hook.requestHead.stage { _ in .perform(VerdictTests.nothing) }])
        gone.request()
        gone.expect("work request 1", "stop client")
        gone.clientGone()
        gone.expect("abort", "finished")
        gone.workDone(.request, 1, WorkOutcome(.respond(VerdictTests.answer)))
        gone.expect()
        gone.finish()

        let failed = Dialogue([Hook.responseHead.stage { _ in .perform(VerdictTests.nothing) }], method: "POST")
        failed.requestHead(.length(9))
        failed.expect("connect http://example.com:80", "stop client")
        failed.ready()
        failed.expect("> POST / (9)", "read client")
        failed.responseHead(200, .length(5))
        failed.expect("work response 1", "stop upstream")
        failed.upstreamFailed(.reset)
        #expect(failed.takePending().last == "< end")
        failed.workDone(.response, 1, WorkOutcome(.respond(VerdictTests.answer)))
        failed.expect()
        failed.requestEnd()
        failed.expect("finished")
        failed.finish()
    }

    // MARK: - After the end

    @Test("A handler learns whether the client has the response whole", arguments: [true, false])
    func isComplete(isWhole: Bool) {
        let stage = ScriptedStage.on(.mirror) { handler in
            handler.onEnded = { isComplete in
                #expect(isComplete == isWhole)
                return isComplete ? ScriptedWork { WorkOutcome(.forward) } : nil
            }
        }
        let dialogue = sent([stage])
        dialogue.responseHead(200, .length(2))
        dialogue.expect("< 200 (2)")
        dialogue.responsePart("ab")
        dialogue.expect("< part 'ab'")
        if isWhole {
            dialogue.responseEnd()
            dialogue.expect("< end", "work afterwards", "finished")
        } else {
            dialogue.upstreamClosed()
            dialogue.expect("abandon", "abort", "finished")
        }
        dialogue.finish()
        #expect((dialogue.workAfterwards != nil) == isWhole)
    }

    @Test("A page that tells of a failure is not the response")
    func pageIsNotComplete() {
        let stage = ScriptedStage.on(.mirror) { handler in
            handler.onEnded = { isComplete in
                #expect(!isComplete)
                return nil
            }
        }
        let dialogue = Dialogue([stage])
        let effects = dialogue.effects {
            $0.request()
            $0.upstreamFailed()
        }
        #expect(effects.suffix(2) == ["< end", "finished"])
        dialogue.finish()
    }
}
