/// What Charles' settings say about its tools, as Charles has it, and nothing else that is in them.
///
/// Names and certificates, licence keys, passwords and tokens are never read into it.
public struct CharlesSettings: Sendable, Hashable {
    /// Throttling.
    public var throttle: CharlesThrottle?
    /// No Caching.
    public var noCaching: CharlesLocationTool?
    /// Block Cookies.
    public var blockCookies: CharlesLocationTool?
    /// Allow List, once White List.
    public var allowList: CharlesLocationTool?
    /// Block List, once Black List.
    public var blockList: CharlesLocationTool?
    /// Rewrite.
    public var rewrite: CharlesTool<CharlesRewriteSet>?
    /// Map Remote.
    public var mapRemote: CharlesTool<CharlesRemoteMapping>?
    /// Map Local.
    public var mapLocal: CharlesTool<CharlesLocalMapping>?
    /// Mirror.
    public var mirror: CharlesLocationTool?
    /// Breakpoints.
    public var breakpoints: CharlesTool<CharlesBreakpoint>?
    /// DNS Spoofing.
    public var dnsSpoofing: CharlesTool<CharlesSpoof>?
    /// SSL Proxying: which hosts are decrypted.
    public var sslProxying: CharlesSSLProxying?
    /// Access Control: further clients, each as CIDR.
    public var access: [String] = []

    /// Settings that say nothing.
    public init() {}
}

/// A tool with a list, and the switch for the whole of it.
public struct CharlesTool<Entry: Sendable & Hashable>: Sendable, Hashable {
    /// Whether the tool is on.
    public var isEnabled: Bool
    /// The list, in order.
    public var entries: [Entry]

    /// Puts a tool together.
    public init(isEnabled: Bool = true, _ entries: [Entry]) {
        self.isEnabled = isEnabled
        self.entries = entries
    }
}

/// A location as Charles has it: a wildcard pattern for each part of the URL, blank for any; there are no escapes.
public struct CharlesLocation: Sendable, Hashable {
    /// The scheme.
    public var `protocol`: String
    /// The host.
    public var host: String
    /// The port.
    public var port: String
    /// The path.
    public var path: String
    /// The query, without its question mark.
    public var query: String

    /// Puts a location together.
    public init(protocol: String = "", host: String = "", port: String = "", path: String = "", query: String = "") {
        self.protocol = `protocol`
        self.host = host
        self.port = port
        self.path = path
        self.query = query
    }
}

/// A location in a list, where it can be switched off.
public struct CharlesPlace: Sendable, Hashable {
    /// The location.
    public var location: CharlesLocation
    /// Whether it counts.
    public var isEnabled: Bool

    /// Puts a place together.
    public init(_ location: CharlesLocation, isEnabled: Bool = true) {
        self.location = location
        self.isEnabled = isEnabled
    }
}

/// A tool that has nothing but locations: No Caching, Block Cookies, Mirror, and the two lists.
public struct CharlesLocationTool: Sendable, Hashable {
    /// Whether the tool is on.
    public var isEnabled: Bool
    /// Whether only the locations count; the two lists always use theirs, whatever this says.
    public var usesLocations: Bool
    /// The locations, in order.
    public var locations: [CharlesPlace]
    /// What the two lists do: 0 drops the connection, 1 answers 403; `nil` for the other tools.
    public var action: Int?

    /// Puts a tool together.
    public init(isEnabled: Bool = true, usesLocations: Bool, locations: [CharlesPlace], action: Int? = nil) {
        self.isEnabled = isEnabled
        self.usesLocations = usesLocations
        self.locations = locations
        self.action = action
    }
}

/// One mapping of Map Remote.
public struct CharlesRemoteMapping: Sendable, Hashable {
    /// The requests.
    public var source: CharlesLocation
    /// Where they go; a blank part is kept.
    public var destination: CharlesLocation
    /// Whether the Host field stays as the client sent it.
    public var preservesHost: Bool
    /// Whether it counts.
    public var isEnabled: Bool

    /// Puts a mapping together.
    public init(
        from source: CharlesLocation,
        to destination: CharlesLocation,
        preservesHost: Bool = false,
        isEnabled: Bool = true
    ) {
        self.source = source
        self.destination = destination
        self.preservesHost = preservesHost
        self.isEnabled = isEnabled
    }
}

