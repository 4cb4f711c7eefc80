/// The fields of a location as written; a blank one matches anything. Each is a ``Glob`` for that part of the URL.
package struct LocationPattern: Sendable, Hashable {
    package enum Field: String, Sendable, Hashable, CaseIterable {
        // The host is an IPv6 address without brackets, the port the effective one, the query without `?`.
        case `protocol`, host, port, path, query
    }

    package var `protocol`: String
    package var host: String
    package var port: String
    package var path: String
    package var query: String

    package init(protocol: String = "", host: String = "", port: String = "", path: String = "", query: String = "") {
        self.protocol = `protocol`
        self.host = host
        self.port = port
        self.path = path
        self.query = query
    }

    /// Reads `[protocol://]host[:port][/path][?query]`; a text that begins with `/` or `?` has no host. Brackets are an
    /// IPv6 address if they contain a colon, and a set if not. In the path the first `?` begins the query and `\?` is
    /// the wildcard. Before the path `?` is the wildcard if only characters of a host follow up to the path. A
    /// ``LocationError`` has the column.
    package init(_ text: some StringProtocol) throws(LocationError) { self = try LocationSyntax.parse(text).pattern }

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

extension RequestURL {
    /// The text that a field's pattern is compared with.
    package subscript(field: LocationPattern.Field) -> String {
        switch field {
        case .protocol: scheme
        case .host: host
        case .port: String(port)
        case .path: path
        case .query: query ?? ""
        }
    }
}

extension LocationPattern: CustomStringConvertible {
    /// A string form with the same matches; `*` for blank fields.
    package var description: String {
        var text = `protocol`.isEmpty ? "" : "\(`protocol`)://"
        // A field of only stars matches anything, like a blank field; in the string form, a path begins with `/`.
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

    /// The wildcard `?` becomes `\?`, a literal question mark `[?]`.
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

package struct LocationError: Error, Sendable, Hashable, CustomStringConvertible {
    package var field: LocationPattern.Field?
    /// In characters from 1 of the string form or the field.
    package var column: Int
    package var message: String
    package var hint = ""

    package var description: String {
        (field.map { "\($0.rawValue): " } ?? "") + message + (hint.isEmpty ? "" : " (\(hint))")
    }
}

/// Allowed, but probably a mistake.
package struct LocationLint: Sendable, Hashable, CustomStringConvertible {
    package var field: LocationPattern.Field
    package var message: String

    package var description: String { "\(field.rawValue): \(message)" }
}
