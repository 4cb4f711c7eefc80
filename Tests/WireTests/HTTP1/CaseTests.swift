import Support
import Testing

/// The Markdown cases, each fed in several ways that must all give the same events.
@Suite struct HTTP1CaseTests {
    @Test("the case gives its events when fed whole", arguments: try ParserCase.all())
    func whole(_ parserCase: ParserCase) {
        #expect(CaseRun.run(parserCase, pieces: [parserCase.input]) == parserCase.expected)
    }

    @Test("the case gives its events when fed byte by byte", arguments: try ParserCase.all())
    func byteByByte(_ parserCase: ParserCase) {
        let pieces = parserCase.input.map { [$0] }
        for draining in CaseRun.Draining.allCases {
            #expect(CaseRun.run(parserCase, pieces: pieces, draining: draining) == parserCase.expected)
        }
    }

    @Test("the case gives its events when cut at any one place", arguments: try ParserCase.all())
    func cutOnce(_ parserCase: ParserCase) {
        let input = parserCase.input
        let step = max(1, input.count / 600)
        for place in stride(from: 1, to: max(2, input.count), by: step) {
            let pieces = [Array(input.prefix(place)), Array(input.dropFirst(place))].filter { !$0.isEmpty }
            for draining in CaseRun.Draining.allCases {
                let lines = CaseRun.run(parserCase, pieces: pieces, draining: draining)
                #expect(lines == parserCase.expected, "cut at \(place), \(draining)")
            }
        }
    }

    @Test("the case gives its events when cut at random places", arguments: try ParserCase.all())
    func cutAtRandom(_ parserCase: ParserCase) {
        for seed in UInt64(1)...20 {
            var random = SplitMix(seed)
            var pieces: [[UInt8]] = []
            var rest = parserCase.input[...]
            while !rest.isEmpty {
                let count = Int.random(in: 1...max(1, min(rest.count, 40)), using: &random)
                pieces.append(Array(rest.prefix(count)))
                rest = rest.dropFirst(count)
            }
            #expect(CaseRun.run(parserCase, pieces: pieces) == parserCase.expected, "seed \(seed)")
        }
    }

    @Test("there are as many cases as there should be")
    func count() throws {
        let cases = try ParserCase.all()
        #expect(cases.count >= 100)
        #expect(Set(cases.map(\.description)).count == cases.count)
    }
}
