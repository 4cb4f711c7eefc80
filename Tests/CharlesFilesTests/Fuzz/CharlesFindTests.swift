import Support
import Testing

/// What the fuzzer of `Tests/Fuzzing` starts with, and all that it ever found in Charles' settings, run once more.
@Suite struct CharlesFindTests {
    @Test("no input of Charles' settings fails", arguments: try FuzzReplay.all("Charles", seeds: CharlesProbe.seeds))
    func charles(_ input: FuzzReplay) throws {
        try CharlesProbe.run(input.bytes)
    }
}
