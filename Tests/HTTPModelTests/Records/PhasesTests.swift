import HTTPModel
import Testing

@Suite("Phases")
struct PhasesTests {
    private func phases(_ change: (inout ExchangeRecord) -> Void) -> Phases {
        var record = ExchangeRecord(
            id: ExchangeID(1),
            kind: .http,
            startedAt: 0,
            method: "GET",
            url: RequestURL(scheme: "http", host: "h", port: 80, path: "/"),
            clientConnection: ConnectionID(1)
        )
        record.state = .complete
        record.timings.wait = 1_000
        record.timings.receive = 2_000
        record.timings.total = 10_000
        change(&record)
        return record.phases
    }

    @Test("The time after the response was received is its delivery, and the phases add up to the duration")
    func delivery() {
        let throttled = phases { _ in }
        #expect(throttled.deliver == 7_000 && throttled.sum == 10_000)
        #expect(phases { $0.timings.receive = 9_000 }.deliver == nil)
        let running = phases { $0.timings.total = nil }
        #expect(running.deliver == nil && running.sum == 3_000)
    }

    @Test("Without a response the last phase lasted until the end")
    func failures() {
        let waited = phases {
            $0.timings.receive = nil
            $0.upstreamConnection = ConnectionID(2)
        }
        #expect(waited.timings.wait == 10_000 && waited.deliver == nil)
        let blocked = phases { $0.timings = Timings(total: 10_000) }
        #expect(blocked.timings.blocked == 10_000 && blocked.sum == 10_000)
    }

    @Test("A tunnel or WebSocket receives until its end")
    func streams() {
        for kind in [ExchangeRecord.Kind.tunnel, .webSocket] {
            let phases = phases { $0.kind = kind }
            #expect(phases.timings.receive == 9_000 && phases.deliver == nil && phases.sum == 10_000)
        }
    }

    @Test("A connection that was begun for another exchange counts from when this one waited for it")
    func shared() {
        let phases = phases {
            $0.timings.connect = 20_000
            $0.timings.receive = 9_000
        }
        #expect(phases.timings.connect == 0 && phases.timings.receive == 9_000 && phases.sum == 10_000)
    }

    @Test("Of an imported exchange nothing is said that its archive does not say")
    func imported() {
        let short = phases { $0.extras.origin = "har: a.har" }
        #expect(short.deliver == nil && short.sum == 3_000)
        let long = phases {
            $0.extras.origin = "har: a.har"
            $0.timings.connect = 20_000
        }
        #expect(long.timings.connect == 20_000)
    }
}

extension Timings {
    fileprivate init(total: Int64) {
        self.init()
        self.total = total
    }
}
