import Support
import Testing

/// What the fuzzer of `Tests/Fuzzing` starts with, and all that it ever found in other programs' files, run once more.
@Suite struct EntryFindTests {
    @Test("no input of other programs' files fails", arguments: try FuzzReplay.all("Entries", seeds: EntryProbe.seeds))
    func entries(_ input: FuzzReplay) throws {
        try EntryProbe.run(input.bytes)
    }

    @Test("each seed has an exchange, so that it leads into its reader")
    func seeds() {
        for (seed, format) in zip(EntryProbe.seeds, EntryProbe.Format.allCases) {
            let outcome = EntryProbe.read(format, [FuzzInput(seed).bytes])
            #expect(!outcome.exchanges.isEmpty && outcome.error.isEmpty, "\(format): \(outcome.error)")
        }
    }

    @Test("No hostile exchange fails", arguments: try FuzzReplay.all("Pages", seeds: PageSeeds.all))
    func fuzz(_ input: FuzzReplay) throws {
        try PageProbe.run(input.bytes)
    }
}
