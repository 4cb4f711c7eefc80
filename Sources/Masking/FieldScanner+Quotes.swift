/// Where quoted values begin and end.
extension FieldScanner {
    /// A quotation mark as HTML and XML write it (XML 1.0 §4.1, §4.6).
    static let quoteEntities: [StaticString] = ["&quot;", "&#34;", "&#x22;", "&#X22;", "&#034;", "&#x0022;"]

    func openingQuote(at place: Int) -> (content: Int, Quote)? {
        var place = place
        var backslashes = 0
        while place < bytes.count, bytes[place] == UInt8(ascii: "\\") {
            (place, backslashes) = (place + 1, backslashes + 1)
        }
        guard place < bytes.count else { return nil }
        switch bytes[place] {
        case UInt8(ascii: "\""), UInt8(ascii: "'"): return (place + 1, .plain(bytes[place], backslashes: backslashes))
        case UInt8(ascii: "`") where isCode: return (place + 1, .plain(bytes[place], backslashes: 0))
        case UInt8(ascii: "%") where has("%22", endingAt: place + 3): return (place + 3, .percent)
        case UInt8(ascii: "&"):
            let entity = FieldScanner.quoteEntities.first { has($0, endingAt: place + $0.utf8CodeUnitCount) }
            return entity.map { (place + $0.utf8CodeUnitCount, .entity($0)) }
        default: return nil
        }
    }

    /// Where a quoted value ends: at its quote, or where the bytes end.
    func end(of quote: Quote, from start: Int) -> Int {
        var place = start
        while place < bytes.count {
            switch quote {
            case .none: return place
            case .percent:
                guard has("%22", endingAt: place + 3) else { break }
                var run = 0
                while place - 3 * run > start,
                    has("%5C", endingAt: place - 3 * run) || has("%5c", endingAt: place - 3 * run)
                {
                    run += 1
                }
                if run % 2 == 0 { return place }
            case .entity(let entity):
                guard has(entity, endingAt: place + entity.utf8CodeUnitCount) else { break }
                if backslashes(before: place, from: start) % 2 == 0 { return place }
            case .plain(let sign, let depth):
                guard bytes[place] == sign else { break }
                // YAML and SQL write a quote in quotes twice.
                if depth == 0, sign == UInt8(ascii: "'"), place > start, place + 1 < bytes.count,
                    bytes[place + 1] == sign
                {
                    place += 2
                    continue
                }
                let run = backslashes(before: place, from: start)
                // An escaped quote has more backslashes than those around the value; `\\` before one is a backslash.
                if depth == 0 ? run % 2 == 0 : run <= depth { return place - (depth == 0 ? 0 : run) }
            }
            place += 1
        }
        return bytes.count
    }

    func backslashes(before place: Int, from start: Int) -> Int {
        var run = 0
        while place - run > start, bytes[place - run - 1] == UInt8(ascii: "\\") { run += 1 }
        return run
    }
}
