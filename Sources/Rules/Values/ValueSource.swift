import HTTPModel
import Text

/// A value that a text of a rule names between `${` and `}`.
enum ValueSource: Sendable, Hashable {
    enum NowForm: String, Sendable, CaseIterable { case rfc3339, http, unix, ms }

    case variable(String, Variable)
    /// What the n-th star of the location matched, from 1.
    case star(Int)
    /// Of the request as received.
    case place(Place)
    case uuid
    /// With an offset in microseconds.
    case now(Int64, NowForm)
    case random(ClosedRange<Int64>)
    case count
}

/// Why a name in a text of a rule is not a value.
struct ValueSyntaxError: Error {
    let message: String
    /// In characters of the name.
    var offset = 0
}

extension ValueSource {
    private static let words = ["uuid", "now", "random", "count", "at"]
    /// Small enough that a `Double` can be every number in the range.
    private static let randomLimit: Int64 = 1_000_000_000_000_000
    /// In microseconds: 100 years.
    private static let longestOffset = 36_525 * 86_400 * 1_000_000.0

    /// Whether a variable can have the name.
    static func isVariableName(_ name: String) -> Bool {
        name.utf8.count <= 100 && name.utf8.first.map { ($0 | 0x20) &- 0x61 < 26 || $0 == 0x5F } == true
            && name.utf8.allSatisfy { ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 || "_-".utf8.contains($0) }
            && !(words + ["req", "res"]).contains(name)
    }

    /// Reads the text between `${` and `}`.
    init(_ name: String, _ variables: [String: any Sendable]) throws(ValueSyntaxError) {
        let word = name.prefix { $0.isLetter || $0.isNumber || "_-".contains($0) }
        let rest = name.dropFirst(word.count)
        if let variable = variables[name] as? Variable {
            self = .variable(name, variable)
            return
        }
        switch word {
        case "uuid" where rest.isEmpty: self = .uuid
        case "count" where rest.isEmpty: self = .count
        case "now",
            _ where name.hasPrefix("now+") || name.hasPrefix("now-"):
            self = try ValueSource.now(name)
        case "random": self = try ValueSource.random(rest)
        case "at":
            guard rest.first == ".", let number = Int(rest.dropFirst()), (1...99).contains(number) else {
                throw ValueSyntaxError(message: "the first star of the location is ${at.1}")
            }
            self = .star(number)
        case "req": self = try ValueSource.place(name)
        case "res", "sent", "graphql", "grpc", "message":
            throw ValueSyntaxError(message: "values of an exchange come from its request: write ${req.…}")
        default:
            if name.isEmpty { throw ValueSyntaxError(message: "a name is missing between '${' and '}'") }
            let known =
                variables.keys.sorted()
                + ValueSource.words.map { $0 == "at" ? "at.1" : $0 == "random" ? "random:1..6" : $0 }
            let nearest = Spelling.nearest(to: name, among: known).map { "did you mean '${\($0)}'?" }
            let short = name.clipped(to: 40)
            let way = nearest ?? "put it under 'vars', or write $${ for a literal '${'"
            throw ValueSyntaxError(message: "there is no value '\(short)'; \(way)")
        }
    }

    private static func place(_ name: String) throws(ValueSyntaxError) -> ValueSource {
        do throws(PlaceError) {
            let place = try Place(name)
            if place.part != .trailer { return .place(place) }
        } catch {
            throw ValueSyntaxError(message: error.description, offset: error.offset)
        }
        throw ValueSyntaxError(message: "\(name) comes only after the message")
    }

    /// `now`, then an offset and a form, in any order.
    private static func now(_ name: String) throws(ValueSyntaxError) -> ValueSource {
        var offset = 0.0
        var form = NowForm.rfc3339
        var rest = name.dropFirst(3)
        while let sign = rest.popFirst() {
            let word = rest.prefix { !"+-.".contains($0) }
            rest = rest.dropFirst(word.count)
            if sign == ".", let read = NowForm(rawValue: String(word)) {
                form = read
            } else if sign != ".", let microseconds = microseconds(word) {
                offset += sign == "-" ? -microseconds : microseconds
            } else {
                throw ValueSyntaxError(message: "a time is ${now}, ${now.http}, ${now.unix}, ${now.ms} or ${now+5m}")
            }
        }
        guard abs(offset) <= longestOffset else { throw ValueSyntaxError(message: "a time is at most 100 years away") }
        return .now(Int64(offset), form)
    }

    private static func microseconds(_ text: Substring) -> Double? {
        let units = [("ms", 1e3), ("s", 1e6), ("m", 60e6), ("h", 3_600e6), ("d", 86_400e6)]
        guard let (unit, scale) = units.first(where: { text.hasSuffix($0.0) }) else { return nil }
        let digits = text.dropLast(unit.count)
        guard digits.utf8.allSatisfy({ $0 &- 0x30 < 10 }), let number = Double(digits), number < 1e18 else {
            return nil
        }
        return number * scale
    }

    private static func random(_ rest: Substring) throws(ValueSyntaxError) -> ValueSource {
        let dots = rest.firstRange(of: "..")
        guard rest.first == ":", let dots, let low = Int64(rest[..<dots.lowerBound].dropFirst()),
            let high = Int64(rest[dots.upperBound...]), low <= high, low >= -randomLimit, high <= randomLimit
        else {
            throw ValueSyntaxError(message: "a random number is ${random:1..6}, with bounds up to 10^15")
        }
        return .random(low...high)
    }
}
