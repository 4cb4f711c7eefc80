import HTTPModel
import Testing

@Suite("Numbers of exchanges")
struct ExchangeNumbersTests {
    @Test("are as few ranges as can be, and read back as they are written")
    func ranges() {
        let numbers = ExchangeNumbers([9, 3, 2, 1, 3, 11])
        #expect(numbers.description == "1-3,9,11")
        #expect(ExchangeNumbers(numbers.description) == numbers)
        #expect(ExchangeNumbers(ranges: [4...6, 1...9, 10...10]).description == "1-10")
        #expect((0...12).filter { numbers.contains($0) } == [1, 2, 3, 9, 11])
        #expect(ExchangeNumbers([]).isEmpty && !ExchangeNumbers([]).contains(1))
    }

    @Test(
        "are read with commas, blanks and #; anything else is refused",
        arguments: [
            ("#12", "12"), ("1-3 4, 7", "1-4,7"), ("5-5", "5"), ("1-9007199254740992", "1-9007199254740992"), ("", nil),
            (" ,", nil), ("0", nil), ("-1", nil), ("1-", nil), ("3-2", nil), ("1-2-3", nil), ("x", nil),
            ("9007199254740993", nil), ("99999999999999999999", nil),
        ] as [(String, String?)]
    )
    func reading(text: String, numbers: String?) { #expect(ExchangeNumbers(text)?.description == numbers) }
}
