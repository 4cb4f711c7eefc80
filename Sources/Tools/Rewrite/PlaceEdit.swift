import Expressions
import HTTPModel
import Rules

/// An edit of the URL of a request: of its host, its path, or all of it.
struct PlaceEdit: Sendable {
    enum Part: String, Sendable {
        case host
        case path
        case url
    }

    let part: Part
    /// The pattern to replace; `nil` for the whole part.
    let match: TextPattern?
    let replacement: Replacement
    let onlyFirst: Bool

    /// Edits a URL and returns the change for the trace; `nil` if nothing changed. Throws
    /// ``RegularExpression/MatchLimitError``, or ``UnusableEditError`` if the result is not a URL.
    func apply(to url: inout RequestURL) throws -> String? {
        switch part {
        case .host:
            guard let text = try edited(url.host), text != url.host else { return nil }
            guard let (host, port) = text.splitHost else {
                throw UnusableEditError(reason: "'\(text.clipped())' cannot be a host")
            }
            let before = url.authority
            url.host = host
            if let port { url.port = port }
            return "changed host: \(before) to \(url.authority)"
        case .path:
            guard var path = try edited(url.path) else { return nil }
            if !path.hasPrefix("/") { path = "/" + path }
            guard path != url.path else { return nil }
            try PlaceEdit.check(path)
            let before = url.path
            url.path = path
            return "changed path: \(before.clipped()) to \(path.clipped())"
        case .url:
            let before = url.description
            guard let text = try edited(before), text != before else { return nil }
            guard let edited = RequestURL(text) else {
                throw UnusableEditError(reason: "'\(text.clipped())' is not an http or https URL")
            }
            try PlaceEdit.check(edited.pathAndQuery)
            url = edited
            url.scheme = PlaceEdit.connectedScheme(url.scheme)
            return "changed URL: \(before.clipped()) to \(text.clipped())"
        }
    }

    /// Why the edit did not change a URL.
    func absence(in url: RequestURL) -> String {
        let text =
            switch part {
            case .host: url.host
            case .path: url.path
            case .url: url.description
            }
        guard let match, (try? match.matches(text)) == false else { return "\(part.rawValue): already has this value" }
        return "\(part.rawValue): \(match.absence(in: text))"
    }

    private func edited(_ text: String) throws(RegularExpression.MatchLimitError) -> String? {
        guard let match else { return replacement.plain }
        return try match.replacing(in: text, with: replacement, onlyFirst: onlyFirst)
    }

    /// The scheme of a URL's connection.
    static func connectedScheme(_ scheme: String) -> String {
        switch scheme {
        case "ws": "http"
        case "wss": "https"
        default: scheme
        }
    }

    /// Refuses control characters and spaces, which a request target cannot have (RFC 9112 §3.2).
    private static func check(_ target: String) throws(UnusableEditError) {
        if target.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) {
            throw UnusableEditError(reason: "'\(target.clipped())' is not a request target")
        }
    }
}
