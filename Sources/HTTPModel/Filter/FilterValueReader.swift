import Expressions

struct FilterValueReader {
    let expression: String
    let clock: FilterClock
    let key: String

    func error(_ value: FilterText, at offset: Int = 0, _ message: String, _ suggestion: String? = nil) -> FilterError {
        let column = value.columns.indices.contains(offset) ? value.columns[offset] : value.endColumn
        return FilterError(expression: expression, column: column, message: message, suggestion: suggestion)
    }

    func glob(_ value: FilterText, ignoringCase: Bool, isFoundAnywhere: Bool = false) throws(FilterError) -> Glob {
        do {
            let glob = try Glob(value.pattern, ignoringCase: ignoringCase)
            return isFoundAnywhere && !value.hasStar ? glob.unanchored : glob
        } catch {
            throw self.error(value, error.message)
        }
    }

    func pattern(
        _ value: FilterText,
        ignoringCase: Bool,
        isFoundAnywhere: Bool = false
    ) throws(FilterError) -> FilterTest.Pattern {
        if value.expressionStart != nil { return .expression(try filterExpression(value, ignoringCase: ignoringCase)) }
        return .glob(try glob(value, ignoringCase: ignoringCase, isFoundAnywhere: isFoundAnywhere))
    }

    /// The text of a body has no wildcards.
    func bodyPattern(_ value: FilterText) throws(FilterError) -> FilterTest.Pattern {
        if value.expressionStart != nil { return try pattern(value, ignoringCase: true) }
        return .glob(Glob(containing: value.plain, ignoringCase: true))
    }

    func filterExpression(_ value: FilterText, ignoringCase: Bool) throws(FilterError) -> FilterExpression {
        let pattern = String(String.UnicodeScalarView(value.plain.unicodeScalars.dropFirst().dropLast()))
        do {
            return try FilterExpression(pattern, ignoringCase: ignoringCase)
        } catch {
            // PCRE2 counts bytes, columns count characters after the slash.
            let before = String(decoding: pattern.utf8.prefix(error.offset), as: UTF8.self).unicodeScalars.count
            throw self.error(value, at: 1 + before, "the regular expression is wrong: \(error.message)")
        }
    }

    func process(_ value: FilterText) throws(FilterError) -> FilterTest {
        let isNumber = !value.plain.isEmpty && value.plain.utf8.allSatisfy { $0 &- 0x30 < 10 }
        if isNumber || value.plain.hasPrefix(">") || value.plain.hasPrefix("<") {
            return .number(.process, try range(value, .count))
        }
        return .matches(.text(.process), try pattern(value, ignoringCase: true))
    }

    func mediaType(_ value: FilterText) throws(FilterError) -> FilterTest {
        if value.hasWildcard || value.plain.contains("/") {
            return .text(.mediaType, try glob(value, ignoringCase: true))
        }
        let part = value.plain.lowercased()
        return .mediaTypePart(part == "js" ? "javascript" : part)
    }

    func version(_ value: FilterText) throws(FilterError) -> ClosedRange<HTTPVersion> {
        switch value.plain.lowercased() {
        case "h1", "1", "http/1": .http10 ... .http11
        case "1.0", "http/1.0": .http10 ... .http10
        case "1.1", "http/1.1": .http11 ... .http11
        case "h2", "2", "http/2": .http2 ... .http2
        case "h3", "3", "http/3": .http3 ... .http3
        default: throw error(value, "unknown version '\(value.plain)'", "write h1, h2, h3, 1.0 or 1.1")
        }
    }

    func property(_ value: FilterText) throws(FilterError) -> FilterProperty {
        if let property = FilterProperty(name: value.plain.lowercased()) { return property }
        let names = FilterProperty.all.map(\.name)
        let suggestion =
            Spelling.nearest(to: value.plain, among: names).map { "did you mean '\($0)'?" }
            ?? "it can be " + names.joined(separator: ", ")
        throw error(value, "unknown property '\(value.plain)'", suggestion)
    }

    func time(_ value: FilterText) throws(FilterError) -> Int64 {
        guard let time = clock.read(value.plain) else {
            let forms = "write 14:30, 2026-11-21, 2026-11-21T14:30:00Z, or 10m for ten minutes ago"
            throw error(value, "'\(value.plain)' is no time", forms)
        }
        return time
    }

    func field(_ value: FilterText, _ side: FilterTest.Side) throws(FilterError) -> FilterTest {
        if let start = value.expressionStart {
            // The name ends before the regular expression; without a name, any field is meant.
            let any = Glob(containing: "", ignoringCase: true)
            let name = start == 0 ? any : try glob(value.part(0..<start - 1), ignoringCase: true)
            let expression = value.part(start..<value.columns.count)
            return .matches(.field(side, name: name), try pattern(expression, ignoringCase: true))
        }
        // An HTTP/2 pseudo-header begins with a colon.
        let characters = Array(value.plain.unicodeScalars)
        let colon = characters.dropFirst().firstIndex(of: ":")
        let name = value.part(0..<(colon ?? characters.count))
        guard !name.isEmpty, !name.plain.contains(where: \.isWhitespace) else {
            throw error(value, "the field's name is missing")
        }
        let nameGlob = try glob(name, ignoringCase: true)
        guard let colon else { return .matches(.field(side, name: nameGlob), .any) }
        var start = colon + 1
        while start < characters.count, characters[start].properties.isWhitespace { start += 1 }
        let text = value.part(start..<characters.count)
        let pattern = text.isEmpty ? .any : try pattern(text, ignoringCase: true, isFoundAnywhere: true)
        return .matches(.field(side, name: nameGlob), pattern)
    }

