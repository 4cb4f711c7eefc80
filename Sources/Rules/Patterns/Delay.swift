import Foundation
package import NIOCore

/// A time that a rule waits, in milliseconds: the same for each request, or drawn.
package enum Delay: Sendable, Hashable {
    case fixed(Double)
    /// Each time of the range is equally likely.
    case uniform(ClosedRange<Double>)
    /// Log-normal: half of the times are below `p50`, 95 % below `p95`, and none is longer than ten times `p95`.
    case logNormal(p50: Double, p95: Double)

    package var isRandom: Bool { if case .fixed = self { false } else { true } }
    package var isZero: Bool { self == .fixed(0) }

    /// For example `300 ms`, `100 to 800 ms` or `p50 200 ms, p95 800 ms`.
    package var text: String {
        func number(_ time: Double) -> String { GrammarValue.text(time) }
        return switch self {
        case .fixed(let time): "\(number(time)) ms"
        case .uniform(let range): "\(number(range.lowerBound)) to \(number(range.upperBound)) ms"
        case .logNormal(let p50, let p95): "p50 \(number(p50)) ms, p95 \(number(p95)) ms"
        }
    }

    /// The time for one request; `uniform` draws from 0..<1, for different indexes independently.
    package func drawn(_ uniform: (_ index: Int) -> Double) -> Double {
        switch self {
        case .fixed(let time): return time
        case .uniform(let range): return range.lowerBound + uniform(0) * (range.upperBound - range.lowerBound)
        case .logNormal(let p50, let p95):
            // A normal distribution by Box and Muller, whose quantile for 95 % is 1.645.
            let normal = sqrt(-2 * log(1 - uniform(0))) * cos(2 * .pi * uniform(1))
            return min(p50 * exp(log(p95 / p50) / 1.644_853_6 * normal), 10 * p95)
        }
    }
}

extension Delay {
    /// In milliseconds.
    private static let longest = 600_000.0

    private static let keys = [
        GrammarKey("p50", .number(0.001...longest, unit: "ms"), example: "200ms").means(
            "Half of the times are shorter."
        ),
        GrammarKey("p95", .number(0.001...longest, unit: "ms"), example: "800ms")
            .means("95 % of the times are shorter; ten times p95 is the longest."),
    ]

    package static let value = GrammarValue.either(.number(0...longest, unit: "ms"), .mapping(keys))

    fileprivate init?(_ node: Node, _ what: String, _ reader: inout ProfileReader) {
        if node.mapping != nil {
            guard let fields = reader.fields(node, what, keys: Delay.keys) else { return nil }
            let ends = ["p50", "p95"].compactMap { reader.required(fields, $0, what) }
            guard ends.count == 2, let p50 = reader.number(fields, "p50"), let p95 = reader.number(fields, "p95") else {
                return nil
            }
            if p50 > p95 { reader.error("p50 must not be longer than p95", at: node) }
            self = .logNormal(p50: p50, p95: p95)
            return
        }
        let ends = (node.scalar?.string ?? "").components(separatedBy: "..")
        let times = ends.compactMap { end in
            var part = node
            if ends.count == 2 { part.content = .scalar(Node.Scalar(string: end, style: .plain)) }
            return reader.number(part, what, 0...Delay.longest, "ms")
        }
        guard times.count == ends.count, let low = times.first, let high = times.last else { return nil }
        if low > high { reader.error("\(what) must begin with the shorter time, as in 100ms..800ms", at: node) }
        self = ends.count == 1 ? .fixed(low) : .uniform(low...max(low, high))
    }
}

extension ProfileReader {
    /// Reads `300ms`, a range as `100ms..800ms`, or `{ p50: 200ms, p95: 800ms }`; a bare number is in milliseconds.
    package mutating func delay(_ fields: ProfileFields, _ key: String) -> Delay? {
        fields[key].flatMap { Delay($0, key, &self) }
    }

    /// Reads a time such as `500ms`, `30s` or `2m`; a bare number is in milliseconds.
    package mutating func duration(_ node: Node, _ what: String) -> TimeAmount? {
        let text = node.string
        let count = text.flatMap { ProfileReader.amount($0, GrammarValue.units["ms"] ?? []) ?? Double($0) }
        if let count, count >= 0, count < 1e11 { return .nanoseconds(Int64(count * 1e6)) }
        let found = text.map { "'\($0.prefix(40))'" } ?? node.kind
        error("\(what) must be a time, as 500ms, 30s or 2m, not \(found)", at: node)
        return nil
    }

    /// A number with a unit from `units`, converted to the first unit; `nil` if the text has no unit.
    static func amount(_ text: String, _ units: [(name: String, scale: Double)]) -> Double? {
        let text = text.lowercased()
        for unit in units where text.hasSuffix(unit.name) {
            let number = text.dropLast(unit.name.count)
            if let number = Double(number.last == " " ? number.dropLast() : number) { return number * unit.scale }
        }
        return nil
    }
}
