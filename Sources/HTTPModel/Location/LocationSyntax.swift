struct LocationSyntax {
    private(set) var pattern = LocationPattern()
    private(set) var columns: [LocationPattern.Field: [Int]] = [:]
    /// Whether surrounding white space was dropped.
    private(set) var hadBlanks = false

    private let characters: [Character]
    private var position: Int
    private var end: Int

    static func parse(_ text: some StringProtocol) throws(LocationError) -> LocationSyntax {
        // Five fields with the glob's limit.
        guard text.utf8.count <= 5 * Glob.maximumLength else {
            throw LocationError(column: 1, message: "the location is longer than \(5 * Glob.maximumLength) bytes")
        }
        var syntax = LocationSyntax(Array(text))
        try syntax.split()
        return syntax
    }

    private init(_ characters: [Character]) {
        self.characters = characters
        position = characters.firstIndex { !$0.isWhitespace } ?? characters.count
        end = (characters.lastIndex { !$0.isWhitespace } ?? -1) + 1
        hadBlanks = end > position && (position > 0 || end < characters.count)
    }

    private mutating func split() throws(LocationError) {
        guard position < end else {
            throw LocationError(column: 1, message: "the location is empty", hint: "use * to match every request")
        }
        splitProtocol()
        try splitHost()
        try splitPort()
        splitPath()
        if position < end {
            position += 1
            take(.query, upTo: end)
        }
    }

    /// Up to `://`, unless that belongs to a path or query.
    private mutating func splitProtocol() {
        var index = position
        while index + 2 < end {
            let character = characters[index]
            if character == ":", characters[index + 1] == "/", characters[index + 2] == "/" {
                take(.protocol, upTo: index)
                position = index + 3
                return
            }
            guard character.isASCII, character.isLetter || character.isNumber || "*?[]!^+-\\".contains(character) else {
                return
            }
            index += 1
        }
    }

    private mutating func splitHost() throws(LocationError) {
        if position < end, characters[position] == "[", let close = closingBracket(from: position),
            characters[position..<close].contains(":")
        {
            // An address in brackets (RFC 3986 §3.2.2); a set has no colon.
            let open = position
            position += 1
            take(.host, upTo: close)
            position = close + 1
            guard position == end || ":/?".contains(characters[position]) else {
                let hint = "brackets without a colon in them, at column \(open + 1), would be a set of characters"
                throw error(.host, at: position, "only a port or a path can follow an address in brackets", hint)
            }
            return
        }
        if position < end, characters[position] != "?" { take(.host, upTo: authorityPartEnd()) }
    }

    private mutating func splitPort() throws(LocationError) {
        guard position < end, characters[position] == ":" else { return }
        position += 1
        let start = position
        take(.port, upTo: authorityPartEnd())
        if position < end, characters[position] == ":" {
            let hint = "put an IPv6 address in brackets, as in [::1]:8080"
            throw error(.host, at: position, "this is a second colon", hint)
        }
        if characters[start..<position].allSatisfy(\.isWhitespace) {
            let hint = "write * for any port, or leave the colon out"
            throw error(.port, at: start, "the port after the colon is missing", hint)
        }
    }

    private func error(
        _ field: LocationPattern.Field,
        at index: Int,
        _ message: String,
        _ hint: String
    ) -> LocationError {
        LocationError(field: field, column: index + 1, message: message, hint: hint)
    }

    /// At a colon, the path, or a question mark that begins a query.
    private func authorityPartEnd() -> Int {
        var index = position
        while index < end {
            switch characters[index] {
            case "/", ":": return index
            case "?" where beginsQuery(index): return index
            case "\\": index += 2
            case "[": index = (closingBracket(from: index) ?? index) + 1
            default: index += 1
            }
        }
        return end
    }

    /// Whether a character that no host has follows before the path.
    private func beginsQuery(_ mark: Int) -> Bool {
        for character in characters[(mark + 1)..<end] {
            if character == "/" { return false }
            if character.isASCII, !character.isLetter, !character.isNumber, !"*?[]!^\\.-_~%:".contains(character) {
                return true
            }
        }
        return false
    }

    private mutating func splitPath() {
        guard position < end, characters[position] == "/" else { return }
        var path = ""
        var columns: [Int] = []
        while position < end, characters[position] != "?" {
            var next = position + 1
            if characters[position] == "\\", next < end {
                // Paths contain no question marks, so `\?` is the wildcard.
                if characters[next] == "?" { position = next }
                next += 1
            } else if characters[position] == "[", let close = closingBracket(from: position) {
                next = close + 1
            }
            path += String(characters[position..<next])
            columns += (position..<next).map { $0 + 1 }
            position = next
        }
        pattern.path = path
        self.columns[.path] = columns
    }

    /// With the same escapes as ``Glob``.
    private func closingBracket(from open: Int) -> Int? {
        var index = open + 1
        while index < end {
            switch characters[index] {
            case "]": return index
            case "\\": index += 2
            default: index += 1
            }
        }
        return nil
    }

    private mutating func take(_ field: LocationPattern.Field, upTo limit: Int) {
        let limit = min(limit, end)
        pattern[field] = String(characters[position..<limit])
        columns[field] = (position..<limit).map { $0 + 1 }
        position = limit
    }
}
