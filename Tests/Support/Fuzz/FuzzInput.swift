/// What a fuzzer made up: first the bytes that the code under test reads, then those that decide what is done with them.
///
/// The last byte tells how many before it are decisions. So a fuzzer may lengthen the one without changing the other,
/// and every file is an input.
package struct FuzzInput {
    /// What the code under test reads.
    package let bytes: [UInt8]
    private let decisions: [UInt8]
    private var taken = 0

    package init(_ whole: [UInt8]) {
        let count = min(Int(whole.last ?? 0) & 0x3F, max(whole.count - 1, 0))
        decisions = Array(whole.dropLast().suffix(count))
        bytes = Array(whole.dropLast(count + 1))
    }

    /// Puts an input together, for a corpus to begin with.
    package static func made(_ bytes: [UInt8], _ decisions: [UInt8] = []) -> [UInt8] {
        bytes + decisions.prefix(0x3F) + [UInt8(min(decisions.count, 0x3F))]
    }

    /// The next decision; when they are used up they come again, somewhat changed.
    package mutating func decide() -> UInt8 {
        guard !decisions.isEmpty else { return 0 }
        let (round, position) = taken.quotientAndRemainder(dividingBy: decisions.count)
        taken += 1
        return decisions[position] &+ UInt8(truncatingIfNeeded: round) &* 29
    }

    /// A number from 0 up to, but not including, a limit of 256 at most.
    package mutating func number(below limit: Int) -> Int { Int(decide()) % limit }

    /// One of some choices.
    package mutating func choose<Choice>(_ choices: [Choice]) -> Choice { choices[number(below: choices.count)] }

    /// The bytes cut into pieces, short and long ones.
    package mutating func pieces(of bytes: [UInt8]) -> [[UInt8]] {
        var pieces: [[UInt8]] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let length = choose([rest.count, 1, 2, 5, 9, 10, 17, 64, 300])
            pieces.append(Array(rest.prefix(length)))
            rest = rest.dropFirst(length)
        }
        return pieces
    }
}

/// What turned out not to hold.
package struct ProbeError: Error, CustomStringConvertible {
    package var description: String

    package init(description: String) { self.description = description }
}

/// Goes on only where something holds.
package func demand(_ holds: Bool, _ what: @autoclosure () -> String) throws {
    if !holds { throw ProbeError(description: what()) }
}
