import Support
import Testing

/// What the fuzzer of `Tests/Fuzzing` starts with, and all that it ever found, run once more.
@Suite struct SpanFindTests {
    @Test("no trace context and no answer fails", arguments: try FuzzReplay.all("Spans", seeds: SpanProbe.seeds))
    func spans(_ input: FuzzReplay) throws { try SpanProbe.run(input.bytes) }

    @Test("no random bytes fail", arguments: 0..<50)
    func random(seed: UInt64) throws {
        var random = SplitMix(seed)
        for seed in SpanProbe.seeds {
            for _ in 0..<100 {
                var bytes = seed
                for _ in 0...random.number(below: 3) {
                    bytes[random.number(below: bytes.count)] = UInt8.random(in: 0...255, using: &random)
                }
                try SpanProbe.run(bytes)
            }
        }
    }
}
