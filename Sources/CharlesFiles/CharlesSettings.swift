/// Charles' settings of its tools. Certificates, licence keys, passwords and tokens are never read into it.
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
    /// SSL Proxying: the hosts to decrypt.
    package var sslProxying: CharlesSSLProxying?
    /// Access Control: further clients as CIDR.
    package var access: [String] = []
}

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

/// A location that can be disabled.
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

package struct CharlesRemoteMapping: Sendable, Hashable {
    package var from = CharlesLocation()
    /// Empty parts are kept.
    package var to = CharlesLocation()
    /// Whether the client's Host field is kept.
    package var preservesHost = false
    package var isEnabled = true
}

package struct CharlesLocalMapping: Sendable, Hashable {
    package var from = CharlesLocation()
    /// A file or directory.
    package var to = ""
    package var isCaseSensitive = true
    package var isEnabled = true
}

package struct CharlesBreakpoint: Sendable, Hashable {
    package var location = CharlesLocation()
    /// Empty for any.
    package var method = ""
    package var onRequest = false
    package var onResponse = false
    package var isEnabled = true
}

/// An entry of DNS Spoofing.
package struct CharlesSpoof: Sendable, Hashable {
    /// May have wildcards.
    package var host = ""
    /// An address, or another host's name.
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
    /// Whether throttling is on when Charles starts; `nil` if the settings do not say, as is usual: it is switched at run time.
    package var isEnabled: Bool?
    package var values: CharlesThrottleValues
    /// By name.
    package var presets: [CharlesPreset] = []
    /// Whether only these hosts are throttled.
    package var usesHosts = false
    /// With ports.
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

package struct CharlesThrottleValues: Sendable, Hashable {
    /// In kbit/s, as `up`.
    package var down = 0.0
    package var up = 0.0
    /// In percent.
    package var downUtilisation = 100.0
    package var upUtilisation = 100.0
    /// The round trip in milliseconds.
    package var latency = 0.0
    /// In bytes.
    package var mtu = 1_500.0
    /// The probability that 10 KiB pass, in percent.
    package var reliability = 100.0
    /// The share of stable time, in percent.
    package var stability = 100.0
    /// The range of the quality in unstable time, in percent.
    package var lowQuality = 100.0
    package var highQuality = 100.0
}
