import Support
import Testing

/// What the fuzzer of `Tests/Fuzzing` starts with, and all that it ever found, run once more.
@Suite struct StoreFindTests {
    @Test("no row of a store fails", arguments: try FuzzReplay.all("Stores", seeds: StoreProbe.seeds))
    func rows(_ input: FuzzReplay) throws { try StoreProbe.run(input.bytes) }

    @Test("no random row fails", arguments: 0..<40)
    func random(seed: UInt64) throws {
        var random = SplitMix(seed)
        for seed in StoreProbe.seeds {
            let decisions = (0..<40).map { _ in UInt8.random(in: 0...255, using: &random) }
            try StoreProbe.run(FuzzInput.made(FuzzInput(seed).bytes, decisions))
        }
    }
}
