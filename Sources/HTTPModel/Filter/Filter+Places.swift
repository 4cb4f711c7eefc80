extension Filter {
    package static func except(_ authorities: some Collection<String>) -> Filter {
        authorities.isEmpty ? .everything : Filter(root: Filter.authorities(authorities).root.negated)
    }

    /// A name means all of its ports, `name:port` only this port.
    package static func authorities(_ authorities: some Collection<String>) -> Filter {
        let nodes = authorities.sorted().map { authority -> FilterNode in
            let (host, port) = parts(of: authority)
            let name = FilterNode.term(
                FilterTerm(key: "host", tests: [.text(.host, Glob(literal: host, ignoringCase: true))])
            )
            guard let port else { return name }
            return .all([port.node, name])
        }
        return nodes.isEmpty ? .everything : Filter(root: FilterNode.any(nodes))
    }

    /// Matches exchanges with the scheme, host, port and path of `url`; `withBelow` also matches paths below it.
    package static func place(_ url: RequestURL, withBelow: Bool) -> Filter {
        var nodes: [FilterNode] = [
            .term(FilterTerm(key: "scheme", tests: [.text(.scheme, Glob(literal: url.scheme, ignoringCase: true))])),
            url.port.node,
            .term(FilterTerm(key: "host", tests: [.text(.host, Glob(literal: url.host, ignoringCase: true))])),
        ]
        if !withBelow || !url.path.isEmpty {
            var tests: [FilterTest] = [.text(.path, Glob(literal: url.path))]
            // `OPTIONS *` has a path without a slash.
            if url.path == "/*" { tests.append(.text(.path, Glob(literal: "*"))) }
            if withBelow { tests.append(.text(.path, Glob(beginning: url.path + "/"))) }
            nodes.append(.term(FilterTerm(key: "path", tests: tests)))
        }
        return Filter(root: FilterNode.all(nodes).ordered)
    }

    private static func parts(of authority: String) -> (host: String, port: Int?) {
        var host = Substring(authority)
        var port: Int?
        if let colon = host.lastIndex(of: ":"), let number = Int(host[host.index(after: colon)...]),
            (0...65_535).contains(number), host[..<colon].last == "]" || !host[..<colon].contains(":")
        {
            (host, port) = (host[..<colon], number)
        }
        if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
        return (String(host), port)
    }
}

extension Int {
    fileprivate var node: FilterNode {
        .term(FilterTerm(key: "port", tests: [.number(.port, Int64(self)...Int64(self))]))
    }
}
