import Rules
import Tools

/// Gathers Charles' settings out of the elements of a file.
struct CharlesReading {
    var settings = CharlesSettings()
    /// What was found and could not be taken.
    private(set) var report = FidelityReport(word: "imported")
    /// Nobody reads more than this about a file that is no good.
    private static let mostLines = 1_000
    /// The name of the tool that is being read.
    private var tool = ""
    /// The tools that were read.
    private var seen: Set<String> = []
    /// Which tool a lone `selectedHostsTool` is.
    private let loneTool: CharlesSettings.LoneTool?

    init(as loneTool: CharlesSettings.LoneTool?) {
        self.loneTool = loneTool
    }

    // MARK: - Values

    mutating func flag(_ element: XMLElement, _ name: String, default fallback: Bool) -> Bool {
        guard let child = element[name] else { return fallback }
        switch child.text.trimmed.lowercased() {
        case "true", "1": return true
        case "false", "0": return false
        case "": return fallback
        default:
            skip(child, "it is neither true nor false; taken for \(fallback)")
            return fallback
        }
    }

    mutating func number(_ element: XMLElement, _ name: String, default fallback: Double) -> Double {
        guard let child = element[name], !child.text.trimmed.isEmpty else { return fallback }
        if let number = Double(child.text.trimmed), number.isFinite, number >= 0, number < 1e12 { return number }
        skip(child, "it is no number that can be meant; taken for \(GrammarValue.text(fallback))")
        return fallback
    }

    /// The locations in an element that has `locationPatterns` in it.
    mutating func places(_ element: XMLElement?) -> [CharlesPlace] {
        var places: [CharlesPlace] = []
        for child in element?["locationPatterns"]?.children ?? [] {
            guard child.name == "locationMatch" else {
                unknown(child)
                continue
            }
            check(child, knows: ["location", "enabled"])
            let location = CharlesLocation(child["location"], &self)
            places.append(CharlesPlace(location, isEnabled: flag(child, "enabled", default: true)))
        }
        return places
    }

    /// Reports the children that are none of the known ones.
    mutating func check(_ element: XMLElement, knows names: [String]) {
        for child in element.children where !names.contains(child.name) { unknown(child) }
    }

    mutating func unknown(_ element: XMLElement) { skip(element, "this element is not known") }

    mutating func skip(_ element: XMLElement, _ why: String) {
        guard report.lines.count < CharlesReading.mostLines else { return }
        if report.lines.count == CharlesReading.mostLines - 1 {
            report.add(
                "\(tool), line \(element.line) and after",
                .skipped(why: "there is too much here that is not known")
            )
            return
        }
        report.add("\(tool), line \(element.line): <\(element.name)>", .skipped(why: why))
    }

    // MARK: - Tools

    /// Reads a tool by its element.
    ///
    /// - Parameters:
    ///   - element: the tool.
    ///   - name: what its entry calls it; `nil` where it stands alone.
    mutating func readTool(_ element: XMLElement, named name: String?) {
        tool = name ?? element.name
        // Tools have had two names, and a file from in between could have both.
        let identity = element.name == "selectedHostsTool" ? tool : element.name
        guard seen.insert(identity).inserted else {
            skip(element, "the tool is there a second time")
            return
        }
        switch element.name {
        case "rewrite": settings.rewrite = list(element, "sets", beside: ["debugging"])
        case "map": settings.mapRemote = list(element, "mappings")
        case "mapLocal": settings.mapLocal = list(element, "mappings")
        case "breakpoints": settings.breakpoints = list(element, "breakpoints")
        case "dnsSpoofing": settings.dnsSpoofing = list(element, "spoofs")
        case "rewriteSet-array":
            tool = "Rewrite"
            settings.rewrite = CharlesTool(entries(element))
        case "blacklist": settings.blockList = locationTool(element, hasAction: true)
        case "whitelist": settings.allowList = locationTool(element, hasAction: true)
        case "mirror": settings.mirror = locationTool(element, hasAction: false)
        case "selectedHostsTool": readSelectedHostsTool(element, named: name)
        case "reverseProxies": skipUnlessEmpty(element, element["reverseProxies"]?.children.count ?? 0, "mappings")
        case "portForwarding": skipUnlessEmpty(element, element["portForwardings"]?.children.count ?? 0, "ports")
        case "viewerMappings": skipUnlessEmpty(element, element["mappings"]?.children.count ?? 0, "mappings")
        case "autoSave":
            if flag(element, "toolEnabled", default: false) {
                report.add("Auto Save", .skipped(why: "Sluice writes the session to its file all the time"))
            }
        default: unknown(element)
        }
    }

