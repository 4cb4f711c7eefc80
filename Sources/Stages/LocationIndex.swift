import HTTPModel

/// Finds the rules whose locations match a URL without asking all of them: rules are looked up by host.
struct LocationIndex: Sendable {
    private struct Entry {
        let location: Location
        let rule: Int
    }

    private var exact: [String: [Entry]] = [:]
    /// By suffixes of whole labels, as in `.example.com`.
    private var suffixes: [Substring: [Entry]] = [:]
    private var others: [Entry] = []

    /// Adds a rule's location; `rule` is its position in the user's order.
    mutating func add(_ location: Location, rule: Int) {
        let entry = Entry(location: location, rule: rule)
        switch location.hostKey {
        case .exact(let host): exact[host, default: []].append(entry)
        case .suffix(let suffix) where suffix.first == ".": suffixes[Substring(suffix), default: []].append(entry)
        case .suffix, .any: others.append(entry)
        }
    }

    /// The first rule, in the user's order, that means this URL, and the location by which it does.
    func first(_ url: RequestURL) -> (rule: Int, location: Location)? {
        var best: (rule: Int, location: Location)?
        forEachCandidate(url) { entry in
            guard entry.rule < best?.rule ?? .max, entry.location.matches(url) else { return }
            best = (entry.rule, entry.location)
        }
        return best
    }

    /// All rules that mean this URL, in the user's order.
    func all(_ url: RequestURL) -> [Int] {
        var rules: [Int] = []
        forEachCandidate(url) { entry in
            if entry.location.matches(url) { rules.append(entry.rule) }
        }
        guard rules.count > 1 else { return rules }
        rules.sort()
        return rules.indices.filter { $0 == 0 || rules[$0] != rules[$0 - 1] }.map { rules[$0] }
    }

    private func forEachCandidate(_ url: RequestURL, _ body: (Entry) -> Void) {
        for entry in others { body(entry) }
        if !exact.isEmpty { exact[url.host]?.forEach(body) }
        guard !suffixes.isEmpty else { return }
        var rest = url.host[...]
        while let dot = rest.dropFirst().firstIndex(of: ".") {
            rest = rest[dot...]
            suffixes[rest]?.forEach(body)
        }
    }
}
