struct LocationCompiler {
    private(set) var pattern: LocationPattern
    private(set) var lints: [LocationLint] = []
    /// Characters dropped from the front of a field, for the columns of errors.
    private var dropped: [LocationPattern.Field: Int] = [:]

    init(_ written: LocationPattern) {
        pattern = written
        for field in LocationPattern.Field.allCases {
            let text = Substring(pattern[field])
            let start = text.prefix { $0.isWhitespace }.count
            var trimmed = text.dropFirst(start)
            while trimmed.last?.isWhitespace == true { trimmed.removeLast() }
            guard trimmed.count < text.count else { continue }
            pattern[field] = String(trimmed)
            dropped[field] = start
            if !trimmed.isEmpty { lintBlanks(field) }
        }
    }

    mutating func lintBlanks(_ field: LocationPattern.Field) { lint(field, "leading and trailing spaces were removed") }

    private mutating func lint(_ field: LocationPattern.Field, _ message: String) {
        lints.append(LocationLint(field: field, message: message))
    }

    /// `offset` counts characters of the trimmed field.
    private func error(
        _ field: LocationPattern.Field,
        at offset: Int = 0,
        _ message: String,
        _ hint: String = ""
    ) -> LocationError {
        LocationError(field: field, column: offset + 1 + dropped[field, default: 0], message: message, hint: hint)
    }

    mutating func scheme() throws(LocationError) -> Glob? {
        guard let glob = try compile(.protocol, ignoringCase: true) else { return nil }
        try check(.protocol, glob, what: "a protocol") {
            $0.isASCII && ($0.isLetter || $0.isNumber || "+-.".contains($0))
        }
        if let literal = glob.literal, RequestURL.defaultPort(of: literal) == nil, literal != "tunnel" {
            lint(.protocol, "no request has the protocol \(literal); there are http, https, ws and wss")
        }
        return glob
    }

    mutating func host() throws(LocationError) -> Glob? {
        if pattern.host.hasPrefix("["), pattern.host.hasSuffix("]"), pattern.host.contains(":") {
            pattern.host = String(pattern.host.dropFirst().dropLast())
            dropped[.host, default: 0] += 1
        }
        if pattern.host.contains(":"), let wrong = pattern.host.firstIndex(where: { "[]\\".contains($0) }) {
            let place = pattern.host.distance(from: pattern.host.startIndex, to: wrong)
            throw error(.host, at: place, "a host with a colon is an IPv6 address, which cannot have sets or escapes")
        }
        dropRootDot()
        unifyAddress()
        guard let glob = try compile(.host, ignoringCase: true) else { return nil }
        try check(.host, glob, what: "a host") {
            !$0.isASCII || $0.isLetter || $0.isNumber || "-._~%:".contains($0)
        }
        if pattern.host.hasPrefix(".") {
            lint(.host, "no host begins with a dot, so this matches nothing; write *\(pattern.host) for subdomains")
        } else if pattern.host.contains("..") {
            lint(.host, "no host has two dots in a row, so this matches nothing")
        }
        if !pattern.host.utf8.allSatisfy({ $0 < 0x80 }) {
            lint(.host, "clients send such a name in its ASCII form (xn--…)")
        }
        if pattern.host.contains("?"), !pattern.host.contains("\\") {
            lint(.host, "'?' stands for one character of the host; for a query, write /*? before it")
        }
        return glob
    }

    /// The host of a ``RequestURL`` has no trailing dot.
    private mutating func dropRootDot() {
        guard pattern.host.count > 1, pattern.host.hasSuffix("."), !pattern.host.hasSuffix("..") else { return }
        pattern.host.removeLast()
        if pattern.host.hasSuffix("\\") { pattern.host.removeLast() }
    }

    /// A ``RequestURL`` has one spelling for each address.
    private mutating func unifyAddress() {
        guard let address = HostAddress.canonical(pattern.host[...]), address != pattern.host.lowercased() else {
            return
        }
        lint(.host, "\(pattern.host) is the address \(address), which is matched in every spelling")
        pattern.host = address
    }

    mutating func port() throws(LocationError) -> Glob? {
        guard let glob = try compile(.port, ignoringCase: false) else { return nil }
        try check(.port, glob, what: "a port") { $0.isASCII && $0.isNumber }
        if let literal = glob.literal, !(1...65_535).contains(Int(literal) ?? 0) {
            throw error(.port, "\(literal) is no port", "ports are 1 to 65535")
        }
        return glob
    }

    mutating func path() throws(LocationError) -> Glob? {
        // As written, for the columns of errors.
        guard let written = try compile(.path, ignoringCase: false) else { return nil }
        lintUnsendable(.path)
        if pattern.path.contains("//") { lint(.path, "'//' matches only requests with both slashes") }
        if pattern.path.first == "/" || pattern.path.first == "*" { return written }
        lint(.path, "a path begins with '/' or '*': matched as /\(pattern.path)")
        pattern.path = "/" + pattern.path
        dropped[.path, default: 0] -= 1
        return try compile(.path, ignoringCase: false)
    }

    mutating func query() throws(LocationError) -> Glob? {
        guard let glob = try compile(.query, ignoringCase: false) else { return nil }
        lintUnsendable(.query)
        if glob.elements.first == .one {
            lint(.query, "leave out the leading '?': here it means one more character")
        } else if glob.elements.contains(.one) {
            lint(.query, "'?' is one character; write \\? for a question mark")
        }
        return glob
    }

    /// RFC 9112 §3.2, RFC 3986 §3.5.
    private mutating func lintUnsendable(_ field: LocationPattern.Field) {
        if pattern[field].contains("#") {
            lint(field, "a fragment ('#') is never sent, so this matches nothing; write %23 for the character")
        }
        if pattern[field].contains(where: \.isWhitespace) {
            lint(field, "a space is never sent unencoded; write %20")
        }
        if let character = pattern[field].first(where: { !$0.isASCII }) {
            let encoded = String(character).utf8.map { "%" + String($0, radix: 16, uppercase: true) }.joined()
            lint(field, "'\(character)' is rarely sent unencoded; write \(encoded)")
        }
    }

    private func compile(_ field: LocationPattern.Field, ignoringCase: Bool) throws(LocationError) -> Glob? {
        let text = pattern[field]
        guard !text.isEmpty else { return nil }
        do {
            let glob = try Glob(text, ignoringCase: ignoringCase)
            return glob.matchesEverything ? nil : glob
        } catch {
            throw self.error(field, at: error.offset, error.message, error.hint)
        }
    }

    private func check(
        _ field: LocationPattern.Field,
        _ glob: Glob,
        what: String,
        isAllowed: (Character) -> Bool
    ) throws(LocationError) {
        let characters = Array(pattern[field])
        var isInSet = false
        for (offset, character) in characters.enumerated() {
            if character == "[" { isInSet = true }
            if character == "]" { isInSet = false }
            if isInSet || "*?]\\".contains(character) || isAllowed(character) { continue }
            let hint =
                switch character {
                case "@": "a location has no user name"
                case "/", "?", "=": "path and query have their own fields"
                default: ""
                }
            throw error(field, at: offset, "\(what) cannot have '\(character)'", hint)
        }
    }
}
