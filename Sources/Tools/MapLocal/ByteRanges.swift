import Content

/// The ranges of a `Range` field (RFC 9110 §14.2).
enum ByteRanges: Equatable {
    /// The whole file: the field is invalid, or requests too many parts.
    case whole
    /// In the order of the field.
    case parts([Range<Int64>])
    case unsatisfiable

    /// More parts than this, or more than two that overlap, are an attack or a mistake (RFC 9110 §17.15).
    private static let (mostParts, mostOverlaps) = (100, 2)

    /// Reads the field for a file of `length` bytes.
    init(_ text: String, length: Int64) {
        guard let specifications = ByteRanges.specifications(text), specifications.count <= ByteRanges.mostParts else {
            self = .whole
            return
        }
        let parts = specifications.compactMap { $0.range(length) }
        if parts.isEmpty {
            // The last bytes of an empty file are the whole file; `Content-Range` has no form for an empty range.
            let isEmptyWhole = length == 0 && specifications.contains { $0.first == nil && $0.last != 0 }
            self = isEmptyWhole ? .whole : .unsatisfiable
        } else {
            self = ByteRanges.overlaps(parts) > ByteRanges.mostOverlaps ? .whole : .parts(parts)
        }
    }

    /// `first-last`, `first-` or `-count`.
    private struct Specification {
        let first: Int64?
        let last: Int64?

        init?(_ text: Substring) {
            let ends = text.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
            guard ends.count == 2, !(ends[0].isEmpty && ends[1].isEmpty) else { return nil }
            var numbers: [Int64?] = []
            for end in ends {
                guard end.utf8.allSatisfy({ $0 &- 0x30 < 10 }) else { return nil }
                // A number that is too large is beyond the end of every file.
                numbers.append(end.isEmpty ? nil : Int64(end) ?? .max)
            }
            (first, last) = (numbers[0], numbers[1])
            if let first, let last, last < first { return nil }
        }

        func range(_ length: Int64) -> Range<Int64>? {
            guard let first else {
                guard let last, last > 0, length > 0 else { return nil }
                return max(0, length - last)..<length
            }
            guard first < length else { return nil }
            return first..<min(length, last.map { $0 == .max ? .max : $0 + 1 } ?? .max)
        }
    }

    /// The parts as written; `nil` if one is invalid, because then the whole field is invalid (RFC 9110 §14.1.1).
    private static func specifications(_ text: String) -> [Specification]? {
        let halves = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2, halves[0].lowercased() == "bytes" else { return nil }
        var specifications: [Specification] = []
        for member in halves[1].split(separator: ",") {
            let member = member.trimmingASCIIWhitespace
            // Empty members of a list are ignored (RFC 9110 §5.6.1.2).
            if member.isEmpty { continue }
            guard let specification = Specification(member) else { return nil }
            specifications.append(specification)
        }
        return specifications.isEmpty ? nil : specifications
    }

    private static func overlaps(_ parts: [Range<Int64>]) -> Int {
        let ordered = parts.sorted { $0.lowerBound < $1.lowerBound }
        var end: Int64 = 0
        var count = 0
        for part in ordered {
            if part.lowerBound < end { count += 1 }
            end = max(end, part.upperBound)
        }
        return count
    }
}

extension Range<Int64> {
    /// For `Content-Range` (RFC 9110 §14.4).
    func contentRange(of length: Int64) -> String { "bytes \(lowerBound)-\(upperBound - 1)/\(length)" }
}
