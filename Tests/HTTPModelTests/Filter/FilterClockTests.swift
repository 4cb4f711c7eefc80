import Support
import Testing

@testable import HTTPModel

@Suite("Times in filters")
struct FilterClockTests {
    private let noon = FilterFixture.noon
    private let minute: Int64 = 60_000_000

    @Test("are read against the clock and its zone")
    func reads() {
        // One hour ahead of UTC: it is 13:00.
        let clock = FilterFixture.clock
        #expect(clock.read("13:00") == noon)
        #expect(clock.read("12:59:30.5") == noon - 29_500_000)
        #expect(clock.read("9:05") == noon - 235 * minute)
        #expect(clock.read("13:01") == noon - 24 * 60 * minute + minute)
        #expect(clock.read("2026-11-21") == noon - 13 * 60 * minute)
        #expect(clock.read("2026-11-21T13:00") == noon)
        #expect(clock.read("2026-11-21 13:00") == noon)
        #expect(clock.read("2026-11-21T12:00:00Z") == noon)
        #expect(clock.read("2026-11-21t07:30:00.000001-0430") == noon + 1)
        #expect(clock.read("10m") == noon - 10 * minute)
        #expect(clock.read("1.5h") == noon - 90 * minute)
        #expect(clock.read("2d") == noon - 2 * 24 * 60 * minute)
    }

    @Test(
        "that are none are refused",
        arguments: [
            "", "x", "10", "24:00", "12:60", "12:5", "12:00:60", "12:00:00.", "2026-02-29", "2026-13-01", "2026-00-10",
            "2026-11-21T",
            "2026-11-21T12:00+", "2026-11-21T12:00Zx", "2026-11-21x", "12:00Z", "-1m", "999999999999999999d",
            "9999999d", "1.m",
        ]
    )
    func refused(text: String) {
        #expect(FilterFixture.clock.read(text) == nil)
    }

    @Test("take the zone's offset at the time that is meant")
    func changingOffset() {
        // An hour ahead until 2026-10-25T01:00Z, none after.
        let change: Int64 = 1_792_890_000
        let clock = FilterClock(now: noon) { $0 < change ? 3_600 : 0 }
        #expect(clock.read("2026-10-24T12:00").map(FilterClock.write) == "2026-10-24T11:00:00Z")
        #expect(clock.read("2026-10-25T12:00").map(FilterClock.write) == "2026-10-25T12:00:00Z")
    }

    @Test("are written so that they read back")
    func writes() throws {
        let seed: UInt64 = 0x510C_E006
        var random = SplitMix(seed)
        #expect(FilterClock.write(noon) == "2026-11-21T12:00:00Z")
        #expect(FilterClock.write(-1) == "1969-12-31T23:59:59.999999Z")
        #expect(FilterClock.write(951_782_400_000_000) == "2000-02-29T00:00:00Z")
        for _ in 0..<5_000 {
            let time = Int64.random(in: -62_135_596_800_000_000..<253_402_300_800_000_000, using: &random)
            #expect(FilterFixture.clock.read(FilterClock.write(time)) == time, "seed \(seed): \(time)")
        }
    }

    @Test("have a clock of the machine")
    func current() {
        let clock = FilterClock.current
        #expect(clock.now > noon - 10 * 365 * 24 * 60 * minute)
        #expect((-86_400...86_400).contains(clock.secondsAheadOfUTC(clock.now / 1_000_000)))
    }
}
