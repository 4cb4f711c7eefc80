/// The fields of a location as a user wrote them; a blank field means any.
///
/// Each field is a wildcard pattern (``Glob``) over that part of the URL, anchored at both ends.
package struct LocationPattern: Sendable, Hashable {
    /// A part of a URL that a location says something about.
    package enum Field: String, Sendable, Hashable, CaseIterable {
        // As in a URL; the host is an IPv6 address without brackets, the port the effective one, the query without `?`.
        case `protocol`, host, port, path, query
    }

    /// The pattern of the scheme.
    package var `protocol`: String
    package var host: String
    /// The pattern of the effective port.
    package var port: String
    package var path: String
    package var query: String

    package init(protocol: String = "", host: String = "", port: String = "", path: String = "", query: String = "") {
        self.protocol = `protocol`
        (self.host, self.port, self.path, self.query) = (host, port, path, query)
    }

    /// Splits the string form `[protocol://]host[:port][/path][?query]` over the fields.
    ///
    /// A text that begins with `/` or `?` leaves the host blank. An IPv6 address is in brackets; brackets without a
    /// colon in them are a set. In the path the first `?` begins the query; the wildcard for one character is written
    /// `\?` there. Before the path `?` is the wildcard as long as only characters of a host follow it, up to the path.
    ///
    /// A ``LocationError`` has the column of what is wrong.
    package init(_ text: some StringProtocol) throws(LocationError) { self = try LocationSyntax.parse(text).pattern }

    /// The text of a field.
    package subscript(field: Field) -> String {
        get { self[keyPath: field.text] }
        set { self[keyPath: field.text] = newValue }
    }
}

extension LocationPattern.Field {
    fileprivate var text: WritableKeyPath<LocationPattern, String> {
        switch self {
        case .protocol: \.protocol
        case .host: \.host
        case .port: \.port
        case .path: \.path
        case .query: \.query
        }
    }
}

extension LocationPattern: CustomStringConvertible {
    /// The string form, which reads back as a location that matches the same; `*` where every field is blank.
    package var description: String {
        var text = `protocol`.isEmpty ? "" : "\(`protocol`)://"
        // Nothing but stars means any, as blank does; the string form would ask for a path.
        let path = path.allSatisfy { $0 == "*" } ? "" : path
        let query = query.allSatisfy { $0 == "*" } ? "" : query
        let isAddress = host.contains(":") && !host.hasPrefix("[")
        let needsHost = host.isEmpty && (!text.isEmpty || !port.isEmpty || path.isEmpty)
        text += isAddress ? "[\(host)]" : needsHost ? "*" : host
        if !port.isEmpty { text += ":\(port)" }
        if !path.isEmpty {
            text += (path.first == "/" ? "" : "/") + LocationPattern.escapingPath(path)
        } else if !query.isEmpty, !text.isEmpty {
            text += "/*"
        }
        if !query.isEmpty { text += "?\(query)" }
        return text
    }

    /// Writes a path for the string form: the wildcard `?` as `\?`, a literal question mark as the set `[?]`.
    private static func escapingPath(_ path: String) -> String {
        var text = ""
        var isEscaped = false
        var isInSet = false
        for character in path {
            if isEscaped {
                text += character == "?" && !isInSet ? "[?]" : "\\\(character)"
                isEscaped = false
            } else if character == "\\" {
                isEscaped = true
            } else {
                if character == "[" { isInSet = true }
                if character == "]" { isInSet = false }
                text += character == "?" && !isInSet ? "\\?" : String(character)
            }
        }
        return isEscaped ? text + "\\" : text
    }
}

/// Why a text is not a location.
package struct LocationError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The field that is wrong; `nil` if the text as a whole is.
    package var field: LocationPattern.Field?
    /// The place, in characters from 1: in the string form, or in the field where a location was given by fields.
    package var column: Int
    /// What is wrong, in one sentence without a full stop.
    package var message: String
    /// What to write instead; empty if there is nothing to say.
    package var hint = ""

    /// The message, with the field before it and the hint after it.
    package var description: String {
        (field.map { "\($0.rawValue): " } ?? "") + message + (hint.isEmpty ? "" : " (\(hint))")
    }
}

/// Something in a location that is allowed but probably a mistake.
package struct LocationLint: Sendable, Hashable, CustomStringConvertible {
    package var field: LocationPattern.Field
    /// One sentence without a full stop.
    package var message: String

    /// The message with the field before it.
    package var description: String { "\(field.rawValue): \(message)" }
}
