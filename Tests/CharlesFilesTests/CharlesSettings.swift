import HTTPModel
import Text

@testable import CharlesFiles

/// Charles' settings, to be written as the XML that Charles would write.
struct CharlesSettings {
    var throttle: CharlesThrottle?
    var noCaching: CharlesLocationTool?
    var blockCookies: CharlesLocationTool?
    var allowList: CharlesLocationTool?
    var blockList: CharlesLocationTool?
    var rewrite: CharlesTool<CharlesRewriteSet>?
    var mapRemote: CharlesTool<CharlesRemoteMapping>?
    var mapLocal: CharlesTool<CharlesLocalMapping>?
    var mirror: CharlesLocationTool?
    var breakpoints: CharlesTool<CharlesBreakpoint>?
    var dnsSpoofing: CharlesTool<CharlesSpoof>?
    var sslProxying: CharlesSSLProxying?
    var access: [String] = []

    var xml: String {
        let tools = [
            ("Breakpoints", breakpoints?.xml("breakpoints", "breakpoints")),
            ("No Caching", noCaching?.xml("selectedHostsTool")),
            ("Block Cookies", blockCookies?.xml("selectedHostsTool")),
            ("Map Remote", mapRemote?.xml("map", "mappings")),
            ("Map Local", mapLocal?.xml("mapLocal", "mappings")), ("Rewrite", rewrite?.xml("rewrite", "sets")),
            ("Block List", blockList?.xml("blacklist")), ("Allow List", allowList?.xml("whitelist")),
            ("DNS Spoofing", dnsSpoofing?.xml("dnsSpoofing", "spoofs")), ("Mirror", mirror?.xml("mirror")),
        ]
        let entries = tools.map { title, xml in xml.map { tag("entry", tag("string", title) + $0) } ?? "" }.joined()
        let ranges = access.map(CharlesSettings.range).joined()
        let sections = [
            tag("toolConfiguration", tag("configs", entries)), throttle?.xml ?? "", sslProxying?.xml ?? "",
            tag("accessControlConfiguration", tag("ipRanges", ranges)),
        ]
        return CharlesSamples.prolog + tag("configuration", sections.joined())
    }

    private static func range(_ text: String) -> String {
        let parts = text.split(separator: "/")
        let mask = (0..<4).map { max(0, min(8, (Int(parts[1]) ?? 0) - $0 * 8)) }.map { 0xFF << (8 - $0) & 0xFF }
        func numbers(_ numbers: [String]) -> String { numbers.map { tag("int", $0) }.joined() }
        let address = parts[0].split(separator: ".").map(String.init)
        return tag("ipRange", tag("ip", numbers(address)) + tag("mask", numbers(mask.map(String.init))))
    }
}

extension CharlesImport {
    init(
        _ settings: CharlesSettings,
        source: String,
        file: String = "profile.yaml",
        paths: [PathChange] = []
    ) throws(CharlesError) {
        try self.init(Array(settings.xml.utf8), source: source, file: file, paths: paths)
    }
}

private func tag(_ name: String, _ content: String) -> String { "<\(name)>\(content)</\(name)>" }

private func tags(_ elements: KeyValuePairs<String, Any>) -> String {
    elements.map { tag($0, "\($1)".markupEscaped) }.joined()
}

private func xml(_ places: [CharlesPlace]) -> String {
    tag(
        "locationPatterns",
        places.map { tag("locationMatch", $0.location.xml("location") + tags(["enabled": $0.isEnabled])) }.joined()
    )
}

extension CharlesLocation {
    fileprivate func xml(_ name: String) -> String {
        tag(name, tags(["protocol": `protocol`, "host": host, "port": port, "path": path, "query": query]))
    }
}

protocol CharlesEntry {
    var xml: String { get }
}

struct CharlesTool<Entry: CharlesEntry> {
    var isEnabled: Bool
    var entries: [Entry]

    init(isEnabled: Bool = true, _ entries: [Entry]) { (self.isEnabled, self.entries) = (isEnabled, entries) }

    fileprivate func xml(_ name: String, _ list: String) -> String {
        tag(name, tags(["toolEnabled": isEnabled]) + tag(list, entries.map(\.xml).joined()))
    }
}

struct CharlesLocationTool {
    var isEnabled = true
    var usesLocations: Bool
    var locations: [CharlesPlace] = []
    var action: Int?

    fileprivate func xml(_ name: String) -> String {
        let flags = tags(["toolEnabled": isEnabled, "useSelectedLocations": usesLocations])
        let content = tag("locations", CharlesFilesTests.xml(locations)) + flags
        return tag(name, content + (action.map { tags(["action": $0]) } ?? ""))
    }
}

