import HTTPModel
import NIOCore
import Support
import Testing

@testable import Recording

@Suite("The rules that a session keeps")
struct RulesTests {
    let scratch: Scratch

    init() throws {
        scratch = try Scratch()
    }

    private static let profile = [
        ProfileSource(file: "base.yaml", text: "version: 1\n# \"quotes\" \\ \t and ünïcode 🦆\n"),
        ProfileSource(file: "mine.yaml", text: "version: 1\ninclude: [base.yaml]\n"),
    ]

    @Test("come back as they were put in force, with all of their files' text")
    func roundTrip() throws {
        let feed = try Feed(path: scratch.session)
        feed.recorder.noteRules(sources: Self.profile, switchedOff: ["throttle", "block"], at: 100)
        feed.recorder.flush()
        let reader = try SessionReader(path: scratch.session)
        let expected = StoredRules(number: 1, at: 100, sources: Self.profile, switchedOff: ["block", "throttle"])
        #expect(try reader.rules() == [expected])
        #expect(feed.recorder.close().error == nil)
        #expect(try SessionReader(path: scratch.session).rules(at: 100) == expected)
    }

    @Test("are found by the moment at which an exchange began")
    func byMoment() throws {
        let feed = try Feed(path: scratch.session)
        feed.recorder.noteRules(sources: Self.profile, switchedOff: [], at: 100)
        feed.recorder.noteRules(sources: Self.profile, switchedOff: ["rewrite"], at: 200)
        feed.recorder.noteRules(sources: [], switchedOff: [], at: 300)
        feed.recorder.noteRules(sources: [], switchedOff: ["mirror"], at: 400)
        feed.recorder.close()
        let reader = try SessionReader(path: scratch.session)
        #expect(try reader.rules(at: 99) == nil)
        #expect(try reader.rules(at: 199)?.number == 1)
        // The same files are kept once, and read as though they were kept each time.
        #expect(try reader.rules(at: 200)?.sources == Self.profile)
        #expect(try reader.rules(at: 200)?.switchedOff == ["rewrite"])
        #expect(try reader.rules(at: 399)?.sources == [])
        #expect(try reader.rules(at: .max)?.switchedOff == ["mirror"])
        #expect(try reader.rules(at: .max)?.sources == [])
        #expect(try reader.rules().map(\.sources) == [Self.profile, Self.profile, [], []])
        let kept = try sqlite(scratch.session, "SELECT group_concat(sources IS NOT NULL, '') FROM rules")
        #expect(kept == "1010")
    }

    @Test("keep their place among the exchanges, and the time of noting where no other is given")
    func order() throws {
        let feed = try Feed(path: scratch.session)
        feed.submit(Samples.exchange(1))
        feed.recorder.noteRules(sources: Self.profile, switchedOff: [])
        feed.recorder.noteRules(sources: [], switchedOff: [])
        feed.submit(Samples.exchange(2))
        feed.recorder.flush()
        let reader = try SessionReader(path: scratch.session)
        #expect(try reader.count() == 2)
        let run = try #require(try reader.runs().first)
        let rules = try reader.rules()
        // The first set is for all that the run does, however late it was noted.
        #expect(rules.first?.at == run.startedAt)
        #expect(rules.count == 2 && rules[1].at > run.startedAt)
        feed.recorder.close()
    }

    @Test("of a later run do not lean on those of the run before")
    func laterRun() throws {
        for moment in [100, 200] as [Int64] {
            let feed = try Feed(path: scratch.session)
            feed.recorder.noteRules(sources: Self.profile, switchedOff: [], at: moment)
            feed.recorder.close()
        }
        let kept = try sqlite(scratch.session, "SELECT group_concat(sources IS NOT NULL, '') FROM rules")
        #expect(kept == "11")
        #expect(try SessionReader(path: scratch.session).rules(at: 250)?.number == 2)
    }

    @Test("are refused with words where they are damaged")
    func damaged() throws {
        try Feed(path: scratch.session).recorder.close()
        for (sql, name) in [
            ("INSERT INTO rules VALUES(1, 5, 'no JSON', '[]')", "sources of rules 1"),
            ("INSERT INTO rules VALUES(1, 5, '[{\"file\":1}]', '[]')", "sources of rules 1"),
            ("INSERT INTO rules VALUES(1, 5, x'00', '[]')", "sources of rules 1"),
            ("INSERT INTO rules VALUES(1, -5, '[]', '[]')", "at of rules 1"),
            ("INSERT INTO rules VALUES(1, 5, '[]', '{}')", "off of rules 1"),
        ] {
            _ = try sqlite(scratch.session, "DELETE FROM rules; \(sql)")
            let reader = try SessionReader(path: scratch.session)
            for error in [sessionError { try reader.rules() }, sessionError { try reader.rules(at: 5) }] {
                // A moment before 1970 is found by no search for one after it.
                if error == nil, name.hasPrefix("at") { continue }
                #expect(error?.code == .damaged, "\(sql)")
                #expect(error?.message.contains(name) == true, "\(error?.message ?? "")")
            }
        }
    }

    @Test("are nobody's concern where nothing is recorded, and after the end")
    func nowhere() throws {
        let recorder = try Recorder(RecorderConfiguration(path: nil))
        recorder.noteRules(sources: Self.profile, switchedOff: [])
        #expect(recorder.close().error == nil)
        recorder.noteRules(sources: Self.profile, switchedOff: [])
        #expect(recorder.close().error == nil)
    }

    @Test("give their credit back")
    func credit() throws {
        var configuration = RecorderConfiguration(path: scratch.session)
        configuration.credit = 4_000
        let feed = try Feed(configuration)
        let long = [ProfileSource(file: "p", text: String(repeating: "#", count: 10_000))]
        for _ in 1...3 { feed.recorder.noteRules(sources: long, switchedOff: []) }
        // Were the credit gone, the feed would wait for it for ever.
        feed.submit(Samples.exchange(1))
        feed.submit(Samples.exchange(2))
        #expect(feed.recorder.close().exchanges == 2)
    }
}
