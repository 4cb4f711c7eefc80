/// What Charles' settings say about its tools, as Charles has it, and nothing else that is in them.
///
/// Names and certificates, licence keys, passwords and tokens are never read into it.
package struct CharlesSettings: Sendable, Hashable {
    package var throttle: CharlesThrottle?
    package var noCaching: CharlesLocationTool?
    package var blockCookies: CharlesLocationTool?
    /// Allow List, once White List.
    package var allowList: CharlesLocationTool?
    /// Block List, once Black List.
    package var blockList: CharlesLocationTool?
    package var rewrite: CharlesTool<CharlesRewriteSet>?
    package var mapRemote: CharlesTool<CharlesRemoteMapping>?
    package var mapLocal: CharlesTool<CharlesLocalMapping>?
    package var mirror: CharlesLocationTool?
    package var breakpoints: CharlesTool<CharlesBreakpoint>?
    package var dnsSpoofing: CharlesTool<CharlesSpoof>?
    /// SSL Proxying: which hosts are decrypted.
    package var sslProxying: CharlesSSLProxying?
    /// Access Control: further clients, each as CIDR.
    package var access: [String] = []

    /// Settings that say nothing.
    package init() {}
}

/// A tool with a list, and the switch for the whole of it.
package struct CharlesTool<Entry: Sendable & Hashable>: Sendable, Hashable {
    package var isEnabled: Bool
    /// The list, in order.
    package var entries: [Entry]

    package init(isEnabled: Bool = true, _ entries: [Entry]) {
        self.isEnabled = isEnabled
        self.entries = entries
    }
}

/// A location as Charles has it: a wildcard pattern for each part of the URL, blank for any; there are no escapes.
package struct CharlesLocation: Sendable, Hashable {
    /// The scheme.
    package var `protocol`: String
    package var host: String
    package var port: String
    package var path: String
    /// The query, without its question mark.
    package var query: String

    package init(protocol: String = "", host: String = "", port: String = "", path: String = "", query: String = "") {
        self.protocol = `protocol`
        self.host = host
        self.port = port
        self.path = path
        self.query = query
    }
}

/// A location in a list, where it can be switched off.
package struct CharlesPlace: Sendable, Hashable {
    package var location: CharlesLocation
    /// Whether it counts.
    package var isEnabled: Bool

    package init(_ location: CharlesLocation, isEnabled: Bool = true) {
        self.location = location
        self.isEnabled = isEnabled
    }
}

/// A tool that has nothing but locations: No Caching, Block Cookies, Mirror, and the two lists.
package struct CharlesLocationTool: Sendable, Hashable {
    package var isEnabled: Bool
    /// Whether only the locations count; the two lists always use theirs, whatever this says.
    package var usesLocations: Bool
    /// The locations, in order.
    package var locations: [CharlesPlace]
    /// What the two lists do: 0 drops the connection, 1 answers 403; `nil` for the other tools.
    package var action: Int?

    package init(isEnabled: Bool = true, usesLocations: Bool, locations: [CharlesPlace], action: Int? = nil) {
        self.isEnabled = isEnabled
        self.usesLocations = usesLocations
        self.locations = locations
        self.action = action
    }
}

/// One mapping of Map Remote.
package struct CharlesRemoteMapping: Sendable, Hashable {
    /// The requests.
    package var source: CharlesLocation
    /// Where they go; a blank part is kept.
    package var destination: CharlesLocation
    /// Whether the Host field stays as the client sent it.
    package var preservesHost: Bool
    /// Whether it counts.
    package var isEnabled: Bool

    package init(
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
package struct CharlesLocalMapping: Sendable, Hashable {
    /// The requests.
    package var source: CharlesLocation
    /// A file or directory.
    package var path: String
    /// Whether the case of file names counts.
    package var isCaseSensitive: Bool
    /// Whether it counts.
    package var isEnabled: Bool

    package init(
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

package struct CharlesBreakpoint: Sendable, Hashable {
    /// The requests.
    package var location: CharlesLocation
    /// The method; blank for any.
    package var method: String
    /// Whether requests are held.
    package var onRequest: Bool
    /// Whether responses are held.
    package var onResponse: Bool
    /// Whether it counts.
    package var isEnabled: Bool

    package init(
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
package struct CharlesSpoof: Sendable, Hashable {
    /// The host's name, which may have wildcards.
    package var host: String
    /// An address, or another name.
    package var address: String
    /// Whether it counts.
    package var isEnabled: Bool

    package init(_ host: String, address: String, isEnabled: Bool = true) {
        self.host = host
        self.address = address
        self.isEnabled = isEnabled
    }
}

/// SSL Proxying: a host is decrypted if it is in the one list and not in the other.
package struct CharlesSSLProxying: Sendable, Hashable {
    /// Whether any host is decrypted.
    package var isEnabled: Bool
    /// The hosts that are.
    package var included: [CharlesPlace]
    /// The hosts that are not.
    package var excluded: [CharlesPlace]

    package init(isEnabled: Bool = true, included: [CharlesPlace], excluded: [CharlesPlace]) {
        self.isEnabled = isEnabled
        self.included = included
        self.excluded = excluded
    }
}

/// Throttling, of which Charles has one for all, with one list of hosts.
package struct CharlesThrottle: Sendable, Hashable {
    /// Whether it is on; `nil` where the settings do not say, which is usual: it is a switch of the running program.
    package var isEnabled: Bool?
    /// The numbers.
    package var values: CharlesThrottleValues
    /// The user's own presets, by name.
    package var presets: [CharlesPreset] = []
    /// Whether only the hosts are throttled.
    package var usesHosts = false
    /// The hosts, with their ports.
    package var hosts: [CharlesPlace] = []

    package init(isEnabled: Bool? = nil, _ values: CharlesThrottleValues) {
        self.isEnabled = isEnabled
        self.values = values
    }
}

/// One of the user's own throttle presets.
package struct CharlesPreset: Sendable, Hashable {
    /// What the user calls it.
    package var name: String
    /// Its numbers.
    package var values: CharlesThrottleValues
}

/// The numbers of a throttle.
package struct CharlesThrottleValues: Sendable, Hashable {
    /// Download and upload in kbit/s.
    package var down = 0.0
    /// See `down`.
    package var up = 0.0
    /// How much of the bandwidth is used, in percent.
    package var downUtilisation = 100.0
    /// See `downUtilisation`.
    package var upUtilisation = 100.0
    /// One round trip, in milliseconds.
    package var latency = 0.0
    /// In bytes.
    package var mtu = 1_500.0
    /// The chance of 10 KiB to pass, in percent.
    package var reliability = 100.0
    /// The share of the time that the connection is stable, in percent.
    package var stability = 100.0
    /// The range of the quality while it is not, in percent.
    package var lowQuality = 100.0
    /// See `lowQuality`.
    package var highQuality = 100.0

    /// No bandwidth, and otherwise perfect.
    package init() {}
}
