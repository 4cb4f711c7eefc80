/// As reported by `why`.
package struct LocationMismatch: Sendable, Hashable, CustomStringConvertible {
    package var field: LocationPattern.Field
    package var pattern: String
    package var value: String
    package var hint: String

    /// For example `path: pattern /v1/users does not match /v1/users/ (add /*?)`.
    package var description: String {
        "\(field.rawValue): pattern \(pattern) does not match \(value.isEmpty ? "an empty one" : value)"
            + (hint.isEmpty ? "" : " (\(hint))")
    }
}

extension Location {
    package func mismatch(_ url: RequestURL) -> LocationMismatch? {
        guard let field = firstMismatch(url) else { return nil }
        let value = url[field]
        let own = pattern[field]
        return LocationMismatch(field: field, pattern: own, value: value, hint: hint(field, own, value, url))
    }

    private func hint(_ field: Field, _ pattern: String, _ value: String, _ url: RequestURL) -> String {
        switch field {
        case .protocol: return ""
        case .host: return hostHint(pattern.lowercased(), value)
        case .port: return Int(pattern) == 80 && value == "443" ? "443 is the port of https" : ""
        case .path:
            if url.scheme == "tunnel" { return "not decrypted, so the path is not known" }
            return pathHint(pattern, value)
        case .query:
            if url.scheme == "tunnel" { return "not decrypted, so the query is not known" }
            if url.query == nil { return "there is no query" }
            if pattern.lowercased() == value.lowercased() { return "case counts" }
            if pattern.hasPrefix("?") { return "drop the leading ?" }
            return value.contains(pattern) ? "write *\(pattern)*?" : ""
        }
    }

    private func hostHint(_ pattern: String, _ value: String) -> String {
        if pattern == "*." + value { return "*. needs a subdomain; add \(value) as well?" }
        return value.hasSuffix("." + pattern) ? "write *.\(pattern)?" : ""
    }

    private func pathHint(_ pattern: String, _ value: String) -> String {
        if pattern.lowercased() == value.lowercased() { return "case counts" }
        if pattern.hasSuffix("/*"), pattern.dropLast(2) == value { return "write \(value)*?" }
        if pattern.hasSuffix("/"), value.hasPrefix(pattern) { return "add *?" }
        if value.hasPrefix(pattern + "/") { return "add /*?" }
        if pattern == value + "/" { return "drop the last /?" }
        return ""
    }
}
