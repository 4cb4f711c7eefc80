package import HTTPModel

/// Random draws that can be repeated.
///
/// They depend on the seed, the rule and the request, not on time or on other exchanges: the same requests get the same
/// draws in every run, in any order. For hosts on this machine the port does not count, because test servers use any
/// free port.
package struct SeededDraw: Sendable {
    private let origin: StableHash

    /// The draws of one rule; they depend on its name, so that rules with the same seed differ.
    package init(seed: UInt64, rule: String) {
        var hash = StableHash()
        hash.combine(seed)
        hash.combine(rule)
        origin = hash
    }

    /// A number in 0..<1, always the same for the same request; method and URL as the client sent them. `nth` is the
    /// request's number among those with its method and URL, from 1; `index` distinguishes the draws for one request.
    package func uniform(_ method: String, _ url: RequestURL, nth: Int, index: Int) -> Double {
        var hash = origin
        hash.combine(method)
        hash.combine(url, withPort: !url.host.isLoopback)
        hash.combine(UInt64(truncatingIfNeeded: nth))
        hash.combine(UInt64(truncatingIfNeeded: index))
        return hash.uniform
    }

    /// A number in 0..<1 that does not depend on a request; `index` distinguishes the draws for one topic.
    package func uniform(_ topic: StaticString, index: Int) -> Double {
        var hash = origin
        hash.combine("\(topic)")
        hash.combine(UInt64(truncatingIfNeeded: index))
        return hash.uniform
    }
}

/// Counts requests by method and URL.
package final class RequestCounter: Sendable {
    fileprivate struct Counts {
        var known: [UInt64: UInt32] = [:]
        var shared = [UInt32](repeating: 0, count: 1_024)
    }

    private let counts: ContinuedState<Counts>
    private let limit: Int

    package convenience init(limit: Int = 65_536) { self.init(ContinuedState(Counts()), limit) }

    private init(_ counts: ContinuedState<Counts>, _ limit: Int) { (self.counts, self.limit) = (counts, limit) }

    package var copy: RequestCounter { RequestCounter(counts.copy, limit) }

    /// Continues a different counter; from now on both share their counts.
    package func goOn(from other: RequestCounter) { counts.goOn(from: other.counts) }

    package func reset() { counts.update { $0 = Counts() } }

    /// The number of the request with that method and URL, from 1.
    package func next(_ method: String, _ url: RequestURL) -> Int {
        var hash = StableHash()
        hash.combine(method)
        hash.combine(url, withPort: true)
        let key = hash.value
        return counts.update { counts in
            guard counts.known.count < limit || counts.known[key] != nil else {
                let slot = Int(key % UInt64(counts.shared.count))
                counts.shared[slot] &+= 1
                return Int(counts.shared[slot])
            }
            counts.known[key, default: 0] &+= 1
            return Int(counts.known[key, default: 1])
        }
    }
}

/// A hash that is the same in every process, unlike Swift's own: FNV-1a over the combined values, mixed at the end.
private struct StableHash: Sendable {
    private var state: UInt64 = 0xCBF2_9CE4_8422_2325

    mutating func combine(_ byte: UInt8) { state = (state ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }

    mutating func combine(_ text: String) {
        for byte in text.utf8 { combine(byte) }
        combine(0xFF as UInt8)
    }

    mutating func combine(_ number: UInt64) {
        for shift in stride(from: UInt64(0), to: 64, by: 8) { combine(UInt8(truncatingIfNeeded: number >> shift)) }
    }

    mutating func combine(_ url: RequestURL, withPort: Bool) {
        combine(url.scheme)
        combine(url.host)
        if withPort { combine(UInt64(truncatingIfNeeded: url.port)) }
        combine(url.path)
        if let query = url.query { combine(query) }
    }

    /// Mixed so that every bit depends on all combined values (the finalizer of SplitMix64).
    var value: UInt64 {
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// The value as a number in 0..<1.
    var uniform: Double { Double(value >> 11) * 0x1p-53 }
}
