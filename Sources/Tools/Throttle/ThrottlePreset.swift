import Rules

/// Conditions with a name.
package struct ThrottlePreset: Sendable {
    package let name: String
    package let charlesName: String?
    package let conditions: ThrottleConditions
    /// Where the numbers come from.
    package let source: String

    /// The preset with a name of Sluice's or Charles', in any case.
    package static func named(_ name: String) -> ThrottlePreset? {
        let name = name.lowercased()
        return all.first { $0.name == name || $0.charlesName?.lowercased() == name }
    }

    /// All presets, from the slowest to the fastest of each kind: mobile, fixed, special.
    package static let all: [ThrottlePreset] = [
        .init("edge", .init(down: 240, up: 200, latency: 840), webPageTest),
        .init("2g", .init(down: 280, up: 256, latency: 800), webPageTest),
        .init("3g-slow", .init(down: 400, up: 400, latency: 400), webPageTest),
        .init("3g", charles: "3G", .init(down: 1_600, up: 768, latency: 300), webPageTestNotCharles),
        .init("3g-fast", .init(down: 1_600, up: 768, latency: 150), webPageTest),
        .init("4g", charles: "4G", .init(down: 9_000, up: 9_000, latency: 170), webPageTestNotCharles),
        .init("lte", .init(down: 12_000, up: 12_000, latency: 70), webPageTest),
        .init("5g", .init(down: 150_000, up: 20_000, latency: 30), midBand),

        .init("modem-56k", charles: "56 kbps Modem", modem, charles),
        .init("isdn", charles: "256 kbps ISDN/DSL", .init(down: 256, up: 128, latency: 40), charlesName),
        .init("dsl-512k", charles: "512 kbps ISDN/DSL", .init(down: 512, up: 128, latency: 40), charlesName),
        .init("dsl", .init(down: 1_500, up: 384, latency: 50), webPageTest),
        .init("adsl", charles: "2 Mbps ADSL", .init(down: 2_048, up: 256, latency: 40), charlesName),
        .init("adsl2", charles: "8 Mbps ADSL2", .init(down: 8_192, up: 1_024, latency: 40), charles),
        .init("adsl2+", charles: "16 Mbps ADSL2+", .init(down: 16_384, up: 1_024, latency: 40), charlesName),
        .init("cable", .init(down: 5_000, up: 1_000, latency: 28), webPageTest),
        .init("vdsl", charles: "32 Mbps VDSL", .init(down: 32_768, up: 8_192, latency: 20), charlesName),
        .init("fibre-32", charles: "32 Mbps Fibre", .init(down: 32_768, up: 32_768, latency: 10), charlesName),
        .init("fibre-100", charles: "100 Mbps Fibre", .init(down: 102_400, up: 102_400, latency: 10), charlesName),

        .init("satellite", .init(down: 25_000, up: 3_000, latency: 600), satellite),
        .init("wifi-lossy", lossyWiFi, "Sluice's own: the far end of a café"),
        .init("offline", .init(down: 0, up: 0, latency: 0), "nothing can be reached: every request fails at once"),
    ]

    private static let modem = ThrottleConditions(down: 57.6, up: 33.6, latency: 250, mtu: 576, utilisation: 70)
    private static let lossyWiFi: ThrottleConditions = {
        var conditions = ThrottleConditions(down: 6_000, up: 2_000, latency: 40)
        conditions.reliability = 99
        conditions.stability = 80
        conditions.quality = 5...50
        return conditions
    }()

    private static let webPageTest = "WebPageTest's connectivity profile"
    private static let webPageTestNotCharles = "\(webPageTest); Charles' are not published"
    private static let charles = "Charles' own numbers, as its settings files have them"
    private static let charlesName =
        "downward what Charles' name says, the rest Sluice's own; Charles' numbers are not published"
    private static let midBand = "Sluice's own: a mid-band network on an ordinary day"
    private static let satellite =
        "Sluice's own: a geostationary satellite, whose signal alone takes 477 ms for a round trip"

    private init(_ name: String, charles charlesName: String? = nil, _ conditions: ThrottleConditions, _ source: String)
    {
        self.name = name
        self.charlesName = charlesName
        self.conditions = conditions
        self.source = source
    }
}
