/// A compiled location: says whether a request URL is meant, and if not, why not.
///
/// Host and protocol compare without regard to case, path and query with it. `http` also means `ws`, and `https` also
/// `wss` and the tunnels whose bytes are not decrypted. The port compares to the effective one.
package struct Location: Sendable, Hashable {
    /// A part of a URL that a location says something about.
    package typealias Field = LocationPattern.Field

    /// What every matching host has in common, so that rules can be looked up by host.
    package enum HostKey: Sendable, Hashable {
        /// The host is this one, in lower case.
        case exact(String)
        /// The host ends with this text, in lower case; a whole label where the pattern begins with `*.`.
        case suffix(String)
        /// Nothing: the pattern may match any host.
        case any
    }

    enum Port: Sendable, Hashable {
        case any
        case exact(Int)
        case glob(Glob)
    }

    /// The fields, kept apart so that copying a location, which a loop over rules does, counts one reference.
    private final class Compiled: Sendable {
        let pattern: LocationPattern
        let lints: [LocationLint]
        let hostKey: HostKey
        let scheme: Glob?
        let host: Glob?
        let port: Port
        let path: Glob?
        let query: Glob?

        init(_ compiler: consuming LocationCompiler) throws(LocationError) {
            scheme = try compiler.scheme()
            host = try compiler.host()
            let portGlob = try compiler.port()
            path = try compiler.path()
            query = try compiler.query()
            port =
                switch (portGlob, portGlob?.literal.flatMap { Int($0) }) {
                case (_, .some(let number)): .exact(number)
                case (.some(let glob), nil): .glob(glob)
                case (nil, nil): .any
                }
            hostKey =
                switch (host?.literal, host?.literalSuffix) {
                case (.some(let literal), _): .exact(literal)
                case (nil, .some(let suffix)) where !suffix.isEmpty: .suffix(suffix)
                default: .any
                }
            pattern = compiler.pattern
            lints = compiler.lints
        }
    }

    private let compiled: Compiled

    /// The fields as they were written, blanks at their ends removed.
    package var pattern: LocationPattern { compiled.pattern }
    /// What is allowed but probably a mistake.
    package var lints: [LocationLint] { compiled.lints }
    /// What every matching host has in common.
    package var hostKey: HostKey { compiled.hostKey }

    /// Whether it is for some hosts only, and for some paths or queries only.
    package var namesHost: Bool { host != nil }
    package var namesPath: Bool { path != nil || query != nil }

    var scheme: Glob? { compiled.scheme }
    var host: Glob? { compiled.host }
    var port: Port { compiled.port }
    var path: Glob? { compiled.path }
    var query: Glob? { compiled.query }

    /// Compiles the string form; see ``LocationPattern/init(_:)`` for its grammar. A ``LocationError`` has the column in
    /// `text`.
    package init(_ text: some StringProtocol) throws(LocationError) {
        let syntax = try LocationSyntax.parse(text)
        do {
            try self.init(syntax.pattern, hadBlanks: syntax.hadBlanks)
        } catch {
            // A column within the field becomes the column in the text.
            var error = error
            if let columns = error.field.flatMap({ syntax.columns[$0] }), let last = columns.last {
                error.column = columns.indices.contains(error.column - 1) ? columns[error.column - 1] : last
            }
            throw error
        }
    }

    /// Compiles a location given by its fields. A ``LocationError`` has the field and the column in it.
    package init(_ pattern: LocationPattern) throws(LocationError) { try self.init(pattern, hadBlanks: false) }

    private init(_ written: LocationPattern, hadBlanks: Bool) throws(LocationError) {
        var compiler = LocationCompiler(written)
        if hadBlanks { compiler.lintBlanks(.host) }
        compiled = try Compiled(compiler)
    }

    package static func == (left: Location, right: Location) -> Bool { left.pattern == right.pattern }
    package func hash(into hasher: inout Hasher) { hasher.combine(pattern) }

    /// Whether every request is meant.
    package var matchesEverything: Bool { scheme == nil && host == nil && port == .any && path == nil && query == nil }

    /// Whether the URL is meant; allocates nothing for URLs of the usual form.
    package func matches(_ url: RequestURL) -> Bool {
        if let host, !host.matches(url.host) { return false }
        return matchesPort(url) && matchesScheme(url) && (path?.matches(url.path) ?? true)
            && (query?.matches(url.query ?? "") ?? true)
    }

    /// Whether some URL at this one's server is meant; over TLS, where this one is a tunnel's.
    package func matchesServer(of url: RequestURL) -> Bool {
        (host?.matches(url.host) ?? true) && matchesPort(url)
            && (url.scheme != "tunnel" || scheme.map { $0.matches("https") || $0.matches("wss") } ?? true)
    }

    /// The first field, in the order protocol, host, port, path, query, that does not match.
    func firstMismatch(_ url: RequestURL) -> Field? {
        if !matchesScheme(url) { return .protocol }
        if let host, !host.matches(url.host) { return .host }
        if !matchesPort(url) { return .port }
        if let path, !path.matches(url.path) { return .path }
        if let query, !query.matches(url.query ?? "") { return .query }
        return nil
    }

    /// What the stars of each field matched in a URL; `nil` if the URL is not meant.
    ///
    /// Each star takes as little as it can, the last one of a field what remains; neighbouring stars count as one, and a
    /// blank field has none.
    package func captures(_ url: RequestURL) -> LocationCaptures? {
        guard matches(url) else { return nil }
        var portGlob: Glob?
        if case .glob(let glob) = port { portGlob = glob }
        return LocationCaptures(
            protocol: scheme?.captures(in: url.scheme) ?? scheme?.captures(in: Location.plainScheme(url.scheme)) ?? [],
            host: host?.captures(in: url.host) ?? [],
            port: portGlob?.captures(in: String(url.port)) ?? [],
            path: path?.captures(in: url.path) ?? [],
            query: query?.captures(in: url.query ?? "") ?? []
        )
    }

    private func matchesScheme(_ url: RequestURL) -> Bool {
        guard let scheme else { return true }
        return scheme.matches(url.scheme) || scheme.matches(Location.plainScheme(url.scheme))
    }

    private func matchesPort(_ url: RequestURL) -> Bool {
        switch port {
        case .any: true
        case .exact(let number): number == url.port
        // At most five digits: a small string, which needs no allocation.
        case .glob(let glob): glob.matches(String(url.port))
        }
    }

    /// The scheme that a WebSocket, or a tunnel, began as.
    static func plainScheme(_ scheme: String) -> String {
        switch scheme {
        case "ws": "http"
        case "wss", "tunnel": "https"
        default: scheme
        }
    }
}

extension Location: CustomStringConvertible {
    /// The string form of the pattern.
    package var description: String { pattern.description }
}

/// What the stars of a location's fields matched.
package struct LocationCaptures: Sendable, Hashable {
    package var `protocol`: [String]
    package var host: [String]
    package var port: [String]
    package var path: [String]
    package var query: [String]
    /// All of them, in the order of the fields.
    package var all: [String] { `protocol` + host + port + path + query }
}
