/// A key of a profile. The same table decides which keys are accepted and what `sluice profile help` prints.
package struct GrammarKey: Sendable {
    package let name: String
    package let value: GrammarValue
    /// One sentence.
    package private(set) var summary = ""
    /// YAML without indentation.
    package private(set) var example: String
    /// The value if the key is missing, as text; `nil` if the key is required, or has no default.
    package let fallback: String?

    package init(_ name: String, _ value: GrammarValue, example: String = "", fallback: String? = nil) {
        (self.name, self.value, self.example, self.fallback) = (name, value, "\(name): \(example)", fallback)
    }

    package var summaryWithDefault: String { summary + (fallback.map { " Default: \($0)." } ?? "") }

    package func means(_ summary: String) -> GrammarKey {
        var key = self
        key.summary = summary
        return key
    }

    package func example(_ value: String? = nil, whole: String = "") -> GrammarKey {
        var key = self
        key.example = value.map { "\(name): \($0)" } ?? whole
        return key
    }
}

package indirect enum GrammarValue: Sendable {
    case flag
    case text
    /// A number in a range; the unit may be empty.
    case number(ClosedRange<Double>, unit: String)
    case choice([String])
    /// `500ms`, `30s` or `2m`; a bare number is in milliseconds.
    case duration
    case location
    case locations
    /// A plain text, or a regular expression between slashes.
    case pattern
    /// Relative to the profile.
    case path
    case list(GrammarValue)
    case mapping([GrammarKey])
    /// A mapping whose keys the user chooses.
    case names(GrammarValue)
    case either(GrammarValue, GrammarValue)

    package static let directions = GrammarValue.list(.choice(["request", "response"]))

    package var text: String {
        switch self {
        case .flag: "true or false"
        case .text: "text"
        case .number(let range, let unit):
            "number from \(GrammarValue.text(range.lowerBound)) to \(GrammarValue.text(range.upperBound))"
                + (unit.isEmpty
                    ? ""
                    : " (\(unit)\(GrammarValue.units[unit].map { "; or \(GrammarValue.examples(of: $0))" } ?? ""))")
        case .choice(let words): words.joined(separator: " | ")
        case .duration: "time (500ms, 30s, 2m)"
        case .location: "location"
        case .locations: "location or list of locations"
        case .pattern: "text or /regular expression/"
        case .path: "path, relative to the profile"
        case .list(let member): "\(member.text), or a list of them"
        case .mapping(let keys): "mapping of \(keys.map(\.name).joined(separator: ", "))"
        case .names(let value): "mapping of names to: \(value.text)"
        case .either(let one, let other): "\(one.text); or \(other.text)"
        }
    }

    /// The units that a number may have, by its default unit; `scale` is a unit's size in default units.
    static let units: [String: [(name: String, scale: Double)]] = [
        "ms": [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000)],
        "kbit/s": [("kbit/s", 1), ("mbit/s", 1_000), ("gbit/s", 1_000_000)],
        "%": [("%", 1)],
    ]

    /// `300ms or 2s`.
    static func examples(of units: [(name: String, scale: Double)]) -> String {
        zip(["300", "2"], units).map { $0 + $1.name }.joined(separator: " or ")
    }

    /// A number as people write it: without a fraction if there is none.
    package static func text(_ number: Double) -> String {
        number == number.rounded() && abs(number) < 1e15 ? String(Int64(number)) : String(number)
    }
}
