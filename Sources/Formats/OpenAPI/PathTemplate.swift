import HTTPModel
import Text

/// A path in which identifiers are parameters with names of their own, as OpenAPI has it: `/users/{userId}/posts/{postId}`.
struct PathTemplate {
    /// The template.
    private(set) var text = ""
    /// The parameters in order, each with the text that stands there.
    private(set) var values: [(name: String, value: String)] = []

    /// Reads a path as it was sent.
    init(_ path: String) {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false)
        var previous = ""
        var parts: [String] = []
        for (index, segment) in segments.enumerated() {
            guard index < PathShape.mostSegments else {
                parts.append("…")
                break
            }
            let (part, value) = PathTemplate.part(String(segment), after: previous, taken: values.map(\.name))
            parts.append(part)
            if let value { values.append(value) }
            previous = value == nil ? String(segment) : previous
        }
        text = parts.joined(separator: "/")
    }

    private static func part(
        _ segment: String,
        after previous: String,
        taken: [String]
    ) -> (String, (name: String, value: String)?) {
        // What stands for a secret is another text in each place.
        let masked = segment.last?.isNumber == true ? segment.firstRange(of: "sluice-") : nil
        let shape = masked.map { "\(segment[..<$0.lowerBound]){id}" } ?? PathShape.of(segment)
        guard let place = shape.firstRange(of: "{id}"), !segment.unicodeScalars.contains("{") else {
            // Braces would be a parameter.
            return (segment.replacing(["{": "%7B", "}": "%7D"]), nil)
        }
        let (before, after) = (shape[..<place.lowerBound], shape[place.upperBound...])
        let value = String(segment.dropFirst(before.count).dropLast(after.count))
        let name = name(after: previous, taken: taken)
        return ("\(before){\(name)}\(after)", (name, value))
    }

    /// The name of what follows a collection's name: `userId` after `users`.
    private static func name(after previous: String, taken: [String]) -> String {
        let words = previous.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.map { $0.lowercased() }
        var stem = words.enumerated().map { $0 == 0 ? $1 : $1.prefix(1).uppercased() + $1.dropFirst() }.joined()
        if stem.hasSuffix("ies"), stem.count > 4 {
            stem = stem.dropLast(3) + "y"
        } else if ["xes", "sses", "ches", "shes", "zes"].contains(where: { stem.hasSuffix($0) }) {
            stem.removeLast(2)
        } else if stem.hasSuffix("s"), !stem.hasSuffix("ss"), stem.count > 2 {
            stem.removeLast()
        }
        let isName = stem.first?.isLetter == true && stem.count <= 40
        let name = isName ? stem + "Id" : "id"
        guard taken.contains(name) else { return name }
        return (2...).lazy.map { "\(name)\($0)" }.first { !taken.contains($0) } ?? name
    }
}
