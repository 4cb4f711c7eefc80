import Rules

/// Conditions with a name.
package struct ThrottlePreset: Sendable {
    package let name: String
    package let charlesName: String?
    package let conditions: ThrottleConditions
    /// Where the numbers come from.
    package let source: String

    /// The preset of a name, Sluice's or Charles'; the case of letters does not count.
    package static func named(_ name: String) -> ThrottlePreset? {
        let name = name.lowercased()
        return all.first { $0.name == name || $0.charlesName?.lowercased() == name }
    }

    /// All presets, from the slowest to the fastest of each kind.
    package static let all: [ThrottlePreset] = mobile + fixed + special

    private static let mobile = [
        webPageTest("edge", down: 240, up: 200, latency: 840),
        webPageTest("2g", down: 280, up: 256, latency: 800),
        webPageTest("3g-slow", down: 400, up: 400, latency: 400),
        webPageTest("3g", "3G", down: 1_600, up: 768, latency: 300),
        webPageTest("3g-fast", down: 1_600, up: 768, latency: 150),
        webPageTest("4g", "4G", down: 9_000, up: 9_000, latency: 170),
        webPageTest("lte", down: 12_000, up: 12_000, latency: 70),
        ThrottlePreset(
            "5g",
            ThrottleConditions(down: 150_000, up: 20_000, latency: 30),
            "Sluice's own: a mid-band network on an ordinary day"
        ),
    ]

    private static let fixed = [
        charlesOwn("modem-56k", "56 kbps Modem", .init(down: 57.6, up: 33.6, latency: 250, mtu: 576, utilisation: 70)),
        charlesName("isdn", "256 kbps ISDN/DSL", down: 256, up: 128),
        charlesName("dsl-512k", "512 kbps ISDN/DSL", down: 512, up: 128),
        webPageTest("dsl", down: 1_500, up: 384, latency: 50),
        charlesName("adsl", "2 Mbps ADSL", down: 2_048, up: 256),
        charlesOwn("adsl2", "8 Mbps ADSL2", .init(down: 8_192, up: 1_024, latency: 40)),
        charlesName("adsl2+", "16 Mbps ADSL2+", down: 16_384, up: 1_024),
        webPageTest("cable", down: 5_000, up: 1_000, latency: 28),
        charlesName("vdsl", "32 Mbps VDSL", down: 32_768, up: 8_192, latency: 20),
        charlesName("fibre-32", "32 Mbps Fibre", down: 32_768, up: 32_768, latency: 10),
        charlesName("fibre-100", "100 Mbps Fibre", down: 102_400, up: 102_400, latency: 10),
    ]

    private static let special = [
        ThrottlePreset(
            "satellite",
            ThrottleConditions(down: 25_000, up: 3_000, latency: 600),
            "Sluice's own: a geostationary satellite, whose signal alone takes 477 ms for a round trip"
        ),
        ThrottlePreset("wifi-lossy", lossyWiFi, "Sluice's own: the far end of a café"),
        ThrottlePreset(
            "offline",
            ThrottleConditions(down: 0, up: 0, latency: 0),
            "nothing can be reached: every request fails at once"
        ),
    ]

    private static let lossyWiFi: ThrottleConditions = {
        var conditions = ThrottleConditions(down: 6_000, up: 2_000, latency: 40)
        conditions.reliability = 99
        conditions.stability = 80
        conditions.quality = 5...50
        return conditions
    }()

    private init(_ name: String, charles charlesName: String? = nil, _ conditions: ThrottleConditions, _ source: String)
    {
        (self.name, self.charlesName, self.conditions, self.source) = (name, charlesName, conditions, source)
    }

    private static func charlesOwn(
        _ name: String,
        _ charlesName: String,
        _ conditions: ThrottleConditions
    ) -> ThrottlePreset {
        .init(name, charles: charlesName, conditions, "Charles' own numbers, as its settings files have them")
    }

    private static func webPageTest(
        _ name: String,
        _ charlesName: String? = nil,
        down: Double,
        up: Double,
        latency: Double
    ) -> ThrottlePreset {
        let source = "WebPageTest's connectivity profile" + (charlesName == nil ? "" : "; Charles' are not published")
        return ThrottlePreset(name, charles: charlesName, .init(down: down, up: up, latency: latency), source)
    }

    /// A preset of which Charles publishes only the name.
    private static func charlesName(
        _ name: String,
        _ charlesName: String,
        down: Double,
        up: Double,
        latency: Double = 40
    ) -> ThrottlePreset {
        let source = "downward what Charles' name says, the rest Sluice's own; Charles' numbers are not published"
        return ThrottlePreset(name, charles: charlesName, .init(down: down, up: up, latency: latency), source)
    }
}
