import Support
import Testing

/// What the fuzzers of `Tests/Fuzzing` start with, and all that they ever found, run once more.
@Suite struct WireFindTests {
    @Test(
        "no input of the feed of a session fails",
        arguments: try FuzzReplay.all("HTTP2Feed", seeds: WireSeeds.http2Feed)
    )
    func http2Feed(_ input: FuzzReplay) throws {
        try HTTP2FeedProbe.run(input.bytes)
    }

    @Test("no input of SOCKS fails", arguments: try FuzzReplay.all("SOCKS", seeds: SOCKSSeeds.all))
    func socks(_ input: FuzzReplay) throws {
        try SOCKSProbe.run(input.bytes)
    }

    @Test("no input of header blocks fails", arguments: try FuzzReplay.all("HPACK", seeds: WireSeeds.hpack))
    func hpack(_ input: FuzzReplay) throws {
        try HPACKProbe.run(input.bytes)
    }
}
