/// What a comparison ignores: a place with everything below it, or all values of a name.
package enum IgnoreRule: Sendable, Hashable {
    case place(Place)
    /// Of fields, parameters, form fields, parts and JSON members, at any depth; ignores case.
    case name(String)

    package static let comparedParts: [Place.Part] = [
        .method, .url, .host, .path, .status, .header, .query, .form, .part, .json, .body,
    ]

    /// With a `root` a place may begin with its part: `json.items[*].id`.
    package init(
        _ text: String,
        in root: Place.Root? = nil,
        of parts: [Place.Part] = IgnoreRule.comparedParts
    ) throws(PlaceError) {
        if text.allSatisfy(\.isWhitespace) {
            throw PlaceError(offset: 0, message: "a name or a place is missing", suggestion: nil)
        }
        guard text == "$" || text.hasPrefix("/") || text.contains(where: { ".[\"".contains($0) }) else {
            self = .name(text)
            return
        }
        if let steps = try? Place("req.json.\(text)").steps, text.hasPrefix("\""), steps.count == 1,
            case .member(let name) = steps[0]
        {
            self = .name(name)
            return
        }
        do {
            let place = try Place(text, in: root)
            try IgnoreRule.check(place, root, parts)
            self = .place(place)
        } catch  where error.suggestion == nil {
            let path = try? Place("\(root ?? .response).json.\(text.replacing("[]", with: "[*]"))")
            let suggestion = path.map { "for a path in JSON write \($0), for a name \"\(text)\"" }
            throw PlaceError(offset: error.offset, message: error.message, suggestion: suggestion)
        }
    }

    private static func check(_ place: Place, _ root: Place.Root?, _ parts: [Place.Part]) throws(PlaceError) {
        let suggestion: String
        switch (place.root, place.part) {
        case (.sentRequest, _), (.sentResponse, _): suggestion = "begin with req or res"
        case (let other, _) where other != root ?? other: suggestion = "begin with \(root ?? other)"
        case (_, .cookie):
            suggestion = "write \(place.root).header.\(place.root == .request ? "cookie" : "set-cookie")"
        default:
            let isFromEnd = if place.name != nil, case .element(..<0) = place.steps.last { true } else { false }
            if parts.contains(place.part), !isFromEnd { return }
            suggestion = isFromEnd ? "count from 0" : "it may be \(parts.map(\.rawValue).joined(separator: ", "))"
        }
        throw PlaceError(offset: 0, message: "no comparison has \(place)", suggestion: suggestion)
    }
}

extension IgnoreRule: CustomStringConvertible {
    package var description: String {
        switch self {
        case .place(let place): place.description
        case .name(let name): name
        }
    }
}

extension Place {
    /// Whether `other` is this place or below it; `[*]` matches any element or member.
    package func covers(_ other: Place) -> Bool {
        guard root == other.root else { return false }
        switch (part, other.part) {
        case (.body, .json), (.body, .form), (.body, .part), (.url, .host), (.url, .path), (.url, .query): return true
        default: break
        }
        guard part == other.part else { return false }
        let way = other.name != nil && other.steps.count == 1 ? other.steps + [.element(0)] : other.steps
        return steps.count <= way.count && zip(steps, way).allSatisfy { $0 == .any || $0 == $1 }
    }

    package var general: Place { Place(root, part, steps.map { if case .element = $0 { .any } else { $0 } }) }
}
