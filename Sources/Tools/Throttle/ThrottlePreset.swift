import Rules

/// Conditions with a name.
package struct ThrottlePreset: Sendable {
    package let name: String
    package let charlesName: String?
    package private(set) var conditions = ThrottleConditions()
    /// Where the numbers come from.
    package let source: String

    /// The preset of a name, Sluice's or Charles'; the case of letters does not count.
    package static func named(_ name: String) -> ThrottlePreset? {
        let name = name.lowercased()
        return all.first { $0.name == name || $0.charlesName?.lowercased() == name }
    }

    /// All presets, from the slowest to the fastest of each kind: mobile, fixed, special.
    package static let all: [ThrottlePreset] = [
        .init("edge", down: 240, up: 200, latency: 840, webPageTest),
        .init("2g", down: 280, up: 256, latency: 800, webPageTest),
        .init("3g-slow", down: 400, up: 400, latency: 400, webPageTest),
        .init("3g", "3G", down: 1_600, up: 768, latency: 300, webPageTestNotCharles),
        .init("3g-fast", down: 1_600, up: 768, latency: 150, webPageTest),
        .init("4g", "4G", down: 9_000, up: 9_000, latency: 170, webPageTestNotCharles),
        .init("lte", down: 12_000, up: 12_000, latency: 70, webPageTest),
        .init("5g", down: 150_000, up: 20_000, latency: 30, "Sluice's own: a mid-band network on an ordinary day"),

        .init("modem-56k", "56 kbps Modem", down: 57.6, up: 33.6, latency: 250, mtu: 576, utilisation: 70, charles),
        .init("isdn", "256 kbps ISDN/DSL", down: 256, up: 128, latency: 40, charlesName),
        .init("dsl-512k", "512 kbps ISDN/DSL", down: 512, up: 128, latency: 40, charlesName),
        .init("dsl", down: 1_500, up: 384, latency: 50, webPageTest),
        .init("adsl", "2 Mbps ADSL", down: 2_048, up: 256, latency: 40, charlesName),
        .init("adsl2", "8 Mbps ADSL2", down: 8_192, up: 1_024, latency: 40, charles),
        .init("adsl2+", "16 Mbps ADSL2+", down: 16_384, up: 1_024, latency: 40, charlesName),
        .init("cable", down: 5_000, up: 1_000, latency: 28, webPageTest),
        .init("vdsl", "32 Mbps VDSL", down: 32_768, up: 8_192, latency: 20, charlesName),
        .init("fibre-32", "32 Mbps Fibre", down: 32_768, up: 32_768, latency: 10, charlesName),
        .init("fibre-100", "100 Mbps Fibre", down: 102_400, up: 102_400, latency: 10, charlesName),

        .init("satellite", down: 25_000, up: 3_000, latency: 600, satellite),
        lossyWiFi,
        .init("offline", down: 0, up: 0, latency: 0, "nothing can be reached: every request fails at once"),
    ]

    private static let lossyWiFi: ThrottlePreset = {
        var preset = ThrottlePreset(
            "wifi-lossy",
            down: 6_000,
            up: 2_000,
            latency: 40,
            "Sluice's own: the far end of a café"
        )
        preset.conditions.reliability = 99
        preset.conditions.stability = 80
        preset.conditions.quality = 5...50
        return preset
    }()

    private static let webPageTest = "WebPageTest's connectivity profile"
    private static let webPageTestNotCharles = "\(webPageTest); Charles' are not published"
    private static let charles = "Charles' own numbers, as its settings files have them"
    private static let charlesName =
        "downward what Charles' name says, the rest Sluice's own; Charles' numbers are not published"
    private static let satellite =
        "Sluice's own: a geostationary satellite, whose signal alone takes 477 ms for a round trip"

    private init(
        _ name: String,
        _ charlesName: String? = nil,
        down: Double,
        up: Double,
        latency: Double,
        mtu: Int = 1_500,
        utilisation: Double = 100,
        _ source: String
    ) {
        (self.name, self.charlesName, self.source) = (name, charlesName, source)
        (conditions.down, conditions.up, conditions.latency, conditions.mtu) = (down, up, latency, mtu)
        (conditions.utilisationDown, conditions.utilisationUp) = (utilisation, utilisation)
    }
}
