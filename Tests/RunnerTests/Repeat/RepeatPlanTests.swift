import Testing

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
            "99999999999999999999", "ten",
        ]
    )
    func refuses(text: String) {
        #expect(throws: ControlError.self) { try RepeatPlan(text) }
    }

    @Test("is brought within its bounds")
    func bounds() {
        let plan = RepeatPlan(times: .max, parallel: .max, delayMilliseconds: .max)
        #expect(plan.times == 100_000 && plan.parallel == 256 && plan.delayMilliseconds == 3_600_000)
        #expect(RepeatPlan(times: 0, parallel: -1, delayMilliseconds: -1) == RepeatPlan())
    }

    @Test("counts outcomes: percentiles are of whole answers alone")
    func tally() {
        var tally = RepeatCounter(total: 102)
        for number in (1...100).reversed() {
            let isNext = tally.begin()
            #expect(isNext)
            tally.add(SendOutcome(status: number > 90 ? 500 : 200, duration: Int64(number), bytes: 1))
        }
        for text in ["first", "second"] {
            let isNext = tally.begin()
            #expect(isNext && !tally.progress.isFinished)
            tally.add(SendOutcome(status: nil, duration: 1_000_000, bytes: 0, failure: text))
        }
        let isNext = tally.begin()
        #expect(!isNext)
        let end = tally.progress
        #expect(end.isFinished && end.done == 102 && end.failures == 2 && end.firstFailure == "first")
        #expect(end.statuses == [200: 90, 500: 10])
        #expect(end.p50 == 50 && end.p95 == 95 && end.max == 100)
    }

    @Test("of one has one percentile, and of none zero")
    func few() {
        var tally = RepeatCounter(total: 1)
        #expect(tally.progress.p50 == 0 && tally.progress.p95 == 0 && tally.progress.max == 0)
        tally.add(SendOutcome(status: 200, duration: 7, bytes: 0))
        #expect(tally.progress.p50 == 7 && tally.progress.p95 == 7 && tally.progress.max == 7)
    }
}
