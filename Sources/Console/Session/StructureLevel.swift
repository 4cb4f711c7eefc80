package import HTTPModel

/// A place in the tree of sites and paths.
package struct StructureNode: Hashable, Sendable {
    /// `scheme://host`, with the port where it is not the scheme's default; `nil` for the root.
    package var site: String?
    /// The segments of the path; an empty one where two slashes meet, or a path ends with one.
    package var segments: [String]

    package init(site: String? = nil, segments: [String] = []) {
        self.site = site
        self.segments = segments
    }
}

extension StructureNode {
    /// The site without a path; `nil` for the root.
    var siteURL: RequestURL? {
        guard let site, let slashes = site.firstRange(of: "://") else { return nil }
        let scheme = String(site[..<slashes.lowerBound])
        var host = site[slashes.upperBound...]
        var port = RequestURL.defaultPort(of: scheme) ?? 0
        if let colon = host.lastIndex(of: ":"), host.last != "]", let written = Int(host[host.index(after: colon)...]) {
            (host, port) = (host[..<colon], written)
        }
        if host.first == "[", host.last == "]" { host = host.dropFirst().dropLast() }
        return RequestURL(scheme: scheme, host: String(host), port: port, path: "")
    }

    /// The place's URL, without a path for a site; `nil` for the root.
    var url: RequestURL? {
        siteURL.map { site in
            var url = site
            url.path = segments.map { "/" + $0 }.joined()
            return url
        }
    }
}

package struct StructureLevel: Sendable, Hashable {
    package var node: StructureNode
    /// The generation of the query whose list is counted.
    package var generation: Int
    package var children: [StructureChild]
    /// Exchanges below further children, where there are too many to list.
    package var more = 0
    /// How far the counting has come, from 0 to 1; `nil` once it is done.
    package var progress: Double?
}

package struct StructureChild: Sendable, Hashable {
    /// The site or the segment.
    package var name: String
    package var node: StructureNode
    package var isLeaf: Bool
    /// The exchange at or below it that began last.
    package var newest: ExchangeID
    /// That exchange, of a leaf alone.
    package var record: ExchangeRecord?
    /// Exchanges at or below it.
    package var count: Int
    /// Those that failed, or have a status from 400 on or a gRPC status other than OK.
    package var errors = 0
    package var inFlight = 0
}
