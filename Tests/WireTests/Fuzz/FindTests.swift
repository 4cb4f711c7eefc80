import Testing

/// What the fuzzers of `Tests/Fuzzing` start with, and all that they ever found, run once more.
@Suite struct WireFindTests {
    @Test("no seed of the feed of a session fails", arguments: WireSeeds.http2Feed.indices)
    func http2FeedSeed(_ index: Int) throws {
        try HTTP2FeedProbe.run(WireSeeds.http2Feed[index])
    }

    @Test("no seed of header blocks fails", arguments: WireSeeds.hpack.indices)
    func hpackSeed(_ index: Int) throws {
        try HPACKProbe.run(WireSeeds.hpack[index])
    }

    @Test("no find in the feed of a session fails again", arguments: try FuzzFind.all("HTTP2Feed"))
    func http2Feed(_ find: FuzzFind) throws {
        try HTTP2FeedProbe.run(find.bytes())
    }

    @Test("no find in header blocks fails again", arguments: try FuzzFind.all("HPACK"))
    func hpack(_ find: FuzzFind) throws {
        try HPACKProbe.run(find.bytes())
    }
}
