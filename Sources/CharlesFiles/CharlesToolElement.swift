import Rules

/// One of Charles' tools with a list: how its element is read into the settings.
struct CharlesToolElement {
    /// Charles' name.
    let title: String
    let name: String
    let read: (XMLElement, inout CharlesReading) -> Void

    /// In Charles' order.
    static var all: [CharlesToolElement] {
        [
            .list("Breakpoints", "breakpoints", "breakpoints", \.breakpoints),
            .locations("No Caching", selectedHosts, \.noCaching),
            .locations("Block Cookies", selectedHosts, \.blockCookies),
            .list("Map Remote", "map", "mappings", \.mapRemote),
            .list("Map Local", "mapLocal", "mappings", \.mapLocal),
            .list("Rewrite", "rewrite", "sets", \.rewrite, beside: ["debugging"]),
            .locations("Block List", "blacklist", \.blockList, hasAction: true),
            .locations("Allow List", "whitelist", \.allowList, hasAction: true),
            .list("DNS Spoofing", "dnsSpoofing", "spoofs", \.dnsSpoofing),
            .locations("Mirror", "mirror", \.mirror),
        ]
    }

    /// The element of several tools; only what is beside it tells which tool it is.
    static let selectedHosts = "selectedHostsTool"

    /// A tool whose list has entries of its own, and flags without a meaning here beside it.
    private static func list<Entry: CharlesEntry>(
        _ title: String,
        _ name: String,
        _ list: String,
        _ path: WritableKeyPath<CharlesSettings, CharlesTool<Entry>?>,
        beside flags: [String] = []
    ) -> CharlesToolElement {
        CharlesToolElement(title: title, name: name) { element, reading in
            reading.check(element, knows: ["toolEnabled", list] + flags)
            let isEnabled = reading.flag(element, "toolEnabled", default: true)
            let entries: [Entry] = element[list].map { reading.entries($0) } ?? []
            reading.settings[keyPath: path] = CharlesTool(isEnabled: isEnabled, entries)
        }
    }

    private static func locations(
        _ title: String,
        _ name: String,
        _ path: WritableKeyPath<CharlesSettings, CharlesLocationTool?>,
        hasAction: Bool = false
    ) -> CharlesToolElement {
        CharlesToolElement(title: title, name: name) { element, reading in
            let known = ["locations", "toolEnabled", "useSelectedLocations"]
            reading.check(element, knows: known + (hasAction ? ["action"] : []))
            reading.settings[keyPath: path] = CharlesLocationTool(
                isEnabled: reading.flag(element, "toolEnabled", default: true),
                usesLocations: reading.flag(element, "useSelectedLocations", default: false),
                locations: reading.places(element["locations"]),
                action: hasAction ? Int(reading.number(element, "action", default: 0)) : nil
            )
        }
    }
}
