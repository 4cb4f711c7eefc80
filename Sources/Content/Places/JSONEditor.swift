import HTTPModel

/// Edits all values at a place of a JSON text in one pass, without a tree; other bytes stay.
struct JSONEditor {
    enum Action {
        /// A missing last member, or the element after the last, is made if `makesMissing`.
        case set([UInt8], makesMissing: Bool)
        /// Appends to arrays, and makes a missing last member or the element after the last.
        case add([UInt8])
        case remove

        /// In JSON; `nil` for `remove`.
        fileprivate var value: [UInt8]? {
            switch self {
            case .set(let value, _), .add(let value): value
            case .remove: nil
            }
        }
    }

    private var reader: JSONTokenReader
    private let steps: [Place.Step]
    private let action: Action
    /// The edited text.
    private(set) var output: [UInt8] = []
    private(set) var isTooLong = false
    /// The position up to which the text is in the output or left out.
    private var copied = 0
    /// How many values each number of steps led to; made values count, too.
    private(set) var reached: [Int]
    /// How many values are made, removed or different.
    private(set) var changed = 0

    /// Edits a text. Throws if it is not JSON; only values on the way to the place may not be nested too deep.
    init(_ bytes: [UInt8], at steps: [Place.Step], _ action: Action) throws(JSONSyntaxError) {
        reader = JSONTokenReader(bytes, nestingLimit: 1 << 20)
        (self.steps, self.action) = (steps, action)
        reached = Array(repeating: 0, count: steps.count + 1)
        output.reserveCapacity(bytes.count + (action.value?.count ?? 0))
        if let first = try reader.next() { try visit(first, 0) }
        // Text after the value is an error.
        _ = try reader.next()
        copy(to: bytes.count)
    }

    /// Reads a value whose first token was just read; `depth` steps led to it.
    private mutating func visit(_ first: JSONToken, _ depth: Int) throws(JSONSyntaxError) {
        reached[depth] += 1
        guard depth < steps.count else { return try edit(first) }
        switch (first.kind, steps[depth]) {
        case (.objectBegin, .member), (.objectBegin, .any), (.arrayBegin, .element), (.arrayBegin, .any):
            try visitChildren(of: first, depth)
        default: try reader.skip(first)
        }
    }

    private mutating func visitChildren(of first: JSONToken, _ depth: Int) throws(JSONSyntaxError) {
        let (step, isLast) = (steps[depth], depth + 1 == steps.count)
        let isRemoval = isLast && action.value == nil
        var wanted: Int?
        if case .element(let number) = step { wanted = number < 0 ? try count() + number : number }
        var (index, isFound) = (0, false)
        /// The end of the last value that is kept, and the removed values after it.
        var (keptEnd, hasKept, cut) = (first.range.upperBound, false, Range<Int>?.none)
        while let token = try reader.next(), token.kind != .objectEnd, token.kind != .arrayEnd {
            let isWanted = token.kind == .name ? isNamed(token, step) : wanted.map { $0 == index } ?? true
            guard let value = token.kind == .name ? try reader.next() : token else { return }
            index += 1
            if isWanted, isRemoval {
                try reader.skip(value)
                cut = (cut?.lowerBound ?? token.range.lowerBound)..<reader.position
                reached[depth + 1] += 1
                changed += 1
                continue
            }
            if let removed = cut { leaveOut(removed.lowerBound..<token.range.lowerBound) }
            cut = nil
            try isWanted ? visit(value, depth + 1) : reader.skip(value)
            isFound = isFound || isWanted
            (keptEnd, hasKept) = (reader.position, true)
        }
        // The comma before the last value is removed with it.
        if let cut { leaveOut((hasKept ? keptEnd : cut.lowerBound)..<cut.upperBound) }
        guard isLast, !isFound, let value = action.value else { return }
        if case .set(_, makesMissing: false) = action { return }
        switch step {
        case .member(let name): append(Array("\(JSONWriter.quoted(name)):".utf8) + value, at: keptEnd, after: index)
        case .element(index): append(value, at: keptEnd, after: index)
        default: return
        }
        reached[depth + 1] += 1
    }

    /// Edits the value at the end of the steps.
    private mutating func edit(_ first: JSONToken) throws(JSONSyntaxError) {
        switch action {
        case .add(let value) where first.kind == .arrayBegin:
            var (end, count) = (first.range.upperBound, 0)
            while let element = try reader.next(), element.kind != .arrayEnd {
                try reader.skip(element)
                (end, count) = (reader.position, count + 1)
            }
            append(value, at: end, after: count)
        case .set(let value, _):
            try reader.skip(first)
            let range = first.range.lowerBound..<reader.position
            guard !reader.bytes[range].elementsEqual(value) else { return }
            changed += 1
            leaveOut(range)
            write(value[...])
        case .add, .remove: try reader.skip(first)
        }
    }

    /// Puts a member or an element after `count` others, whose last ends at `end`.
    private mutating func append(_ text: [UInt8], at end: Int, after count: Int) {
        changed += 1
        copy(to: end)
        if count > 0 { write([UInt8(ascii: ",")]) }
        write(text[...])
    }

    private func isNamed(_ token: JSONToken, _ step: Place.Step) -> Bool {
        guard case .member(let name) = step else { return true }
        return JSONTree.isName(reader.bytes[token.range], name)
    }

    /// The number of elements in the array whose first token was just read. Does not move the reader.
    private func count() throws(JSONSyntaxError) -> Int {
        var (ahead, count) = (reader, 0)
        while let value = try ahead.next(), value.kind != .arrayEnd {
            try ahead.skip(value)
            count += 1
        }
        return count
    }

    private mutating func copy(to end: Int) {
        write(reader.bytes[copied..<end])
        copied = end
    }

    private mutating func leaveOut(_ range: Range<Int>) {
        copy(to: range.lowerBound)
        copied = range.upperBound
    }

    private mutating func write(_ bytes: ArraySlice<UInt8>) {
        isTooLong = isTooLong || output.count + bytes.count > PlaceWriter.longestBody
        if !isTooLong { output += bytes }
    }
}