struct CharlesRemoteMapping: CharlesEntry {
    var from = CharlesLocation()
    var to = CharlesLocation()
    var preservesHost = false
    var isEnabled = true

    var xml: String {
        let flags = tags(["preserveHostHeader": preservesHost, "enabled": isEnabled])
        return tag("mapMapping", from.xml("sourceLocation") + to.xml("destLocation") + flags)
    }
}

struct CharlesLocalMapping: CharlesEntry {
    var from = CharlesLocation()
    var to = ""
    var isCaseSensitive = true
    var isEnabled = true

    var xml: String {
        let rest = tags(["dest": to, "enabled": isEnabled, "caseSensitive": isCaseSensitive])
        return tag("mapLocalMapping", from.xml("sourceLocation") + rest)
    }
}

struct CharlesBreakpoint: CharlesEntry {
    var location = CharlesLocation()
    var method = ""
    var onRequest = false
    var onResponse = false
    var isEnabled = true

    var xml: String {
        let rest = tags(["scheme": method, "request": onRequest, "response": onResponse, "enabled": isEnabled])
        return tag("breakpoint", location.xml("location") + rest)
    }
}

struct CharlesSpoof: CharlesEntry {
    var host = ""
    var address = ""
    var isEnabled = true

    var xml: String { tag("dnsSpoof", tags(["name": host, "address": address, "enabled": isEnabled])) }
}

struct CharlesRewriteSet: CharlesEntry {
    var name = ""
    var isActive = true
    var locations: [CharlesPlace] = []
    var rules: [CharlesRewriteRule] = []

    var xml: String {
        let head = tags(["active": isActive, "name": name]) + tag("hosts", CharlesFilesTests.xml(locations))
        return tag("rewriteSet", head + tag("rules", rules.map(\.xml).joined()))
    }
}

extension CharlesRewriteRule {
    init(_ kind: Kind) { self.init(kind: kind) }

    var xml: String {
        let rest = tags([
            "active": isActive, "ruleType": kind.rawValue, "matchHeader": matchName, "matchValue": matchValue,
            "matchHeaderRegex": isNameExpression, "matchValueRegex": isValueExpression, "matchRequest": onRequest,
            "matchResponse": onResponse, "newHeader": newName, "newValue": newValue, "newHeaderRegex": false,
            "newValueRegex": false, "matchWholeValue": matchesWhole, "caseSensitive": isCaseSensitive,
            "replaceType": replacesFirst ? 1 : 2,
        ])
        return tag("rewriteRule", rest)
    }
}

struct CharlesSSLProxying {
    var isEnabled = true
    var included: [CharlesPlace]
    var excluded: [CharlesPlace]

    fileprivate var xml: String {
        let lists =
            tag("sslLocations", CharlesFilesTests.xml(included))
            + tag("sslExcludeLocations", CharlesFilesTests.xml(excluded))
        return tag("proxyConfiguration", tags(["decryptSSL": isEnabled]) + lists)
    }
}

struct CharlesThrottle {
    /// `nil` if the settings do not say.
    var isEnabled: Bool?
    var values: CharlesThrottleValues
    var presets: [(name: String, values: CharlesThrottleValues)] = []
    var usesHosts = false
    var hosts: [CharlesPlace] = []

    init(isEnabled: Bool? = nil, _ values: CharlesThrottleValues) {
        (self.isEnabled, self.values) = (isEnabled, values)
    }

    fileprivate var xml: String {
        let entries = presets.map { tag("entry", tags(["string": $0.name]) + tag("preset", $0.values.xml)) }.joined()
        let hosts = tag("hosts", CharlesFilesTests.xml(hosts)) + tags(["selectedHosts": usesHosts])
        let section = tag("throttlingConfiguration", values.xml + tag("customPresets", entries) + hosts)
        return section + (isEnabled.map { tag("startupConfiguration", tags(["throttling": $0])) } ?? "")
    }
}

struct CharlesThrottleValues {
    var down = 0.0
    var up = 0.0
    var downUtilisation = 100.0
    var upUtilisation = 100.0
    var latency = 0.0
    var mtu = 1_500.0
    var reliability = 100.0
    var stability = 100.0
    var lowQuality = 100.0
    var highQuality = 100.0

    fileprivate var xml: String {
        tags([
            "bandwidthDown": down, "bandwidthUp": up, "utilisationDown": downUtilisation,
            "utilisationUp": upUtilisation, "latency": latency, "reliability": reliability, "mtu": mtu,
            "lowQuality": lowQuality, "highQuality": highQuality, "stability": stability,
        ])
    }
}
