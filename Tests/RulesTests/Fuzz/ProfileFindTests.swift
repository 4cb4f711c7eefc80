import Testing

/// What the fuzzer of `Tests/Fuzzing` starts with, and all that it ever found, run once more.
@Suite struct ProfileFindTests {
    @Test("no seed of profiles fails", arguments: ProfileSeeds.all.indices)
    func seed(_ index: Int) throws {
        try ProfileProbe.run(ProfileSeeds.all[index])
    }

    @Test("no find in profiles fails again", arguments: try FuzzFind.all("Profiles"))
    func find(_ find: FuzzFind) throws {
        try ProfileProbe.run(find.bytes())
    }
}
