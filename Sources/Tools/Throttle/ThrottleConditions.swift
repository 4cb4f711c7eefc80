import ExchangeCore
package import NIOCore
package import Rules

/// A simulated network connection, as a throttle rule or a preset describes it.
package struct ThrottleConditions: Sendable, Hashable {
    /// Bandwidth to the client, in kbit/s; `nil` for no limit, 0 for no network.
    package var down: Double?
    /// Bandwidth to the server, in kbit/s; `nil` for no limit, 0 for no network.
    package var up: Double?
    /// The usable share of `down`, in percent.
    package var utilisationDown = 100.0
    /// The usable share of `up`, in percent.
    package var utilisationUp = 100.0
    /// The delay that each request has in addition to the time for its bytes.
    package var latency = Delay.fixed(0)
    /// In bytes; the throttle passes bytes on in multiples of this.
    package var mtu = 1_500
    /// The probability that 10 KiB pass without the connection failing, in percent.
    package var reliability = 100.0
    /// The probability that the connection is stable in a given second, in percent.
    package var stability = 100.0
    /// The usable share of the bandwidth in an unstable second, as a range in percent.
    package var quality = 100.0...100.0
    /// The minimum time between two server-sent events; zero for no minimum.
    package var eventGap = TimeAmount.zero

    /// Conditions that slow nothing down.
    package init() {}

    /// Conditions that differ from a perfect network in bandwidth (kbit/s) and latency (ms).
    init(down: Double?, up: Double?, latency: Double, mtu: Int = 1_500, utilisation: Double = 100) {
        (self.down, self.up, self.latency, self.mtu) = (down, up, .fixed(latency), mtu)
        (utilisationDown, utilisationUp) = (utilisation, utilisation)
    }

    /// Whether nothing can be reached at all.
    package var isOffline: Bool { down == 0 || up == 0 }

    /// Whether some seconds are worse than others.
    var isUnstable: Bool { stability < 100 && quality.lowerBound < 100 }

    /// Whether the connection depends on random draws.
    var isRandom: Bool { isUnstable || drawsForRequests }

    /// Whether each request has random draws of its own.
    var drawsForRequests: Bool { reliability < 100 || latency.isRandom }

    /// The usable bandwidth, in bytes per nanosecond; `nil` for no limit.
    func rate(_ direction: FlowDirection) -> Double? {
        let (bandwidth, utilisation) = direction == .request ? (up, utilisationUp) : (down, utilisationDown)
        // 1 kbit/s is 125 bytes in 1e9 ns. Nobody notices a difference below a bit per second.
        return bandwidth.map { max($0 * utilisation / 100, 0.001) * 125e-9 }
    }

    /// How many bytes pass together: about 5 ms' worth in multiples of the MTU, at least one MTU.
    func chunk(_ direction: FlowDirection) -> Int {
        guard let rate = rate(direction) else { return .max }
        return max(1, Int(rate * 5e6) / mtu) * mtu
    }

    /// For example `down 1600 kbit/s, up 768 kbit/s, latency 300 ms`.
    package var text: String {
        guard !isOffline else { return "no network" }
        func number(_ value: Double) -> String { GrammarValue.text(value) }
        func bandwidth(_ name: String, _ value: Double?, _ utilisation: Double) -> String? {
            value.map { "\(name) \(number($0)) kbit/s\(utilisation == 100 ? "" : " at \(number(utilisation)) %")" }
        }
        var parts = [bandwidth("down", down, utilisationDown), bandwidth("up", up, utilisationUp)].compactMap { $0 }
        if !latency.isZero { parts.append("latency \(latency.text)") }
        if mtu != 1_500 { parts.append("MTU \(mtu)") }
        if reliability < 100 { parts.append("reliability \(number(reliability)) %") }
        if isUnstable {
            let range = "\(number(quality.lowerBound)) to \(number(quality.upperBound)) %"
            parts.append("stability \(number(stability)) % (else \(range))")
        }
        if eventGap > .zero { parts.append("events \(number(Double(eventGap.nanoseconds) / 1e6)) ms apart") }
        return parts.isEmpty ? "no limits" : parts.joined(separator: ", ")
    }

    /// In brief, for example `1600/768 kbit/s, 300 ms`.
    var brief: String {
        var parts: [String] = []
        if down != nil || up != nil {
            let text = [down, up].map { $0.map { String(Int($0)) } ?? "∞" }.joined(separator: "/")
            parts.append("\(text) kbit/s")
        }
        if !latency.isZero { parts.append(latency.text) }
        if reliability < 100 { parts.append("\(Int(reliability)) % reliable") }
        if stability < 100 { parts.append("\(Int(stability)) % stable") }
        return parts.joined(separator: ", ")
    }
}

