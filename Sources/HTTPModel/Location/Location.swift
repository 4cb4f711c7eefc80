/// A compiled location. Case is ignored in host and protocol, not in path and query. `http` includes `ws`; `https`
/// includes `wss` and undecrypted tunnels. The port is the effective one.
package struct Location: Sendable, Hashable {
    package typealias Field = LocationPattern.Field

    /// For looking up rules by host.
    package enum HostKey: Sendable, Hashable {
        case exact(String)
        /// The end of every matching host, in lower case; begins with a dot if the pattern begins with `*.`.
        case suffix(String)
        case any
    }

    enum Port: Sendable, Hashable {
        case any
        case exact(Int)
        case glob(Glob)
    }

    /// One reference, because rules are copied in loops.
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

    package var pattern: LocationPattern { compiled.pattern }
    package var lints: [LocationLint] { compiled.lints }
    package var hostKey: HostKey { compiled.hostKey }

    package var namesHost: Bool { host != nil }
    package var namesPath: Bool { path != nil || query != nil }

    var scheme: Glob? { compiled.scheme }
    var host: Glob? { compiled.host }
    var port: Port { compiled.port }
    var path: Glob? { compiled.path }
    var query: Glob? { compiled.query }

    /// A ``LocationError`` has the column in `text`.
    package init(_ text: some StringProtocol) throws(LocationError) {
        let syntax = try LocationSyntax.parse(text)
        do {
            try self.init(syntax.pattern, hadBlanks: syntax.hadBlanks)
        } catch {
            // Converts a column of the field to a column of the text.
            var error = error
            if let columns = error.field.flatMap({ syntax.columns[$0] }), let last = columns.last {
                error.column = columns.indices.contains(error.column - 1) ? columns[error.column - 1] : last
            }
            throw error
        }
    }

    /// A ``LocationError`` has the field and the column in it.
    package init(_ pattern: LocationPattern) throws(LocationError) { try self.init(pattern, hadBlanks: false) }

    private init(_ written: LocationPattern, hadBlanks: Bool) throws(LocationError) {
        var compiler = LocationCompiler(written)
        if hadBlanks { compiler.lintBlanks(.host) }
        compiled = try Compiled(compiler)
    }

    package static func == (left: Location, right: Location) -> Bool { left.pattern == right.pattern }
    package func hash(into hasher: inout Hasher) { hasher.combine(pattern) }

    package var matchesEverything: Bool { scheme == nil && host == nil && port == .any && path == nil && query == nil }

    /// Does not allocate for usual URLs. With `isHostKnown` the host matches already.
    package func matches(_ url: RequestURL, isHostKnown: Bool = false) -> Bool {
        if !isHostKnown, let host, !host.matches(url.host) { return false }
        return matchesPort(url) && matchesScheme(url) && (path?.matches(url.path) ?? true)
            && (query?.matches(url.query ?? "") ?? true)
    }

    /// Whether some URL of the server of `url` may match; a tunnel needs a protocol with TLS.
    package func matchesServer(of url: RequestURL) -> Bool {
        (host?.matches(url.host) ?? true) && matchesPort(url)
            && (url.scheme != "tunnel" || scheme.map { $0.matches("https") || $0.matches("wss") } ?? true)
    }

    func firstMismatch(_ url: RequestURL) -> Field? {
        if !matchesScheme(url) { return .protocol }
        if let host, !host.matches(url.host) { return .host }
        if !matchesPort(url) { return .port }
        if let path, !path.matches(url.path) { return .path }
        if let query, !query.matches(url.query ?? "") { return .query }
        return nil
    }

    /// The texts that the stars match: each as short as possible; the last one of a field takes the rest. `nil` without
    /// a match. Neighbouring stars count as one; a blank field has no texts.
    package func captures(_ url: RequestURL) -> [Field: [String]]? {
        guard matches(url) else { return nil }
        let portGlob: Glob? = if case .glob(let glob) = port { glob } else { nil }
        var captures: [Field: [String]] = [:]
        for (field, glob) in [(Field.host, host), (.port, portGlob), (.path, path), (.query, query)] {
            captures[field] = glob?.captures(in: url[field])
        }
        captures[.protocol] = scheme?.captures(in: url.scheme) ?? scheme?.captures(in: Location.plainScheme(url.scheme))
        return captures
    }

    private func matchesScheme(_ url: RequestURL) -> Bool {
        guard let scheme else { return true }
        return scheme.matches(url.scheme) || scheme.matches(Location.plainScheme(url.scheme))
    }

    private func matchesPort(_ url: RequestURL) -> Bool {
        switch port {
        case .any: true
        case .exact(let number): number == url.port
        case .glob(let glob): glob.matches(String(url.port))
        }
    }

    static func plainScheme(_ scheme: String) -> String {
        switch scheme {
        case "ws": "http"
        case "wss", "tunnel": "https"
        default: scheme
        }
    }
}

extension Location: CustomStringConvertible {
    package var description: String { pattern.description }
}
