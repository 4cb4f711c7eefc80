import Testing

@testable import Description

@Suite("Moments as text")
struct TimestampTests {
    @Test(
        "in UTC have seconds or microseconds, before and after 1970",
        arguments: [
            (0, "1970-01-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"), (1_795_974_923, "2026-11-29T17:55:23Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
        ]
    )
    func utc(_ seconds: Int64, _ text: String) {
        #expect(Timestamp.iso8601(seconds: seconds) == text)
        #expect(Timestamp.iso8601(seconds * 1_000_000) == "\(text.dropLast()).000000Z")
    }
}
