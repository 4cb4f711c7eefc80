/// Charles' settings of its tools, as Charles has them.
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

    package init() {}
}

/// A tool with a list, and the switch for the whole of it.
package struct CharlesTool<Entry: Sendable & Hashable>: Sendable, Hashable {
    package var isEnabled: Bool
    package var entries: [Entry]

    package init(isEnabled: Bool = true, _ entries: [Entry]) { (self.isEnabled, self.entries) = (isEnabled, entries) }
}

/// A location as Charles has it: a wildcard pattern for each part of the URL, blank for any; there are no escapes.
package struct CharlesLocation: Sendable, Hashable {
    package var `protocol` = ""
    package var host = ""
    package var port = ""
    package var path = ""
    /// Without its question mark.
    package var query = ""
}

/// A location in a list, where it can be switched off.
package struct CharlesPlace: Sendable, Hashable {
    package var location: CharlesLocation
    package var isEnabled: Bool

    package init(_ location: CharlesLocation, isEnabled: Bool = true) {
        (self.location, self.isEnabled) = (location, isEnabled)
    }
}

/// A tool that has nothing but locations: No Caching, Block Cookies, Mirror, and the two lists.
package struct CharlesLocationTool: Sendable, Hashable {
    package var isEnabled = true
    /// Whether only the locations count; the two lists always use theirs.
    package var usesLocations: Bool
    package var locations: [CharlesPlace] = []
    /// What the two lists do: 0 drops the connection, 1 answers 403; `nil` for the other tools.
    package var action: Int?
}

/// One mapping of Map Remote.
package struct CharlesRemoteMapping: Sendable, Hashable {
    package var from = CharlesLocation()
    /// A blank part is kept.
    package var to = CharlesLocation()
    /// Whether the Host field stays as the client sent it.
    package var preservesHost = false
    package var isEnabled = true
}

/// One mapping of Map Local.
package struct CharlesLocalMapping: Sendable, Hashable {
    package var from = CharlesLocation()
    /// A file or directory.
    package var to = ""
    /// Whether the case of file names counts.
    package var isCaseSensitive = true
    package var isEnabled = true
}

package struct CharlesBreakpoint: Sendable, Hashable {
    package var location = CharlesLocation()
    /// Blank for any.
    package var method = ""
    package var onRequest = false
    package var onResponse = false
    package var isEnabled = true
}

/// One entry of DNS Spoofing.
package struct CharlesSpoof: Sendable, Hashable {
    /// May have wildcards.
    package var host = ""
    /// An address, or the name of another host.
    package var address = ""
    package var isEnabled = true
}

/// SSL Proxying: a host is decrypted if it is in the one list and not in the other.
package struct CharlesSSLProxying: Sendable, Hashable {
    /// Whether any host is decrypted.
    package var isEnabled = true
    package var included: [CharlesPlace]
    package var excluded: [CharlesPlace]
}

/// Throttling, of which Charles has one for all, with one list of hosts.
package struct CharlesThrottle: Sendable, Hashable {
    /// Whether it is on; `nil` where the settings do not say, which is usual: it is a switch of the running program.
    package var isEnabled: Bool?
    package var values: CharlesThrottleValues
    /// The user's own presets, by name.
    package var presets: [CharlesPreset] = []
    /// Whether only the hosts are throttled.
    package var usesHosts = false
    /// The hosts, with their ports.
    package var hosts: [CharlesPlace] = []

    package init(isEnabled: Bool? = nil, _ values: CharlesThrottleValues) {
        (self.isEnabled, self.values) = (isEnabled, values)
    }
}

/// One of the user's own throttle presets.
package struct CharlesPreset: Sendable, Hashable {
    package var name: String
    package var values: CharlesThrottleValues
}

/// The numbers of a throttle.
package struct CharlesThrottleValues: Sendable, Hashable {
    /// In kbit/s, as `up`.
    package var down = 0.0
    package var up = 0.0
    /// How much of the bandwidth is used, in percent.
    package var downUtilisation = 100.0
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
    package var highQuality = 100.0

    /// No bandwidth, and otherwise perfect.
    package init() {}
}
