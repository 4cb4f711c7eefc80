import ExchangeCore
package import NIOCore
import Rules

/// A simulated network connection, as a throttle rule or a preset describes it.
package struct ThrottleConditions: Sendable, Hashable {
    /// To the client, in kbit/s; `nil` for no limit, 0 for no network.
    package var down: Double?
    /// To the server, in kbit/s; `nil` for no limit, 0 for no network.
    package var up: Double?
    /// The usable share of `down`, in percent.
    package var utilisationDown = 100.0
    /// The usable share of `up`, in percent.
    package var utilisationUp = 100.0
    /// The round trip of each request, beside its bytes, in ms.
    package var latency = 0.0
    /// Bytes are handed out in multiples of this.
    package var mtu = 1_500
    /// The probability that 10 KiB pass without the connection failing, in percent.
    package var reliability = 100.0
    /// The probability that the connection is stable in a given second, in percent.
    package var stability = 100.0
    /// The range of the bandwidth's share in a second that is not stable, in percent.
    package var quality = 100.0...100.0
    /// The least time between two server-sent events; zero for none.
    package var eventGap = TimeAmount.zero

    /// Conditions that slow nothing down.
    package init() {}

    /// Conditions that differ from a perfect network in bandwidth (kbit/s) and latency (ms).
    init(down: Double?, up: Double?, latency: Double, mtu: Int = 1_500, utilisation: Double = 100) {
        (self.down, self.up, self.latency, self.mtu) = (down, up, latency, mtu)
        (utilisationDown, utilisationUp) = (utilisation, utilisation)
    }

    /// Whether nothing can be reached at all.
    package var isOffline: Bool { down == 0 || up == 0 }

    /// Whether some seconds are worse than others.
    var isUnstable: Bool { stability < 100 && quality.lowerBound < 100 }

    /// Whether anything depends on draws.
    var isRandom: Bool { isUnstable || reliability < 100 }

    /// The usable bandwidth, in bytes per nanosecond; `nil` for no limit.
    func rate(_ direction: FlowDirection) -> Double? {
        let (bandwidth, utilisation) = direction == .request ? (up, utilisationUp) : (down, utilisationDown)
        // 1 kbit/s is 125 bytes in 1e9 ns. Nobody notices a difference below a bit per second.
        return bandwidth.map { max($0 * utilisation / 100, 0.001) * 125e-9 }
    }

    /// How many bytes go on together: about 5 ms' worth in multiples of the MTU, at least one MTU.
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
        if latency > 0 { parts.append("latency \(number(latency)) ms") }
        if mtu != 1_500 { parts.append("MTU \(mtu)") }
        if reliability < 100 { parts.append("reliability \(number(reliability)) %") }
        if isUnstable {
            let range = "\(number(quality.lowerBound)) to \(number(quality.upperBound)) %"
            parts.append("stability \(number(stability)) % (else \(range))")
        }
        if eventGap > .zero {
            parts.append("events \(number(Double(eventGap.nanoseconds) / 1e6)) ms apart")
        }
        return parts.isEmpty ? "no limits" : parts.joined(separator: ", ")
    }

    /// In brief, for example `1600/768 kbit/s, 300 ms`.
    var brief: String {
        var parts: [String] = []
        if down != nil || up != nil {
            let text = [down, up].map { $0.map { String(Int($0)) } ?? "∞" }.joined(separator: "/")
            parts.append("\(text) kbit/s")
        }
        if latency > 0 { parts.append("\(Int(latency)) ms") }
        if reliability < 100 { parts.append("\(Int(reliability)) % reliable") }
        if stability < 100 { parts.append("\(Int(stability)) % stable") }
        return parts.joined(separator: ", ")
    }
}
