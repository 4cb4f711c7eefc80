import Foundation

/// A line of the table: a figure of each subject, and the limits for Sluice's.
struct Row: Sendable {
    let name: String
    let figure: Figure
    /// Digits after the decimal point.
    let digits: Int
    /// The value that Sluice must reach.
    let must: Limit?
    /// The better value that Sluice is meant to reach.
    let aim: Limit?

    init(_ name: String, _ figure: Figure, digits: Int = 1, must: Limit? = nil, aim: Limit? = nil) {
        self.name = name
        self.figure = figure
        self.digits = digits
        self.must = must
        self.aim = aim
    }
}

/// A limit for a figure of Sluice.
enum Limit {
    /// At most so many times the baseline's figure.
    case ratio(Double)
    /// At most so much above the baseline's figure.
    case difference(Double)
    case atMost(Double)
    case atLeast(Double)

    /// Whether a figure is within the limit; nil if the baseline's figure is missing.
    func isReached(by figure: Double, baseline: Double?) -> Bool? {
        switch self {
        case .ratio(let most): baseline.map { figure <= $0 * most }
        case .difference(let most): baseline.map { figure <= $0 + most }
        case .atMost(let most): figure <= most
        case .atLeast(let least): figure >= least
        }
    }

    /// The limit without its sign of comparison.
    var value: String {
        switch self {
        case .ratio(let most): String(format: "%g×", most)
        case .difference(let most): String(format: "+%g", most)
        case .atMost(let limit), .atLeast(let limit): String(format: "%g", limit)
        }
    }

    var sign: String { if case .atLeast = self { "≥" } else { "≤" } }
}

/// Rows whose figures are measured together.
struct Section: Sendable {
    let measurement: any Measurement
    let rows: [Row]
    /// The name of the subject that ratios are relative to.
    let baseline: String

    init(_ measurement: any Measurement, relativeTo baseline: String = Subject.nginxName, _ rows: [Row]) {
        self.measurement = measurement
        self.rows = rows
        self.baseline = baseline
    }

    /// The section with only the rows whose name contains a text; nil if there is none.
    func only(_ text: String) -> Section? {
        let rows = rows.filter { text.isEmpty || $0.name.localizedCaseInsensitiveContains(text) }
        return rows.isEmpty ? nil : Section(measurement, relativeTo: baseline, rows)
    }
}