extension ThrottleConditions {
    private static let bandwidth = GrammarValue.number(0...10_000_000, unit: "kbit/s")
    private static let percent = GrammarValue.number(1...100, unit: "%")

    private static let utilisationKeys = [
        GrammarKey("down", percent, example: "70", fallback: "100").means("Of the bandwidth to the client."),
        GrammarKey("up", percent, example: "90", fallback: "100").means("Of the bandwidth to the server."),
    ]

    static let keys: [GrammarKey] = [
        GrammarKey("down", bandwidth, example: "1600", fallback: "no limit")
            .means("Bandwidth to the client, heads and bodies, shared by all matches of the rule; 0 means no network."),
        GrammarKey("up", bandwidth, example: "768", fallback: "no limit")
            .means("Bandwidth to the server, heads and bodies, shared by all matches of the rule; 0 means no network."),
        GrammarKey("utilisation", .either(percent, .mapping(utilisationKeys)), fallback: "100")
            .example("{ down: 70, up: 90 }")
            .means("The usable share of the bandwidth: one number for both directions, or one for each."),
        GrammarKey("latency", Delay.value, example: "300", fallback: "0").means(
            "The round trip time: every request waits this long, on reused connections too; or a range, as 100ms..800ms."
        ),
        GrammarKey("mtu", .number(1...65_535, unit: "bytes"), example: "576", fallback: "1500")
            .means("Bytes are sent in multiples of this; it does not change the bandwidth."),
        GrammarKey("reliability", .number(0...100, unit: "%"), example: "98", fallback: "100").means(
            "The probability that 10 KiB get through without the connection failing, in each direction; 20 KiB at 50 % pass at 25 %."
        ),
        GrammarKey("stability", .number(0...100, unit: "%"), example: "90", fallback: "100")
            .means("The probability that the connection is stable in a given second; 100 is always."),
        GrammarKey("quality", .list(.number(0...100, unit: "%")), example: "[20, 60]", fallback: "[100, 100]")
            .means("The range of the bandwidth's share in each unstable second, chosen at random."),
        GrammarKey("event-gap", .duration, example: "200ms", fallback: "none")
            .means("The least time between two server-sent events (text/event-stream without content coding)."),
    ]

    /// Applies the fields that are present.
    package mutating func read(_ fields: ProfileFields, _ reader: inout ProfileReader) {
        if let number = reader.number(fields, "down") { down = number }
        if let number = reader.number(fields, "up") { up = number }
        if let node = fields["utilisation"] { readUtilisation(node, &reader) }
        if let delay = reader.delay(fields, "latency") { latency = delay }
        if let number = reader.number(fields, "mtu") { mtu = Int(number) }
        if let number = reader.number(fields, "reliability") { reliability = number }
        if let number = reader.number(fields, "stability") { stability = number }
        if let node = fields["quality"] { readQuality(node, &reader) }
        if let node = fields["event-gap"], let time = reader.duration(node, "event-gap") { eventGap = time }
        if let node = fields["stability"], stability < 100, fields["quality"] == nil, quality == 100...100 {
            reader.lint("without 'quality' an unstable connection is as good as a stable one", at: node)
        }
        if let node = fields["quality"], stability == 100 {
            reader.lint("'quality' applies only to unstable seconds, and 'stability' is 100", at: node)
        }
    }

    private mutating func readUtilisation(_ node: Node, _ reader: inout ProfileReader) {
        guard node.mapping != nil else {
            if let number = reader.number(node, "utilisation", 1...100, "%") {
                (utilisationDown, utilisationUp) = (number, number)
            }
            return
        }
        guard let fields = reader.fields(node, "utilisation", keys: ThrottleConditions.utilisationKeys) else { return }
        if let number = reader.number(fields, "down") { utilisationDown = number }
        if let number = reader.number(fields, "up") { utilisationUp = number }
    }

    private mutating func readQuality(_ node: Node, _ reader: inout ProfileReader) {
        let numbers = node.members.compactMap { reader.number($0, "quality", 0...100, "%") }
        guard numbers.count == node.members.count else { return }
        guard (1...2).contains(numbers.count), let low = numbers.first, let high = numbers.last, low <= high else {
            reader.error("quality needs the lowest and the highest value, as in [20, 60]", at: node)
            return
        }
        quality = low...high
    }
}
