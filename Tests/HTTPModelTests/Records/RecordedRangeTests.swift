import HTTPModel
import Testing

@Suite("The ranges of the numbers in a recording")
struct RecordedRangeTests {
    private static let largest: Int64 = 1 << 53

    @Test("end where JSON still tells one number from the next")
    func bounds() {
        #expect(RecordedRange.numbers == 1...Self.largest)
        #expect(RecordedRange.amounts == 0...Self.largest)
        #expect(RecordedRange.moments == -Self.largest...Self.largest)
        #expect(Double(Self.largest) - 1 != Double(Self.largest))
        #expect(Double(Self.largest) + 1 == Double(Self.largest))
    }

    @Test("leave room to add a thousand of them, or to multiply one by a thousand")
    func room() {
        for range in [RecordedRange.numbers, RecordedRange.amounts, RecordedRange.moments] {
            for bound in [range.lowerBound, range.upperBound] {
                #expect(!bound.multipliedReportingOverflow(by: 1_000).overflow)
            }
        }
    }

    @Test(
        "a number of an archive becomes the nearest one",
        arguments: [
            (0.4, 0), (0.5, 1), (-0.4, 0), (-1, 0), (12.5, 13), (9_007_199_254_740_991, largest - 1),
            (9_007_199_254_740_992, largest), (1e300, largest), (.infinity, largest), (-.infinity, 0), (-1e300, 0),
            (.nan, 0),
        ] as [(Double, Int64)]
    )
    func nearest(_ number: Double, _ expected: Int64) {
        #expect(RecordedRange.nearest(number, in: RecordedRange.amounts) == expected)
    }

    @Test("before 1970 there were moments, too")
    func moments() {
        #expect(RecordedRange.nearest(-1.5, in: RecordedRange.moments) == -2)
        #expect(RecordedRange.nearest(-1e300, in: RecordedRange.moments) == -Self.largest)
    }
}
