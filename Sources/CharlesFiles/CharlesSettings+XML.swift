import Rules
import Tools

extension CharlesSettings {
    /// A tool that an exported file does not name, if it is that tool alone.
    package enum LoneTool: String, Sendable, Hashable, CaseIterable {
        case noCaching = "no-caching"
        case blockCookies = "block-cookies"
    }

    /// In bytes; larger files are refused.
    package static var largestFile: Int { XMLReader.mostBytes }

    /// The elements that a single tool's own export begins with.
    private static let loneElements: Set<String> = [
        "rewrite", "map", "mapLocal", "breakpoints", "dnsSpoofing", "rewriteSet-array", "blacklist", "whitelist",
        "mirror",
        "selectedHostsTool", "viewerMappings", "reverseProxies", "portForwarding", "autoSave",
    ]

    /// Reads settings: an export of several tools, of one tool, or the settings file of the program.
    ///
    /// - Parameters:
    ///   - bytes: the file.
    ///   - loneTool: what a `selectedHostsTool` that stands alone is, since Charles does not say.
    /// - Returns: the settings, and a report of what in them is not known.
    /// - Throws: ``CharlesError`` where it is no such file.
    package static func read(
        _ bytes: [UInt8],
        as loneTool: LoneTool? = nil
    ) throws(CharlesError) -> (settings: CharlesSettings, unread: FidelityReport) {
        let root = try XMLElement.read(bytes, keeping: isKept)
        var reading = CharlesReading(as: loneTool)
        switch root.name {
        case "charles-export", "configuration":
            for entry in root["toolConfiguration"]?["configs"]?.children ?? [] {
                let tools = entry.children.filter { $0.name != "string" }
                for tool in tools { reading.readTool(tool, named: entry["string"]?.text.trimmed ?? tool.name) }
            }
            reading.readSections(root)
        case "selectedHostsTool" where loneTool == nil:
            throw CharlesError(
                line: root.line,
                message: "this is one of No Caching, Block Cookies and Client Process, and does not say which; "
                    + "say it with --as no-caching or --as block-cookies",
                needsArgument: true
            )
        case let name where loneElements.contains(name): reading.readTool(root, named: nil)
        default: throw refusal(root)
        }
        return (reading.settings, reading.report)
    }

    private static func refusal(_ root: XMLElement) -> CharlesError {
        let message =
            switch root.name {
            case "java", "object", "void":
                "this was written by Charles 3.2 or older; open it in a newer Charles and export the settings again"
            case "charles-session": "this is a recorded session, not settings"
            default: "<\(root.name.singleLine(upTo: 40))> is nothing that Charles writes settings in"
            }
        return CharlesError(line: root.line, message: message)
    }

    /// The sections that are read, and what is read of those that have more in them than concerns Sluice.
    ///
    /// Everything else is not kept: there are licence keys, certificates, passwords and tokens in these files.
    private static let sections: [String: Set<String>] = [
        "toolConfiguration": ["configs"],
        "throttlingConfiguration": [],
        "startupConfiguration": ["throttling"],
        "proxyConfiguration": ["decryptSSL", "sslLocations", "sslExcludeLocations"],
        "accessControlConfiguration": ["ipRanges"],
        "recordingConfiguration": ["recordHosts", "ignoreHosts"],
        "externalDNSResolverConfiguration": ["enabled"],
    ]

    private static func isKept(_ path: [String]) -> Bool {
        guard path.count > 1 else { return true }
        guard path[0] == "charles-export" || path[0] == "configuration" else { return loneElements.contains(path[0]) }
        guard let kept = sections[path[1]] else { return false }
        return path.count == 2 || kept.isEmpty || kept.contains(path[2])
    }

    // MARK: - Writing

    /// The settings as Charles' own export of several tools; access control and SSL proxying are not among its tools.
    package var xml: String {
        var entries: [XMLElement] = []
        func add(_ name: String, _ element: XMLElement?) {
            if let element { entries.append(XMLElement("entry", [XMLElement("string", name), element])) }
        }
        add("Breakpoints", breakpoints?.xml("breakpoints", "breakpoints"))
        add("No Caching", noCaching?.xml("selectedHostsTool"))
        add("Block Cookies", blockCookies?.xml("selectedHostsTool"))
        add("Map Remote", mapRemote?.xml("map", "mappings"))
        add("Map Local", mapLocal?.xml("mapLocal", "mappings"))
        add("Rewrite", rewrite?.xml("rewrite", "sets", beside: [XMLElement("debugging", false)]))
        add("Block List", blockList?.xml("blacklist"))
        add("Allow List", allowList?.xml("whitelist"))
        add("DNS Spoofing", dnsSpoofing?.xml("dnsSpoofing", "spoofs"))
        add("Mirror", mirror?.xml("mirror"))
        var root = XMLElement("charles-export", [])
        root.children.append(XMLElement("toolConfiguration", [XMLElement("configs", entries)]))
        if let throttle { root.children.append(throttle.xml) }
        var text = "<?xml version='1.0' encoding='UTF-8' ?>\n<?charles serialisation-version='2.0' ?>\n"
        root.write(to: &text)
        return text
    }
}

extension CharlesTool where Entry: CharlesEntry {
    fileprivate func xml(_ name: String, _ list: String, beside others: [XMLElement] = []) -> XMLElement {
        XMLElement(name, [XMLElement("toolEnabled", isEnabled)] + others + [XMLElement(list, entries.map(\.xml))])
    }
}

extension CharlesLocationTool {
    fileprivate func xml(_ name: String) -> XMLElement {
        var children = [
            XMLElement("locations", [XMLElement(locations)]), XMLElement("toolEnabled", isEnabled),
            XMLElement("useSelectedLocations", usesLocations),
        ]
        if let action { children.append(XMLElement("action", "\(action)")) }
        return XMLElement(name, children)
    }
}