    /// A search in `traceparent`, for example `00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01`.
    func trace(_ value: FilterText) throws(FilterError) -> FilterTest {
        let id = value.plain.lowercased()
        guard id.utf8.count <= 32, id.utf8.allSatisfy({ $0.hexadecimalValue != nil || "*?".utf8.contains($0) }) else {
            throw error(value, "'\(value.plain)' is no trace id", "write up to 32 hexadecimal digits, or * for any")
        }
        let isWhole = id.utf8.count == 32 || id.contains("*")
        let pattern = "??-\(id)\(isWhole ? "" : "*")-*"
        let glob: Glob
        do { glob = try Glob(pattern, ignoringCase: true) } catch { throw self.error(value, error.message) }
        return .matches(.field(.request, name: Glob(literal: "traceparent", ignoringCase: true)), .glob(glob))
    }

    func session(_ value: FilterText) throws(FilterError) -> FilterTest {
        let beginning = value.plain.lowercased()
        guard beginning.utf8.allSatisfy({ $0.hexadecimalValue != nil || $0 == UInt8(ascii: "-") }) else {
            let hint = "'sluice store sessions URL' lists them; write all of one or its beginning"
            throw error(value, "'\(value.plain)' is no identifier of a recording", hint)
        }
        return .recording(.identifier(beginning))
    }

    func label(_ value: FilterText) throws(FilterError) -> FilterTest {
        guard let label = Filter.label(value.plain) else {
            throw error(
                value,
                "'\(value.plain)' is no label",
                "write its name and value, for example label:branch=main"
            )
        }
        return .recording(.label(name: label.name, value: label.value))
    }

    func status(_ value: FilterText) throws(FilterError) -> ClosedRange<Int64> {
        let text = value.plain.lowercased()
        if text.count == 3, text.hasSuffix("xx"), let digit = text.first?.wholeNumberValue, (1...9).contains(digit) {
            return Int64(digit * 100)...Int64(digit * 100 + 99)
        }
        return try range(value, .count, minimum: 1)
    }

    /// By number or name; ignores case, underscores and hyphens.
    func grpcStatus(_ value: FilterText) throws(FilterError) -> ClosedRange<Int64> {
        if value.plain == "*", value.hasStar { return FilterValueReader.anyCode }
        guard let first = value.plain.first, first.isLetter else { return try range(value, .count) }
        func letters(_ name: String) -> String { name.lowercased().filter { $0 != "_" && $0 != "-" } }
        let names = FilterValueReader.grpcNames
        if let code = names.firstIndex(where: { letters($0) == letters(value.plain) }) {
            return Int64(code)...Int64(code)
        }
        let nearest = Spelling.nearest(to: value.plain, among: names).map { "did you mean '\($0)'?" }
        let suggestion = nearest ?? "write its number, or a name such as unavailable"
        throw error(value, "'\(value.plain)' is no gRPC status", suggestion)
    }

    private static let grpcNames = GRPCOutcome.names.map { $0.lowercased() }

    static let anyCode = Int64.min...Int64.max

    /// Reads a number, a comparison (`>5`, `<=5`) or a range (`5..10`, `5..`, `..10`), open ranges from `minimum`.
    func range(
        _ value: FilterText,
        _ quantity: Quantity,
        minimum: Int64 = 0
    ) throws(FilterError) -> ClosedRange<Int64> {
        let text = value.plain
        for (sign, lower, upper) in FilterValueReader.comparisons where text.hasPrefix(sign) {
            let number = try read(text.dropFirst(sign.count), of: value, quantity)
            guard let upper else {
                let (first, overflows) = number.addingReportingOverflow(lower ?? 0)
                if overflows { throw error(value, "the number is too large") }
                return first...Int64.max
            }
            let last = number - upper
            guard last >= minimum else { throw error(value, "no \(key) is below \(quantity.write(number))") }
            return minimum...last
        }
        if let dots = text.firstRange(of: "..") {
            let first = text[..<dots.lowerBound]
            let last = text[dots.upperBound...]
            if first.isEmpty, last.isEmpty { throw error(value, "the range has no ends") }
            let upper = last.isEmpty ? Int64.max : try read(last, of: value, quantity)
            let lower =
                first.isEmpty ? minimum : try read(first, of: value, quantity, fallbackUnit: quantity.unit(of: last))
            guard lower <= upper else { throw error(value, "the range's start is after its end") }
            return lower...upper
        }
        let number = try read(text[...], of: value, quantity)
        if quantity == .time {
            throw error(value, "an exact duration matches nothing", "write \(key):>\(text) or a range")
        }
        return number...number
    }

    /// `lower` is added to the number for the first match, `upper` is subtracted for the last match.
    private static let comparisons: [(sign: String, lower: Int64?, upper: Int64?)] = [
        (">=", 0, nil), ("<=", nil, 0), (">", 1, nil), ("<", nil, 1),
    ]

    private func read(
        _ text: Substring,
        of value: FilterText,
        _ quantity: Quantity,
        fallbackUnit: String? = nil
    ) throws(FilterError) -> Int64 {
        guard let number = quantity.read(text, fallbackUnit: fallbackUnit) else {
            let offset = value.plain.unicodeScalars.distance(from: value.plain.startIndex, to: text.startIndex)
            let suggestion =
                switch quantity {
                case .count: "write a number, a comparison such as >=400, or a range such as 200..299"
                case .size: "write a number with b, kb, mb, gb, kib, mib or gib"
                case .time: "write a number with us, ms, s, m, h or d"
                }
            let what = quantity == .size ? "size" : quantity == .time ? "length of time" : "number"
            let message = text.isEmpty ? "a \(what) is missing" : "'\(text)' is no \(what)"
            throw error(value, at: offset, message, suggestion)
        }
        return number
    }
}
