import Text

extension ComparisonRules {
    /// Whether what a user names is a place in JSON, not a name.
    static func isPath(_ place: String) -> Bool {
        place.hasPrefix("$") || place.hasPrefix(".") || place.contains("[")
    }

    /// A place in JSON from its first step on: `.items[].price`.
    static func steps(_ place: String) -> String {
        let path = place.hasPrefix("$") ? String(place.dropFirst()) : place
        return path.isEmpty || path.hasPrefix(".") || path.hasPrefix("[") ? path : "." + path
    }

    /// What is wrong with a name or a place in JSON that is to be left out, as the rest of a sentence; `nil` where nothing is.
    package static func problem(with place: String) -> String? {
        flaw(of: place).map { "'\(VisibleText.of(String(place.prefix(200))))' \($0)" }
    }

    private static func flaw(of place: String) -> String? {
        if place.allSatisfy(\.isWhitespace) { return "names nothing" }
        guard isPath(place) else { return nil }
        var rest = Array(steps(place).utf8)[...]
        while let sign = rest.popFirst() {
            switch sign {
            case UInt8(ascii: "."):
                let name = rest.prefix { !".[".utf8.contains($0) }
                if name.isEmpty { return "has no name after '.'" }
                let isPlain = name.allSatisfy {
                    ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 || $0 == UInt8(ascii: "_")
                }
                if !isPlain {
                    return "has a name of other signs than letters, digits and _, which is written [\"…\"]"
                }
                rest = rest[name.endIndex...]
            case UInt8(ascii: "["):
                guard let end = end(ofStep: rest) else { return "has a '[' without ']'" }
                let step = rest[..<end]
                let isElement = step.isEmpty || step.elementsEqual("*".utf8) || step.allSatisfy { $0 &- 0x30 < 10 }
                guard isElement || step.first == UInt8(ascii: "\"") else {
                    let text = VisibleText.of(String(decoding: step.prefix(40), as: UTF8.self))
                    return "has [\(text)]: an element is [], [*] or [3], and a name in brackets is [\"a-b\"]"
                }
                rest = rest[(end + 1)...]
            default: return "has no '.' or '[' between two steps"
            }
        }
        return nil
    }

    /// Where the bracket stands that closes a step: a name in quotes may have brackets in it.
    private static func end(ofStep rest: ArraySlice<UInt8>) -> Int? {
        guard rest.first == UInt8(ascii: "\"") else { return rest.firstIndex(of: UInt8(ascii: "]")) }
        return rest.dropFirst().indices.first {
            rest[$0] == UInt8(ascii: "]") && $0 > rest.startIndex + 1 && rest[$0 - 1] == UInt8(ascii: "\"")
        }
    }
}
