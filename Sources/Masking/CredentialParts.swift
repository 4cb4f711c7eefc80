/// What follows the scheme of credentials: a token, parameters, or both (RFC 9110 §11.4). Folded lines are spaces in it, and a
/// quoted value may have escaped quotes and commas.
struct CredentialParts {
    struct Parameter {
        let name: Range<Int>
        /// Without its quotes.
        let value: Range<Int>
        let isQuoted: Bool
    }

    /// The words before the parameters that are none.
    private(set) var token: Range<Int>?
    private(set) var parameters: [Parameter] = []
    /// The words after the first parameter that are none.
    private(set) var strays: [Range<Int>] = []

    private let bytes: UnsafeRawBufferPointer
    private let end: Int

    init(_ bytes: UnsafeRawBufferPointer, _ range: Range<Int>) {
        (self.bytes, end) = (bytes, range.upperBound)
        var place = range.lowerBound
        while true {
            while place < end, isSpace(place) || isSeparator(place) { place += 1 }
            guard place < end else { return }
            place = part(at: place)
        }
    }

    /// Takes the part at a place; returns where it ends.
    private mutating func part(at start: Int) -> Int {
        var (word, next) = word(at: start)
        let equals = afterSpaces(next)
        guard equals < end, bytes[equals] == UInt8(ascii: "="), !isPadding(equals, of: word) else {
            while next < end, bytes[next] == UInt8(ascii: "=") { next += 1 }
            add(word.lowerBound..<(isQuoted(start) ? word.upperBound : next))
            return max(next, start + 1)
        }
        let place = afterSpaces(equals + 1)
        if let quoted = quoted(at: place) {
            parameters.append(Parameter(name: word, value: quoted.content, isQuoted: true))
            return quoted.end
        }
        let valueEnd = endOfValue(place)
        parameters.append(Parameter(name: word, value: place..<valueEnd, isQuoted: false))
        return valueEnd
    }

    private mutating func add(_ word: Range<Int>) {
        guard parameters.isEmpty else { return strays.append(word) }
        token = (token?.lowerBound ?? word.lowerBound)..<word.upperBound
    }

    /// A word, without its quotes, and what comes after it.
    private func word(at start: Int) -> (Range<Int>, next: Int) {
        if let quoted = quoted(at: start) { return (quoted.content, quoted.end) }
        var place = start
        while place < end, !isSpace(place), !isSeparator(place), bytes[place] != UInt8(ascii: "=") { place += 1 }
        return (start..<place, place)
    }

    /// Whether the sign at a place is one that fills up the base64 of a token, and no parameter's.
    private func isPadding(_ equals: Int, of word: Range<Int>) -> Bool {
        guard parameters.isEmpty, equals == word.upperBound else { return false }
        var place = equals
        while place < end, bytes[place] == UInt8(ascii: "=") { place += 1 }
        if place == end || isSeparator(place) { return true }
        guard isSpace(place) else { return false }
        let next = afterSpaces(place)
        return next == end || isSeparator(next) || beginsParameter(next)
    }

    /// Whether a name and its sign stand at a place.
    private func beginsParameter(_ start: Int) -> Bool {
        var place = start
        while place < end, ValueShape.isLetterOrDigit(bytes[place]) || "_-.*".utf8.contains(bytes[place]) { place += 1 }
        let equals = afterSpaces(place)
        return place > start && equals < end && bytes[equals] == UInt8(ascii: "=")
    }

    /// Where a value without quotes ends: at a comma, or before another parameter.
    private func endOfValue(_ start: Int) -> Int {
        var place = start
        while place < end, bytes[place] != UInt8(ascii: ",") {
            guard isSpace(place) || isSeparator(place) else {
                place += 1
                continue
            }
            let next = afterSpaces(place + 1)
            if beginsParameter(next) { break }
            place = next
        }
        while place > start, isSpace(place - 1) { place -= 1 }
        return place
    }

    /// What stands in quotes, which themselves may have backslashes, and what comes after them.
    private func quoted(at start: Int) -> (content: Range<Int>, end: Int)? {
        var open = start
        while open < end, bytes[open] == UInt8(ascii: "\\") { open += 1 }
        guard open < end, bytes[open] == UInt8(ascii: "\"") else { return nil }
        let depth = open - start
        let content = open + 1
        var (place, run) = (content, 0)
        while place < end {
            if bytes[place] == UInt8(ascii: "\""), depth == 0 ? run.isMultiple(of: 2) : run <= depth {
                return (content..<max(content, place - min(run, depth)), place + 1)
            }
            run = bytes[place] == UInt8(ascii: "\\") ? run + 1 : 0
            place += 1
        }
        return (content..<end, end)
    }

    private func isQuoted(_ start: Int) -> Bool { quoted(at: start) != nil }

    private func afterSpaces(_ start: Int) -> Int {
        var place = start
        while place < end, isSpace(place) { place += 1 }
        return place
    }

    private func isSpace(_ place: Int) -> Bool { HeadMask.isSpace(bytes[place]) }

    private func isSeparator(_ place: Int) -> Bool {
        bytes[place] == UInt8(ascii: ",") || bytes[place] == UInt8(ascii: ";")
    }
}
