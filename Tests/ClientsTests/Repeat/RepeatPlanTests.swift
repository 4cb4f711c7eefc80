import Testing

@testable import Clients
@testable import Runner

@Suite("A plan to send a request again")
struct RepeatPlanTests {
    @Test(
        "reads what a person writes, and says the same",
        arguments: [
            ("1", RepeatPlan(), "1"), ("100x10", RepeatPlan(times: 100, parallel: 10), "100 x 10"),
            (" 100 X 10 , 50ms ", RepeatPlan(times: 100, parallel: 10, delayMilliseconds: 50), "100 x 10, 50ms"),
            ("20, 2s", RepeatPlan(times: 20, delayMilliseconds: 2_000), "20, 2000ms"),
            ("5 × 1", RepeatPlan(times: 5), "5"),
            ("10 20", RepeatPlan(times: 10, parallel: 20), "10 x 20"),
            ("100 10 50", RepeatPlan(times: 100, parallel: 10, delayMilliseconds: 50), "100 x 10, 50ms"),
            (
                "100 x 2..10, 50..200ms", RepeatPlan(times: 100, parallel: 2...10, delayMilliseconds: 50...200),
                "100 x 2..10, 50..200ms"
            ),
            ("9, 1..2s", RepeatPlan(times: 9, parallel: 1...1, delayMilliseconds: 1_000...2_000), "9, 1000..2000ms"),
        ]
    )
    func reads(text: String, plan: RepeatPlan, description: String) throws {
        #expect(try RepeatPlan(text) == plan)
        #expect(plan.description == description)
        #expect(try RepeatPlan(description) == plan)
    }

    @Test(
        "refuses anything else",
        arguments: [
            "", "x", "0", "-1", "1x0", "1 x 2 x 3", "1, 2, 3", "1,50", "1 2 3 4", "10 x 1 0", "10 0 0", "1, ms",
            "1, 2m", "100001", "1x257", "1,3601s",
            "99999999999999999999", "ten", "1 x 3..2", "1 x 0..2", "1 x 1..", "1 x ..3", "1, 5..1ms", "1 x 1..2..3",
        ]
    )
    func refuses(text: String) {
        #expect(throws: ControlError.self) { try RepeatPlan(text) }
    }

    @Test("is brought within its bounds")
    func bounds() {
        let plan = RepeatPlan(times: .max, parallel: .max, delayMilliseconds: .max)
        #expect(plan == RepeatPlan(times: 100_000, parallel: 256, delayMilliseconds: 3_600_000))
        #expect(RepeatPlan(times: 0, parallel: -1, delayMilliseconds: -1) == RepeatPlan())
    }

    @Test("takes its parts as options name them, a bare delay in milliseconds")
    func parts() throws {
        let plan = try RepeatPlan(times: 3, parallel: "2..8", delay: "50..200")
        #expect(plan == RepeatPlan(times: 3, parallel: 2...8, delayMilliseconds: 50...200))
        #expect(try RepeatPlan(times: 1, parallel: "1", delay: "2s").delayMilliseconds == 2_000...2_000)
        #expect(try RepeatPlan(times: 1, parallel: "1", delay: "0").hasDelay == false)
        for (times, parallel, delay) in [
            (0, "1", "0"), (100_001, "1", "0"), (1, "0", "0"), (1, "257", "0"), (1, "1", "-1"), (1, "x", "0"),
            (1, "1", "1m"), (1, "", "0"), (1, "1", ""),
        ] {
            #expect(throws: ControlError.self) { try RepeatPlan(times: times, parallel: parallel, delay: delay) }
        }
    }

    @Test("grows evenly from the first number of senders to the last, and draws each delay from its range")
    func grows() {
        let plan = RepeatPlan(times: 1, parallel: 2...6, delayMilliseconds: 5...9)
        #expect((0..<6).map { plan.requests(beforeLane: $0, of: 100) } == [0, 0, 20, 40, 60, 80])
        #expect((0..<3).map { RepeatPlan(parallel: 3).requests(beforeLane: $0, of: 100) } == [0, 0, 0])
        let draws = Set((0..<500).map { _ in plan.drawnDelay })
        #expect(draws == Set((5...9).map { .milliseconds($0) }) && plan.hasDelay)
    }

    @Test("counts outcomes: percentiles are of whole answers alone")
    func tally() {
        let tally = RepeatCounter(total: 102)
        for number in (1...100).reversed() {
            tally.add(SendOutcome(status: number > 90 ? 500 : 200, duration: Int64(number), bytes: 1))
        }
        for text in ["first", "second"] {
            #expect(!tally.progress.isFinished)
            tally.add(SendOutcome(status: nil, duration: 1_000_000, bytes: 0, failure: text))
        }
        let end = tally.progress
        #expect(end.isFinished && end.done == 102 && end.failures == 2 && end.firstFailure == "first")
        #expect(end.statuses == [200: 90, 500: 10])
        #expect(end.p50 == 50 && end.p95 == 95 && end.max == 100)
    }

    @Test("of one has one percentile, and of none zero")
    func few() {
        let tally = RepeatCounter(total: 1)
        #expect(tally.progress.p50 == 0 && tally.progress.p95 == 0 && tally.progress.max == 0)
        tally.add(SendOutcome(status: 200, duration: 7, bytes: 0))
        #expect(tally.progress.p50 == 7 && tally.progress.p95 == 7 && tally.progress.max == 7)
    }
}
