import Testing
import Text

@testable import Jobs

@Suite("The line of long work")
struct ProgressLineTests {
    private func line(_ done: Int64, _ part: Double?, _ elapsed: Double, bytes: Bool = false) -> ProgressLine {
        var line = ProgressLine("exporting", bytes ? .bytes : .things("exchange"))
        (line.done, line.part, line.elapsed) = (done, part, elapsed)
        return line
    }

    @Test("says part, count, rate and time left, with a bar")
    func whole() {
        #expect(
            line(120_000, 0.4, 5).text(width: 100)
                == "exporting  [############..................]   40 %  120,000 exchanges  24,000/s  8 s left"
        )
        #expect(
            line(3_000_000, 0.5, 2, bytes: true).text(width: 60)
                == "exporting  [######......]   50 %  3.0 MB  1.5 MB/s  2 s left"
        )
        #expect(line(1, 0, 2).text(width: 100).hasSuffix("0 %  1 exchange  0.5/s"))
        #expect(line(100, 0.01, 60).text(width: 100).hasSuffix("1.6/s  1 h 39 min left"))
        #expect(line(100, 0.5, 90).text(width: 100).hasSuffix("1 min 30 s left"))
    }

    @Test("leaves out what does not fit, and never takes more than the width", arguments: 0...110)
    func narrow(width: Int) {
        for line in [line(120_000, 0.4, 5), line(7, nil, 1), line(0, 1, 0), line(.max, 2, 1e9, bytes: true)] {
            let text = line.text(width: width)
            #expect(TextWidth.columns(text) <= width, "\(text)")
            #expect(width < 9 || text.hasPrefix("exporting"))
        }
    }

    @Test("of which the end is not known has neither a bar nor a time left")
    func unknown() {
        #expect(line(1_000, nil, 2).text(width: 80) == "exporting  1,000 exchanges  500/s")
        #expect(line(0, nil, 2).text(width: 80) == "exporting")
        var hostile = ProgressLine("a\u{1B}[2Jb", .bytes)
        hostile.part = .nan
        #expect(!hostile.text(width: 80).contains("\u{1B}"))
    }

    @Test("of passes over a session goes by where in the session each block ends")
    func passes() throws {
        try LongWork.run("testing", .things("exchange"), consequence: "") { work in
            var begun = 0
            let progress = PassProgress(work, 1...1_000) {
                begun += 1
                return "pass"
            }
            progress.begin()
            #expect(progress.part == 0)
            progress.expect(Array(1...10))
            // A filter chose few of the rest.
            progress.expect([500, 1_000])
            for _ in 0..<5 { try progress.add(1) }
            #expect(abs(progress.part - 0.0045) < 0.0001)
            try progress.add(5)
            try progress.add(1)
            #expect(abs(progress.part - 0.5045) < 0.001)
            try progress.add(1)
            #expect(progress.part == 1)
            progress.begin()
            #expect(progress.part == 0 && begun == 2)
        }
    }

    @Test("of other work is replaced where another part begins, and work that ended has no interruption")
    func parts() throws {
        let value = try LongWork.run("testing", .bytes, consequence: "Nothing.") { work in
            try work.report(5, part: 0.5)
            work.begin("more", .things("pair"))
            try work.add(1, of: 2)
            try work.check()
            return work.interruption == nil ? 7 : 0
        }
        #expect(value == 7)
        let interrupted = Interrupted(signal: 2, consequence: "a.har was not written.")
        #expect(interrupted.exitCode == 130 && "\(interrupted)" == "stopped. a.har was not written.")
    }
}
