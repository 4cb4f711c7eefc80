enum Quantity: Sendable, Hashable {
    case count
    /// In bytes: `kb`, `mb`, `gb` are powers of 1000; `kib`, `mib`, `gib` powers of 1024.
    case size
    /// Microseconds: `us`, `ms`, `s`, `m`, `h`, `d`; without a unit milliseconds.
    case time

    private var units: [(name: String, factor: Int64)] {
        switch self {
        case .count: []
        case .size:
            [
                ("b", 1), ("k", 1_000), ("kb", 1_000), ("kib", 1 << 10), ("m", 1_000_000), ("mb", 1_000_000),
                ("mib", 1 << 20), ("g", 1_000_000_000), ("gb", 1_000_000_000), ("gib", 1 << 30),
            ]
        case .time:
            [
                ("us", 1), ("ms", 1_000), ("s", 1_000_000), ("m", 60_000_000), ("min", 60_000_000),
                ("h", 3_600_000_000), ("d", 86_400_000_000),
            ]
        }
    }

    func read(_ text: some StringProtocol, requiresUnit: Bool = false, fallbackUnit: String? = nil) -> Int64? {
        let unitStart = text.firstIndex { !($0 == "." || $0.isASCII && $0.isNumber) } ?? text.endIndex
        let written = text[unitStart...].lowercased()
        let name = written.isEmpty ? fallbackUnit ?? "" : written
        var factor: Int64 = self == .time ? 1_000 : 1
        if name.isEmpty {
            if requiresUnit { return nil }
        } else {
            guard let unit = units.first(where: { $0.name == name }) else { return nil }
            factor = unit.factor
        }
        let parts = text[..<unitStart].split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, !whole.isEmpty, whole.count <= 18, let number = Int64(whole) else { return nil }
        var (value, overflows) = number.multipliedReportingOverflow(by: factor)
        if parts.count == 2 {
            let digits = parts[1]
            guard factor > 1, !digits.isEmpty, digits.count <= 6, let fraction = Int64(digits) else { return nil }
            let scale = digits.reduce(into: Int64(1)) { scale, _ in scale *= 10 }
            value = value.addingReportingOverflow(fraction * factor / scale).partialValue
        }
        if value < 0 { overflows = true }
        return overflows ? nil : value
    }

    func unit(of text: some StringProtocol) -> String {
        String(text.reversed().prefix { $0.isLetter }.reversed()).lowercased()
    }

    func write(_ value: Int64) -> String {
        switch self {
        case .count, .size: return String(value)
        case .time:
            if value % 1_000_000 == 0 { return "\(value / 1_000_000)s" }
            return value % 1_000 == 0 ? "\(value / 1_000)ms" : "\(value)us"
        }
    }
}
