import HTTPModel
import Support
import Terminal
import Testing

@testable import Console

@Suite("Numbers that commands are given, and those of a session")
struct NumberUpdateTests {
    private let size = Size(width: 100, height: 24)

    @Test("Whatever number a command is given, it does something or says why not", arguments: CommandTable.entries)
    func arguments(_ entry: CommandEntry) {
        var opened = ModelFixture.listing([ModelFixture.record(1), ModelFixture.record(2)], size)
        _ = opened.perform(.open, "1")
        for text in HostileNumbers.texts {
            for argument in [text, "#\(text)", "block \(text)", "3 \(text)"] {
                var model = opened
                _ = model.perform(entry.command, argument)
            }
        }
    }

    @Test("A session with as many exchanges as there can be is scrolled and counted")
    func manyExchanges() {
        var model = ModelFixture.started(size)
        let most = Int(RecordedRange.numbers.upperBound)
        _ = model.update(.query(.list(ListStatus(generation: 0, total: most, sessionTotal: most))))
        let rows = Layout(model).listRows
        #expect(model.press("home").words == ["load \(most - 2 * rows)..<\(most) #0"])
        for second in 1...3 { _ = model.update(.tick(ModelFixture.now + Int64(second) * 1_000_000)) }
        #expect(model.proxy.rates.allSatisfy { $0 >= 0 })
        _ = ConsoleView.draw(model)
    }

    @Test("Exchanges with numbers at the ends of their ranges are drawn in the list", arguments: [20, 80, 200])
    func rows(_ width: Int) {
        let (moments, amounts) = (RecordedRange.moments, RecordedRange.amounts)
        let records = [moments.lowerBound, 0, moments.upperBound].enumerated().flatMap { index, moment in
            [amounts.lowerBound, amounts.upperBound].map { amount in
                ModelFixture.record(Int64(index) * 2 + min(amount, 1)) { record in
                    record.startedAt = moment
                    record.sizes.responseBody = amount
                    record.timings.total = amount
                    record.state = amount == 0 ? .inFlight : .complete
                }
            }
        }
        for columns in ["id start status method host path type size time waterfall", "start time size"] {
            var model = ModelFixture.listing(records, Size(width: width, height: 24))
            _ = model.perform(.columns, columns)
            _ = ConsoleView.draw(model)
        }
    }
}
