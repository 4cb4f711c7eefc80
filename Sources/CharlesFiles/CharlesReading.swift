import Rules
import Tools

/// Reads the elements of Charles' settings.
struct CharlesReading {
    var settings = CharlesSettings()
    /// Unreadable settings.
    private(set) var report = FidelityReport()
    private static let mostLines = 1_000
    private var tool = ""
    private var seen: Set<String> = []
    /// The tool of a single `selectedHostsTool`.
    private let loneTool: CharlesSettings.LoneTool?

    init(as loneTool: CharlesSettings.LoneTool?) { self.loneTool = loneTool }

    // MARK: - Values

    mutating func flag(_ element: XMLElement, _ name: String, default fallback: Bool) -> Bool {
        guard let child = element[name] else { return fallback }
        switch child.text.trimmed.lowercased() {
        case "true", "1": return true
        case "false", "0": return false
        case "": return fallback
        default:
            skip(child, "it is neither true nor false; read as \(fallback)")
            return fallback
        }
    }

    mutating func number(_ element: XMLElement, _ name: String, default fallback: Double) -> Double {
        guard let child = element[name], !child.text.trimmed.isEmpty else { return fallback }
        if let number = Double(child.text.trimmed), number.isFinite, number >= 0, number < 1e12 { return number }
        skip(child, "it is not a valid number; read as \(GrammarValue.text(fallback))")
        return fallback
    }

    /// The locations of an element with `locationPatterns`.
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

    /// Reports unknown children.
    mutating func check(_ element: XMLElement, knows names: [String]) {
        for child in element.children where !names.contains(child.name) { unknown(child) }
    }

    mutating func unknown(_ element: XMLElement) { skip(element, "this element is unknown") }

    mutating func skip(_ element: XMLElement, _ why: String) {
        guard report.lines.count < CharlesReading.mostLines else { return }
        if report.lines.count == CharlesReading.mostLines - 1 {
            let why = "there are too many unknown elements here"
            report.add("\(tool), line \(element.line) and after", .skipped(why: why))
        } else {
            report.add("\(tool), line \(element.line): <\(element.name)>", .skipped(why: why))
        }
    }

    // MARK: - Tools

    /// Reads a tool by its element and the name in its entry, `nil` if it stands alone.
    mutating func readTool(_ element: XMLElement, named name: String?) {
        tool = name ?? element.name
        let isSelectedHosts = element.name == CharlesToolElement.selectedHosts
        // Tools have had two names, and a file from in between could have both.
        guard seen.insert(isSelectedHosts ? tool : element.name).inserted else {
            skip(element, "the tool is there a second time")
            return
        }
        let known = CharlesToolElement.all.first {
            $0.name == element.name && (!isSelectedHosts || $0.title == name ?? loneTool?.title)
        }
        if let known {
            if isSelectedHosts { tool = known.title }
            known.read(element, &self)
            return
        }
        switch element.name {
        case "rewriteSet-array":
            tool = "Rewrite"
            settings.rewrite = CharlesTool(entries(element))
        case CharlesToolElement.selectedHosts where name == "Client Process":
            if flag(element, "toolEnabled", default: false) {
                report.add("Client Process", .skipped(why: "Sluice has no such tool"))
            }
        case CharlesToolElement.selectedHosts: skip(element, "its name does not tell which tool it is")
        case "reverseProxies": skipUnlessEmpty(element["reverseProxies"]?.children.count ?? 0, "mappings")
        case "portForwarding": skipUnlessEmpty(element["portForwardings"]?.children.count ?? 0, "ports")
        case "viewerMappings": skipUnlessEmpty(element["mappings"]?.children.count ?? 0, "mappings")
        case "autoSave":
            if flag(element, "toolEnabled", default: false) {
                report.add("Auto Save", .skipped(why: "Sluice writes the session to its file all the time"))
            }
        default: unknown(element)
        }
    }

    private mutating func skipUnlessEmpty(_ count: Int, _ what: String) {
        if count > 0 { report.add("\(tool): \(count) \(what)", .skipped(why: "Sluice has no such tool")) }
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

    // MARK: - Other settings

    mutating func readSections(_ root: XMLElement) {
        if let throttling = root["throttlingConfiguration"] {
            tool = "Throttle"
            var throttle = CharlesThrottle(throttling, &self)
            // A switch of the running program, of which only the state at startup is stored.
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

    /// An address and a mask as lists of numbers.
    private mutating func readRange(_ element: XMLElement) {
        func numbers(_ name: String) -> [UInt8] { element[name]?.children.compactMap { UInt8($0.text.trimmed) } ?? [] }
        let (address, mask) = (numbers("ip"), numbers("mask"))
        let bits = mask.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let length = (~bits).leadingZeroBitCount
        guard element.name == "ipRange", address.count == 4, mask.count == 4, bits.nonzeroBitCount == length else {
            skip(element, "this is no range of IPv4 addresses with a mask that is a prefix")
            return
        }
        settings.access.append("\(address.map(String.init).joined(separator: "."))/\(length)")
    }
}
