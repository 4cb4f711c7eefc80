import Support
import Testing

/// What the fuzzer of `Tests/Fuzzing` starts with, and all that it ever found, run once more.
@Suite struct ProfileFindTests {
    @Test("no input of profiles fails", arguments: try FuzzReplay.all("Profiles", seeds: ProfileSeeds.all))
    func profiles(_ input: FuzzReplay) throws {
        try ProfileProbe.run(input.bytes)
    }
}
