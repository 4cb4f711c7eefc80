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

    @Test("no first bytes of TLS fail", arguments: try FuzzReplay.all("ClientHellos", seeds: ClientHelloProbe.seeds))
    func clientHellos(_ input: FuzzReplay) throws {
        try ClientHelloProbe.run(input.bytes)
    }

    @Test("no host and no credentials fail", arguments: try FuzzReplay.all("HostNames", seeds: HostNameProbe.seeds))
    func hostNames(_ input: FuzzReplay) throws {
        try HostNameProbe.run(input.bytes)
    }

    @Test("no input of header blocks fails", arguments: try FuzzReplay.all("HPACK", seeds: WireSeeds.hpack))
    func hpack(_ input: FuzzReplay) throws {
        try HPACKProbe.run(input.bytes)
    }

    @Test("no answer of a proxy fails", arguments: try FuzzReplay.all("ProxyAnswers", seeds: ProxyAnswerProbe.seeds))
    func proxyAnswers(_ input: FuzzReplay) throws {
        try ProxyAnswerProbe.run(input.bytes)
    }

    @Test("no random answer of a proxy fails", arguments: 0..<200)
    func randomProxyAnswers(seed: UInt64) throws {
        var random = SplitMix(seed)
        for start in ProxyAnswerProbe.seeds {
            var bytes = start
            for _ in 0..<random.number(below: 8) {
                let byte = UInt8.random(in: 0...255, using: &random)
                bytes.insert(byte, at: random.number(below: bytes.count + 1))
            }
            try ProxyAnswerProbe.run(bytes)
        }
    }
}