/// One mapping of Map Local.
public struct CharlesLocalMapping: Sendable, Hashable {
    /// The requests.
    public var source: CharlesLocation
    /// A file or directory.
    public var path: String
    /// Whether the case of file names counts.
    public var isCaseSensitive: Bool
    /// Whether it counts.
    public var isEnabled: Bool

    /// Puts a mapping together.
    public init(
        from source: CharlesLocation,
        to path: String,
        isCaseSensitive: Bool = true,
        isEnabled: Bool = true
    ) {
        self.source = source
        self.path = path
        self.isCaseSensitive = isCaseSensitive
        self.isEnabled = isEnabled
    }
}

/// One breakpoint.
public struct CharlesBreakpoint: Sendable, Hashable {
    /// The requests.
    public var location: CharlesLocation
    /// The method; blank for any.
    public var method: String
    /// Whether requests are held.
    public var onRequest: Bool
    /// Whether responses are held.
    public var onResponse: Bool
    /// Whether it counts.
    public var isEnabled: Bool

    /// Puts a breakpoint together.
    public init(
        _ location: CharlesLocation,
        method: String = "",
        onRequest: Bool,
        onResponse: Bool,
        isEnabled: Bool = true
    ) {
        self.location = location
        self.method = method
        self.onRequest = onRequest
        self.onResponse = onResponse
        self.isEnabled = isEnabled
    }
}

/// One entry of DNS Spoofing.
public struct CharlesSpoof: Sendable, Hashable {
    /// The host's name, which may have wildcards.
    public var host: String
    /// An address, or another name.
    public var address: String
    /// Whether it counts.
    public var isEnabled: Bool

    /// Puts an entry together.
    public init(_ host: String, address: String, isEnabled: Bool = true) {
        self.host = host
        self.address = address
        self.isEnabled = isEnabled
    }
}

/// SSL Proxying: a host is decrypted if it is in the one list and not in the other.
public struct CharlesSSLProxying: Sendable, Hashable {
    /// Whether any host is decrypted.
    public var isEnabled: Bool
    /// The hosts that are.
    public var included: [CharlesPlace]
    /// The hosts that are not.
    public var excluded: [CharlesPlace]

    /// Puts the lists together.
    public init(isEnabled: Bool = true, included: [CharlesPlace], excluded: [CharlesPlace]) {
        self.isEnabled = isEnabled
        self.included = included
        self.excluded = excluded
    }
}

/// Throttling, of which Charles has one for all, with one list of hosts.
public struct CharlesThrottle: Sendable, Hashable {
    /// Whether it is on; `nil` where the settings do not say, which is usual: it is a switch of the running program.
    public var isEnabled: Bool?
    /// The numbers.
    public var values: CharlesThrottleValues
    /// The user's own presets, by name.
    public var presets: [CharlesPreset] = []
    /// Whether only the hosts are throttled.
    public var usesHosts = false
    /// The hosts, with their ports.
    public var hosts: [CharlesPlace] = []

    /// Puts a throttle together.
    public init(isEnabled: Bool? = nil, _ values: CharlesThrottleValues) {
        self.isEnabled = isEnabled
        self.values = values
    }
}

/// One of the user's own throttle presets.
public struct CharlesPreset: Sendable, Hashable {
    /// What the user calls it.
    public var name: String
    /// Its numbers.
    public var values: CharlesThrottleValues
}

/// The numbers of a throttle.
public struct CharlesThrottleValues: Sendable, Hashable {
    /// Download and upload in kbit/s.
    public var down = 0.0
    /// See `down`.
    public var up = 0.0
    /// How much of the bandwidth is used, in percent.
    public var downUtilisation = 100.0
    /// See `downUtilisation`.
    public var upUtilisation = 100.0
    /// One round trip, in milliseconds.
    public var latency = 0.0
    /// In bytes.
    public var mtu = 1_500.0
    /// The chance of 10 KiB to pass, in percent.
    public var reliability = 100.0
    /// The share of the time that the connection is stable, in percent.
    public var stability = 100.0
    /// The range of the quality while it is not, in percent.
    public var lowQuality = 100.0
    /// See `lowQuality`.
    public var highQuality = 100.0

    /// No bandwidth, and otherwise perfect.
    public init() {}
}
