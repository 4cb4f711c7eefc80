import HTTPModel
import Recording

/// Which exchanges of a growing session are read again: those in flight, and numbers that have no row yet.
///
/// Both are bounded: beyond that the oldest are given up.
struct FollowedNumbers {
    private static let most = 20_000
    /// How far from the newest number a row may still appear.
    private static let lateness: Int64 = 5_000
    /// How often a number without a row is looked up.
    private static let patience = 100
    /// How many of those in flight are read again at once.
    private static let atOnce = 2_048

    private(set) var bounds: ClosedRange<Int64>?
    /// Those in flight, the least recently read first.
    private(set) var inFlight: [Int64] = []
    /// Numbers without a row, with the tries that are left.
    private var missing: [Int64: Int] = [:]

    /// The numbers within ``bounds`` that are not settled.
    var unsettled: [Int64] { inFlight + missing.keys }

    mutating func begin(_ reader: SessionReader) throws {
        bounds = try reader.bounds()
        guard let bounds else { return }
        let latest = max(bounds.lowerBound, bounds.upperBound - Self.lateness)...bounds.upperBound
        var open = Set(try reader.numbersInFlight().filter(bounds.contains))
        // A row that came since the previous question is in one of the answers.
        let states = try reader.states(of: .range(latest))
        open.formUnion(states.filter(\.isInFlight).map(\.number))
        inFlight = open.sorted().suffix(Self.most)
        note(latest, without: states.map(\.number))
    }

    /// Reads what has changed; returns what has ended or, in flight, may have changed.
    mutating func advance(_ reader: SessionReader) throws -> (settled: [Int64], inFlight: [Int64]) {
        var changes: (settled: [Int64], inFlight: [Int64]) = ([], [])
        let watched = Array(inFlight.prefix(Self.atOnce)) + missing.keys
        inFlight.removeFirst(min(inFlight.count, Self.atOnce))
        let first = (bounds?.upperBound ?? 0) + 1
        let now = try reader.bounds()
        var states = watched.isEmpty ? [] : try reader.states(of: .numbers(watched))
        let old = Set(states.map(\.number))
        for (number, tries) in missing {
            missing[number] = old.contains(number) || tries <= 1 ? nil : tries - 1
        }
        if let now, first <= now.upperBound {
            let new = max(first, now.lowerBound)...now.upperBound
            let newStates = try reader.states(of: .range(new))
            note(max(new.lowerBound, new.upperBound - Self.lateness)...new.upperBound, without: newStates.map(\.number))
            states += newStates
        }
        bounds = now ?? bounds
        for (number, isInFlight) in states {
            if isInFlight { changes.inFlight.append(number) } else { changes.settled.append(number) }
        }
        inFlight += changes.inFlight
        inFlight.removeFirst(max(0, inFlight.count - Self.most))
        return changes
    }

    private mutating func note(_ range: ClosedRange<Int64>, without known: [Int64]) {
        let known = Set(known)
        for number in range where !known.contains(number) { missing[number] = Self.patience }
    }
}
