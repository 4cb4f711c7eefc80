public import HTTPModel

/// A place in the tree of sites and paths.
public struct StructureNode: Hashable, Sendable {
    /// The site, as `scheme://host` with the port where it is not the scheme's own; `nil` for the root.
    public var site: String?
    /// The segments of the path down to the place; an empty one where two slashes meet, or a path ends with one.
    public var segments: [String]

    /// Names a place; the root where nothing is given.
    public init(site: String? = nil, segments: [String] = []) {
        self.site = site
        self.segments = segments
    }
}

extension StructureNode {
    /// Where the place is, without a path for a site; `nil` for the root.
    var url: RequestURL? {
        guard let site, let rest = site.firstRange(of: "://") else { return nil }
        let scheme = String(site[..<rest.lowerBound])
        // The scheme of tunnels is no URL's; they have their port with them.
        let known = RequestURL.defaultPort(of: scheme) == nil ? "https" : scheme
        guard var url = RequestURL(known + site[rest.lowerBound...]) else { return nil }
        url.scheme = scheme
        url.path = segments.map { "/" + $0 }.joined()
        return url
    }
}

/// The children of a place, by name.
public struct StructureLevel: Sendable, Hashable {
    /// The place.
    public var node: StructureNode
    /// The generation of the query whose list is counted.
    public var generation: Int
    /// The children that are told apart.
    public var children: [StructureChild]
    /// Exchanges below further children, where there are too many names to tell apart.
    public var more: Int
    /// How far the counting has come, from 0 to 1; `nil` once it is done.
    public var progress: Double?

    /// Creates a level.
    public init(
        node: StructureNode,
        generation: Int,
        children: [StructureChild],
        more: Int = 0,
        progress: Double? = nil
    ) {
        self.node = node
        self.generation = generation
        self.children = children
        self.more = more
        self.progress = progress
    }
}

/// One child of a place.
public struct StructureChild: Sendable, Hashable {
    /// The site or the segment.
    public var name: String
    /// The child as a place of its own.
    public var node: StructureNode
    /// Whether nothing goes on below it.
    public var isLeaf: Bool
    /// The exchange at or below it that began last.
    public var newest: ExchangeID
    /// Exchanges at or below it.
    public var count: Int
    /// Those that failed, or were answered with a status from 400 on or a gRPC status other than OK.
    public var errors: Int
    /// Those of which something is still to come.
    public var inFlight: Int

    /// Creates a child.
    public init(
        name: String,
        node: StructureNode,
        isLeaf: Bool,
        newest: ExchangeID,
        count: Int,
        errors: Int = 0,
        inFlight: Int = 0
    ) {
        self.name = name
        self.node = node
        self.isLeaf = isLeaf
        self.newest = newest
        self.count = count
        self.errors = errors
        self.inFlight = inFlight
    }
}
