import Support
import Testing

/// Damaged messages: whatever the bytes are, there is an answer, and it does not depend on how they are cut.
@Suite struct HTTP1MutationTests {
    @Test("a damaged message gives the same events whole, in pieces and byte by byte")
    func damaged() throws {
        let seed: UInt64 = 0x510C_E005
        var random = SplitMix(seed)
        let cases = try ParserCase.all().filter { $0.input.count < 600 }
        for round in 0..<3_000 {
            guard let original = cases.randomElement(using: &random) else { return }
            let damaged = damage(original, &random)
            let whole = CaseRun.run(damaged, pieces: [damaged.input])
            let bytes = CaseRun.run(damaged, pieces: damaged.input.map { [$0] })
            try #require(whole == bytes, "seed \(seed), round \(round): \(escaped(damaged.input))")
            let place = Int.random(in: 0...damaged.input.count, using: &random)
            let halves = [Array(damaged.input.prefix(place)), Array(damaged.input.dropFirst(place))]
            let cut = CaseRun.run(damaged, pieces: halves.filter { !$0.isEmpty })
            try #require(whole == cut, "seed \(seed), round \(round), cut at \(place): \(escaped(damaged.input))")
        }
    }

    private func damage(_ original: ParserCase, _ random: inout SplitMix) -> ParserCase {
        let telling: [UInt8] = [0x0D, 0x0A, 0x20, 0x09, 0x3A, 0x3B, 0x2C, 0x00, 0x30, 0x66, 0xFF]
        var input = original.input
        for _ in 0..<Int.random(in: 1...4, using: &random) where !input.isEmpty {
            let place = Int.random(in: 0..<input.count, using: &random)
            let byte = telling.randomElement(using: &random) ?? 0
            switch Int.random(in: 0...3, using: &random) {
            case 0: input[place] = byte
            case 1: input.insert(byte, at: place)
            case 2: input.remove(at: place)
            default: input.removeLast(min(input.count - 1, Int.random(in: 0...20, using: &random)))
            }
        }
        return ParserCase(
            file: original.file,
            name: original.name,
            isRequest: original.isRequest,
            methods: original.methods,
            endsWithEOF: Bool.random(using: &random),
            input: input.isEmpty ? [0x0A] : input,
            expected: []
        )
    }
}
