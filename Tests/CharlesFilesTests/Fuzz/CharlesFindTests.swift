import Testing

/// All that the fuzzer of `Tests/Fuzzing` ever found in Charles' settings, run once more.
@Suite struct CharlesFindTests {
    @Test("no find in Charles' settings fails again", arguments: try FuzzFind.all("Charles"))
    func find(_ find: FuzzFind) throws {
        try CharlesProbe.run(find.bytes())
    }
}