    private mutating func readSelectedHostsTool(_ element: XMLElement, named name: String?) {
        switch (name, loneTool) {
        case ("No Caching", _), (nil, .noCaching):
            tool = "No Caching"
            settings.noCaching = locationTool(element, hasAction: false)
        case ("Block Cookies", _), (nil, .blockCookies):
            tool = "Block Cookies"
            settings.blockCookies = locationTool(element, hasAction: false)
        case ("Client Process", _):
            if flag(element, "toolEnabled", default: false) {
                report.add("Client Process", .skipped(why: "Sluice has no such tool"))
            }
        default: skip(element, "which tool this is does not follow from its name")
        }
    }

    private mutating func skipUnlessEmpty(_ element: XMLElement, _ count: Int, _ what: String) {
        if count > 0 { report.add("\(tool): \(count) \(what)", .skipped(why: "Sluice has no such tool")) }
    }

    private mutating func list<Entry: CharlesEntry>(
        _ element: XMLElement,
        _ name: String,
        beside others: [String] = []
    ) -> CharlesTool<Entry> {
        check(element, knows: ["toolEnabled", name] + others)
        let isEnabled = flag(element, "toolEnabled", default: true)
        return CharlesTool(isEnabled: isEnabled, element[name].map { entries($0) } ?? [])
    }

    mutating func entries<Entry: CharlesEntry>(_ list: XMLElement) -> [Entry] {
        var entries: [Entry] = []
        for child in list.children {
            if child.name != Entry.element {
                unknown(child)
            } else if let entry = Entry(child, &self) {
                entries.append(entry)
            }
        }
        return entries
    }

    private mutating func locationTool(_ element: XMLElement, hasAction: Bool) -> CharlesLocationTool {
        check(
            element,
            knows: ["locations", "toolEnabled", "useSelectedLocations"] + (hasAction ? ["action"] : [])
        )
        let action = hasAction ? Int(number(element, "action", default: 0)) : nil
        return CharlesLocationTool(
            isEnabled: flag(element, "toolEnabled", default: true),
            usesLocations: flag(element, "useSelectedLocations", default: false),
            locations: places(element["locations"]),
            action: action
        )
    }

    // MARK: - Other settings

    /// Reads what the settings as a whole have beside the tools.
    mutating func readSections(_ root: XMLElement) {
        if let throttling = root["throttlingConfiguration"] {
            tool = "Throttle"
            var throttle = CharlesThrottle(throttling, &self)
            // A switch of the running program: just what it is to be at the start is stored.
            if let startup = root["startupConfiguration"], startup["throttling"] != nil {
                throttle.isEnabled = flag(startup, "throttling", default: false)
            }
            settings.throttle = throttle
        }
        if let proxy = root["proxyConfiguration"], proxy["sslLocations"] != nil || proxy["sslExcludeLocations"] != nil {
            tool = "SSL Proxying"
            settings.sslProxying = CharlesSSLProxying(
                isEnabled: flag(proxy, "decryptSSL", default: true),
                included: places(proxy["sslLocations"]),
                excluded: places(proxy["sslExcludeLocations"])
            )
        }
        tool = "Access Control"
        for range in root["accessControlConfiguration"]?["ipRanges"]?.children ?? [] { readRange(range) }
        tool = "Recording"
        for list in root["recordingConfiguration"]?.children ?? [] {
            let count = places(list).count
            guard count > 0 else { continue }
            let what = list.name == "recordHosts" ? "to record" : "to ignore"
            report.add("Recording: \(count) locations \(what)", .skipped(why: "Sluice records all exchanges"))
        }
        if let resolver = root["externalDNSResolverConfiguration"], flag(resolver, "enabled", default: false) {
            report.add("External DNS resolver", .skipped(why: "Sluice asks the system's"))
        }
    }

    /// An address and a mask, each as a list of numbers.
    private mutating func readRange(_ element: XMLElement) {
        func numbers(_ name: String) -> [UInt8] { element[name]?.children.compactMap { UInt8($0.text.trimmed) } ?? [] }
        let (address, mask) = (numbers("ip"), numbers("mask"))
        let bits = mask.map { String($0 | 0, radix: 2) }.map { String(repeating: "0", count: 8 - $0.count) + $0 }
            .joined()
        let length = bits.prefix { $0 == "1" }.count
        guard element.name == "ipRange", address.count == 4, mask.count == 4, !bits.dropFirst(length).contains("1")
        else {
            skip(element, "this is no range of IPv4 addresses with a mask that is a prefix")
            return
        }
        settings.access.append("\(address.map(String.init).joined(separator: "."))/\(length)")
    }
}
