import HTTPModel
import Rules

/// A location that can be disabled.
struct CharlesPlace: Hashable {
    var location: CharlesLocation
    var isEnabled: Bool

    init(_ location: CharlesLocation, isEnabled: Bool = true) {
        (self.location, self.isEnabled) = (location, isEnabled)
    }
}

/// A location in Charles' files: the fields are those of profiles, but without escapes.
typealias CharlesLocation = LocationPattern

extension CharlesLocation {
    /// The location as a value of a profile; changes are added to the notes.
    func node(_ notes: inout [String]) -> Node { Node.location(pattern(&notes)) }

    /// The location as profiles write it, in one text.
    var text: String {
        var ignored: [String] = []
        return pattern(&ignored).description
    }

    /// The location for profiles, with the same meaning as in Charles; necessary changes are added to the notes.
    func pattern(_ notes: inout [String]) -> LocationPattern {
        let unpasted = splittingPastedURL(&notes)
        var pattern = LocationPattern()
        for field in LocationPattern.Field.allCases {
            let written = unpasted[field]
            let text = written.trimmed
            // In Charles a blank at the end makes a rule that never matches.
            if text != written, !text.isEmpty, !written.contains("\n") {
                notes.append("blanks at the ends of the \(field.rawValue) are left out")
            }
            pattern[field] = CharlesLocation.escaping(text, field, &notes)
        }
        if pattern.port == "0" { pattern.port = "" }
        if let first = pattern.path.first, first != "/", first != "*" {
            pattern.path = "/" + pattern.path
            notes.append("a slash is put before the path")
        }
        return pattern
    }

    /// Charles splits a URL that is pasted as the host into all fields; other programs that write its files do not.
    private func splittingPastedURL(_ notes: inout [String]) -> CharlesLocation {
        guard host.contains("://") || host.contains("/"), path.isEmpty, let parts = try? LocationPattern(host) else {
            return self
        }
        var split = self
        split.host = parts.host
        split.path = parts.path
        if split.protocol.isEmpty { split.protocol = parts.protocol }
        if split.port.isEmpty { split.port = parts.port }
        if split.query.isEmpty { split.query = parts.query }
        notes.append("the host is a whole URL, and is split into its parts")
        return split
    }

    /// Escapes backslashes and unclosed brackets, which are plain characters in Charles.
    private static func escaping(_ text: String, _ field: LocationPattern.Field, _ notes: inout [String]) -> String {
        guard text.contains("\\") || text.contains("[") else { return text }
        var result = ""
        var rest = text[...]
        while let character = rest.popFirst() {
            switch character {
            case "\\": result += "\\\\"
            case "[" where field != .host || !text.contains(":"):
                if let end = rest.firstIndex(of: "]"), end > rest.startIndex {
                    result += "[" + rest[..<end].replacing("\\", with: "\\\\") + "]"
                    rest = rest[rest.index(after: end)...]
                } else {
                    result += "\\["
                    notes.append("a bracket in the \(field.rawValue) that is not closed stands for itself")
                }
            default: result.append(character)
            }
        }
        return result
    }
}

extension Node {
    /// A location as a text if it reads back as the same location, otherwise as a mapping of its fields.
    static func location(_ pattern: LocationPattern) -> Node {
        let text = pattern.description
        // Some tools read a text between slashes as a regular expression.
        let isExpression = text.hasPrefix("/") && text.hasSuffix("/")
        if !isExpression, let back = try? LocationPattern(text), back.normal == pattern.normal { return .text(text) }
        let fields = LocationPattern.Field.allCases.filter { !pattern[$0].isEmpty }
        return .mapping(fields.map { Node.Member($0.rawValue, .text(pattern[$0])) })
    }
}

extension LocationPattern {
    /// A form that is equal for patterns with equal meaning: a star means the same as an empty field.
    fileprivate var normal: LocationPattern {
        var normal = self
        for field in Field.allCases where normal[field] == "*" { normal[field] = "" }
        normal.protocol = normal.protocol.lowercased()
        normal.host = normal.host.lowercased()
        // The text form writes a literal question mark in a path as a set.
        normal.path = normal.path.replacing("\\?", with: "[?]")
        return normal
    }
}
