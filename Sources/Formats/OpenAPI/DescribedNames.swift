import Content
import HTTPModel
import Text

/// A path with parameters instead of identifiers, like in OpenAPI: `/users/{userId}/posts/{postId}`.
struct PathTemplate {
    let text: String
    /// The parameters in order, each with its text in this path.
    private(set) var values: [(name: String, text: String?)] = []

    init(_ path: String) {
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        var previous = ""
        var parts: [String] = []
        for segment in segments.prefix(PathShape.mostSegments) {
            // Placeholders of secrets count as identifiers, because they differ in each place.
            let masked = segment.last?.isNumber == true ? segment.firstRange(of: "sluice-") : nil
            let shape = masked.map { "\(segment[..<$0.lowerBound]){id}" } ?? PathShape.of(segment)
            // Braces in a path would mean a parameter.
            if let place = shape.firstRange(of: "{id}"), !segment.unicodeScalars.contains("{") {
                let (before, after) = (shape[..<place.lowerBound], shape[place.upperBound...])
                let stem = PathTemplate.name(after: previous)
                let name = values.contains { $0.name == stem } ? "\(stem)\(values.count + 1)" : stem
                values.append((name, String(segment.dropFirst(before.count).dropLast(after.count))))
                parts.append("\(before){\(name)}\(after)")
            } else {
                parts.append(segment.replacing(["{": "%7B", "}": "%7D"]))
                previous = segment
            }
        }
        text = (parts + (segments.count > PathShape.mostSegments ? ["…"] : [])).joined(separator: "/")
    }

    /// The name of a parameter after a collection's name: `userId` after `users`.
    private static func name(after collection: String) -> String {
        let words = collection.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }.map { $0.lowercased() }
        var stem = words.enumerated().map { $0 == 0 ? $1 : $1.prefix(1).uppercased() + $1.dropFirst() }.joined()
        if stem.hasSuffix("ies"), stem.count > 4 { stem = stem.dropLast(3) + "ys" }
        if ["xes", "sses", "ches", "shes", "zes"].contains(where: { stem.hasSuffix($0) }) { stem.removeLast(2) }
        if stem.hasSuffix("s"), !stem.hasSuffix("ss"), stem.count > 2 { stem.removeLast() }
        return stem.first?.isLetter == true && stem.count <= 40 ? stem + "Id" : "id"
    }
}

/// The named fields of a query or a form, which a description may contain. Any text can be posted as a form (`curl -d`
/// declares all data as a form) or come after a `?`; such text must not be taken for a name.
struct DescribedFields {
    private(set) var fields: [(name: String, text: String?)] = []
    /// Whether the text consists of fields with names.
    private(set) var isWhole = true

    /// Reads a query without its `?`, or a form. Skips other texts in a query; a form with other texts has no fields.
    init(_ text: some Collection<UInt8>, isForm: Bool = false) {
        for pair in text.split(separator: UInt8(ascii: "&"), maxSplits: 10_000) {
            let end = pair.firstIndex(of: UInt8(ascii: "="))
            let name = FormFields.decode(pair[..<(end ?? pair.endIndex)].prefix(512))
            let value = FormFields.decode(pair[(end ?? pair.endIndex)...].dropFirst())
            // The padding of base64 is like a field without a value.
            let isBase64 = pair.count % 4 == 0 && name.wholeMatch(of: /[A-Za-z0-9\/]{16,}/) != nil
            let isName = DescribedFields.isName(name)
            let isField = isName && end != nil && (!isBase64 || !["", "="].contains(value))
            if isField { fields.append((name, value)) } else { isWhole = false }
            // A name without a value is skipped, because it may be any text.
            if isForm, !isField, !isName || end != nil {
                fields = []
                return
            }
        }
    }

    /// Whether a description may contain a name: it is short, not an identifier, and has only usual characters.
    static func isName(_ name: String) -> Bool {
        let others = "-_.[]:$@~*!/".unicodeScalars
        return (1...64).contains(name.utf8.count) && !PathShape.isIdentifier(name)
            && name.unicodeScalars.allSatisfy { $0.properties.isAlphabetic || "0"..."9" ~= $0 || others.contains($0) }
    }
}
