import Support
import Testing

/// What the fuzzer of `Tests/Fuzzing` starts with, and all that it ever found in zips, run once more.
@Suite struct ZipFindTests {
    @Test("no input of zips fails", arguments: try FuzzReplay.all("Zips", seeds: ZipProbe.seeds))
    func zips(_ input: FuzzReplay) throws {
        try ZipProbe.run(input.bytes)
    }
}
