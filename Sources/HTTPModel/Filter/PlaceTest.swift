import Text

/// Holds if one of the values at a place passes.
package struct PlaceTest: Sendable, Hashable {
    package enum Condition: Sendable, Hashable {
        /// If the pattern is a number, it matches other spellings of the number, too.
        case text(Glob, number: Double?)
        case expression(FilterExpression)
        case number(NumberRange)
    }

    package struct NumberRange: Sendable, Hashable {
        package struct Bound: Sendable, Hashable {
            package let text: String
            package let number: Double
            package let isIncluded: Bool
        }

        package let lower: Bound?
        package let upper: Bound?

        func contains(_ number: Double) -> Bool {
            if let lower, number < lower.number || number == lower.number && !lower.isIncluded { return false }
            if let upper, number > upper.number || number == upper.number && !upper.isIncluded { return false }
            return true
        }
    }

    package let place: Place
    package let condition: Condition

    /// A regular expression that exceeds the limits does not match.
    package func matches(_ value: UnsafeBufferPointer<UInt8>) -> Bool {
        switch condition {
        case .text(let glob, let number):
            return glob.matches(value) || number.map { $0 == PlaceTest.exactNumber(value) } ?? false
        case .expression(let expression): return expression.matches(UnsafeRawBufferPointer(value))
        case .number(let range): return PlaceTest.number(value).map(range.contains) ?? false
        }
    }

    /// A JSON number (RFC 8259 §6).
    static func number(_ text: some Collection<UInt8>) -> Double? {
        guard (1...40).contains(text.count), let first = text.first, first == 0x2D || first &- 0x30 < 10,
            text.allSatisfy({ $0 &- 0x30 < 10 || $0 == 0x2E || $0 == 0x2D || $0 == 0x2B || $0 | 0x20 == 0x65 })
        else { return nil }
        return Double(String(decoding: text, as: UTF8.self))
    }

    /// With at most 15 digits, so that `Double` is exact.
    static func exactNumber(_ text: some Collection<UInt8>) -> Double? { text.count <= 15 ? number(text) : nil }
}

extension Place {
    package var needs: FilterTest.Needs {
        switch (root, part) {
        case (.request, .method), (.sentResponse, .status), (.request, .url), (.sentRequest, .url), (.request, .host),
            (.sentRequest, .host), (.request, .path), (.sentRequest, .path):
            .record
        case (_, .method), (_, .status), (_, .header), (_, .trailer), (_, .cookie), (_, .query): .messages
        default: .bodies
        }
    }

    /// Only for places that need the record alone.
    package func text(of record: ExchangeRecord) -> String? {
        guard needs == .record else { return nil }
        let url = root == .request ? record.url : record.sentURL ?? record.url
        return switch part {
        case .method: record.method
        case .status: record.status > 0 ? String(record.status) : nil
        case .url: url.description
        case .host: url.host
        case .path: url.path
        default: nil
        }
    }
}

extension PlaceTest {
    /// `nil` if the record alone does not decide.
    func decides(_ record: ExchangeRecord) -> Bool? {
        guard place.needs == .record else { return nil }
        return place.text(of: record).map { text in text.withUTF8Bytes { matches($0) } } ?? false
    }
}

extension FilterValueReader {
    func test(_ value: FilterText, at place: Place) throws(FilterError) -> PlaceTest {
        if value.expressionStart == 0 {
            return PlaceTest(place: place, condition: .expression(try filterExpression(value, ignoringCase: false)))
        }
        if !value.hasLiterals, let range = try numberRange(value) {
            return PlaceTest(place: place, condition: .number(range))
        }
        let glob = try glob(value, ignoringCase: place.part == .host)
        let number = glob.literal.flatMap { PlaceTest.exactNumber($0.utf8) }
        return PlaceTest(place: place, condition: .text(glob, number: number))
    }

    /// `nil` if it is not a comparison or range.
    private func numberRange(_ value: FilterText) throws(FilterError) -> PlaceTest.NumberRange? {
        func bound(_ text: Substring, isIncluded: Bool) throws(FilterError) -> PlaceTest.NumberRange.Bound {
            guard let number = PlaceTest.number(text.utf8) else {
                let offset = value.plain.unicodeScalars.distance(from: value.plain.startIndex, to: text.startIndex)
                let message = text.isEmpty ? "a number is missing" : "'\(text)' is not a number"
                throw error(value, at: offset, message, "put a text that begins with < or > in quotation marks")
            }
            return PlaceTest.NumberRange.Bound(text: String(text), number: number, isIncluded: isIncluded)
        }
        let text = value.plain
        if text.hasPrefix(">") || text.hasPrefix("<") {
            let isIncluded = text.dropFirst().hasPrefix("=")
            let only = try bound(text.dropFirst(isIncluded ? 2 : 1), isIncluded: isIncluded)
            return text.hasPrefix(">") ? .init(lower: only, upper: nil) : .init(lower: nil, upper: only)
        }
        guard let dots = text.firstRange(of: "..") else { return nil }
        let (first, last) = (text[..<dots.lowerBound], text[dots.upperBound...])
        // Other texts, such as paths, may contain two dots.
        guard first.isEmpty || PlaceTest.number(first.utf8) != nil, last.isEmpty || PlaceTest.number(last.utf8) != nil,
            !first.isEmpty || !last.isEmpty
        else { return nil }
        let lower = first.isEmpty ? nil : try bound(first, isIncluded: true)
        let upper = last.isEmpty ? nil : try bound(last, isIncluded: true)
        if let lower, let upper, lower.number > upper.number {
            throw error(value, "the range's start is after its end")
        }
        return .init(lower: lower, upper: upper)
    }
}

extension PlaceTest.NumberRange: CustomStringConvertible {
    package var description: String {
        switch (lower, upper) {
        case (let lower?, let upper?): "\(lower.text)..\(upper.text)"
        case (let lower?, nil): (lower.isIncluded ? ">=" : ">") + lower.text
        case (nil, let upper?): (upper.isIncluded ? "<=" : "<") + upper.text
        case (nil, nil): "*"
        }
    }
}
