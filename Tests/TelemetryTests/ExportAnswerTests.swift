import Support
import Telemetry
import Testing

@Suite("Answers of receivers")
struct ExportAnswerTests {
    private func answer(_ status: Int, _ after: String? = nil, _ body: [UInt8] = []) -> ExportAnswer {
        ExportAnswer(status: status, reason: "Reason", retryAfter: after, body: body)
    }

    @Test("Four statuses are tried again, others not")
    func statuses() {
        for status in [200, 202, 204] { #expect(answer(status) == .accepted(rejected: 0, message: "")) }
        for status in [429, 502, 503, 504] {
            #expect(answer(status, "7") == .retry(after: .seconds(7), message: "\(status) Reason"))
        }
        for status in [301, 400, 401, 404, 413, 500, 501] {
            #expect(answer(status, "7") == .refused(message: "\(status) Reason"))
        }
        for after in ["soon", "-1", "99999999999", "", "1.5"] {
            guard case .retry(let pause, _) = answer(503, after) else {
                Issue.record("\(after)")
                continue
            }
            #expect(pause == (after == "-1" ? .zero : after.count > 5 ? .seconds(86_400) : nil), "\(after)")
        }
    }

    @Test("Rejected spans and the receiver's words are read, however hostile they are")
    func hostile() {
        let partial: [UInt8] = [0x0A, 0x07, 0x08, 0x03, 0x12, 0x03, 0x6F, 0x6C, 0x64]
        #expect(answer(200, nil, partial) == .accepted(rejected: 3, message: "old"))
        let negative: [UInt8] = [0x0A, 0x0B, 0x08] + [UInt8](repeating: 0xFF, count: 9) + [0x01]
        #expect(answer(200, nil, negative) == .accepted(rejected: 0, message: ""))
        #expect(answer(400, nil, [0x08, 0x03, 0x12, 0x02, 0x6E, 0x6F]) == .refused(message: "400 Reason: no"))
        let long = [0x12, 0xE8, 0x07] + [UInt8](repeating: 0x61, count: 1_000)
        guard case .refused(let message) = answer(400, nil, long) else { return #expect(Bool(false)) }
        #expect(message.count < 300)
        for body in [[0xFF], [0x0A, 0x7F], Array("<html>not found</html>".utf8), partial + [0x0B]] {
            #expect(answer(200, nil, body) == .accepted(rejected: 0, message: ""), "\(body)")
        }
    }

    @Test("A batch is tried for a minute, with longer and longer pauses")
    func retries() {
        let begin = ContinuousClock.now
        for seed in 0..<50 {
            var random = SplitMix(UInt64(seed))
            var plan = RetryPlan(begin: begin)
            var (now, count) = (begin, 0)
            while let pause = plan.pause(atLeast: nil, now: now, random: &random) {
                let full = min(16, 1 << count)
                #expect(pause >= .milliseconds(full * 500) && pause <= .seconds(full))
                now += pause
                count += 1
            }
            #expect(count >= 6 && now <= begin + RetryPlan.timeLimit && now > begin + .seconds(43))
        }
        var random = SplitMix(1)
        var plan = RetryPlan(begin: begin)
        #expect(plan.pause(atLeast: .seconds(30), now: begin, random: &random) == .seconds(30))
        #expect(plan.pause(atLeast: .seconds(31), now: begin + .seconds(30), random: &random) == nil)
    }
}
