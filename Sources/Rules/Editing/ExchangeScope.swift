package import HTTPModel

/// The scope of a rule that is made from an exchange, from narrow to wide.
package enum ExchangeScope: Int, Sendable, Hashable, CaseIterable, Comparable {
    case url
    case path
    case below
    case host
    case domain

    package static func < (left: ExchangeScope, right: ExchangeScope) -> Bool { left.rawValue < right.rawValue }

    package var text: String {
        switch self {
        case .url: "this URL"
        case .path: "this path, any query"
        case .below: "this path and below"
        case .host: "the whole host"
        case .domain: "the domain with all subdomains"
        }
    }

    /// The part of a URL that the scope matches, as a person would write it: `/p and /p/*`.
    package func matched(of url: RequestURL) -> String {
        let path = ExchangeScope.literal(url.path)
        switch self {
        case .url: return url.query.map { "\(path)?\(ExchangeScope.literal($0))" } ?? path
        case .path: return "\(path) with any query"
        case .below: return path.hasSuffix("/") ? "\(path)*" : "\(path) and \(path)/*"
        case .host: return "everything at \(url.authority)"
        case .domain: return ExchangeScope.domain(of: url.host).map { "\($0) and *.\($0)" } ?? url.host
        }
    }

    /// The scopes that differ for a URL, from narrow to wide.
    package static func all(for url: RequestURL) -> [ExchangeScope] {
        allCases.filter { breadth in
            switch breadth {
            case .url: url.scheme != "tunnel" && url.query?.isEmpty == false
            case .path: url.scheme != "tunnel" && !url.path.isEmpty
            case .below: url.scheme != "tunnel" && url.path.count > 1
            case .host: true
            case .domain: domain(of: url.host) != nil
            }
        }
    }

    /// The locations of this scope for a URL, as text; one of them matches the URL.
    package func locations(of url: RequestURL) -> [String] {
        var pattern = LocationPattern(host: url.host)
        // A host that is not an address may contain wildcard characters, which must be escaped.
        if !url.host.contains(":") { pattern.host = Glob.escaping(url.host) }
        let usual = url.scheme == "tunnel" ? 443 : RequestURL.defaultPort(of: url.scheme)
        if url.port != usual { pattern.port = "\(url.port)" }
        switch self {
        case .host: return [pattern.description]
        case .domain:
            guard let domain = ExchangeScope.domain(of: url.host) else { return [pattern.description] }
            pattern.host = Glob.escaping(domain)
            let itself = pattern.description
            pattern.host = "*." + pattern.host
            return [itself, pattern.description]
        case .url, .path, .below:
            guard url.scheme != "tunnel" else { return [pattern.description] }
            pattern.protocol = url.scheme
            let path = ExchangeScope.literal(url.path)
            pattern.path = path
            if self == .url, let query = url.query { pattern.query = ExchangeScope.literal(query) }
            guard self == .below else { return [pattern.description] }
            let itself = pattern.description
            pattern.path = path + (path.hasSuffix("/") ? "*" : "/*")
            return path.hasSuffix("/") ? [pattern.description] : [itself, pattern.description]
        }
    }

    /// A pattern that matches exactly a text; if the text is very long, only its beginning counts.
    private static func literal(_ text: String) -> String {
        var pattern = ""
        for character in text {
            let next = Glob.escaping(String(character))
            if pattern.utf8.count + next.utf8.count > longest { return pattern + "*" }
            pattern += next
        }
        return pattern
    }

    /// In bytes; more than people read, and less than the limit for patterns.
    private static let longest = 1_000

    /// The domain of a host: the host without its first label, but never a public suffix such as `co.uk`.
    static func domain(of host: String) -> String? {
        guard !host.isAddress else { return nil }
        let labels = host.split(separator: ".", omittingEmptySubsequences: false)
        guard labels.count > 1, labels.allSatisfy({ !$0.isEmpty }) else { return nil }
        guard labels.count > 2 else { return host }
        let rest = labels.dropFirst()
        // If two labels are left, a short label before a country's belongs to a registry: com.au, co.uk, ac.jp.
        let isShared = rest.count == 2 && (rest.last?.count == 2) && (rest.first.map { $0.count <= 3 } ?? false)
        return isShared ? host : rest.joined(separator: ".")
    }
}
