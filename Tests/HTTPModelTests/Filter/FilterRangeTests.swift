import HTTPModel
import Testing

@Suite("Numbers in filters")
struct FilterRangeTests {
    private static let numbers = [
        "0", "1", "-1", "9007199254740992", "9007199254740993", "9223372036854775807", "9223372036854775808",
        "999999999999999999", "99999999999999999999999999", "0.999999", "1e300", "",
    ]
    private static let units = ["", "b", "kb", "gib", "us", "ms", "d", "h"]

    @Test("Whatever a number is, a term is read or refused at its place, and printed so that it reads the same")
    func numbers() throws {
        var clock = FilterClock.current
        clock.now = RecordedRange.moments.upperBound
        var record = ExchangeRecord(
            id: ExchangeID(RecordedRange.numbers.upperBound),
            kind: .http,
            startedAt: RecordedRange.moments.lowerBound,
            method: "GET",
            url: RequestURL(scheme: "http", host: "a", port: 80, path: "/"),
            clientConnection: ConnectionID(1)
        )
        (record.sizes.requestBody, record.sizes.responseBody) = (1 << 53, 1 << 53)
        (record.tally.fromClient, record.tally.fromServer) = (1 << 53, 1 << 53)
        record.timings.total = 1 << 53
        var readCount = 0
        for key in ["id", "status", "size", "time", "messages", "grpc", "port", "since", "before"] {
            for number in Self.numbers {
                for unit in Self.units {
                    let value = number + unit
                    for form in [
                        value, ">\(value)", "<=\(value)", "<\(value)", "\(value)..", "..\(value)", "1..\(value)",
                    ] {
                        let text = "\(key):\(form)"
                        do throws(FilterError) {
                            let filter = try Filter(text, clock: clock)
                            readCount += 1
                            _ = filter.decides(record)
                            let again = try Filter(filter.description, clock: clock)
                            #expect(again.description == filter.description)
                        } catch {
                            #expect((1...error.expression.count + 1).contains(error.column), "\(text): \(error)")
                        }
                    }
                }
            }
        }
        #expect(readCount > 200)
    }
}
