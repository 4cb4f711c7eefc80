import Rules

/// Which elements of the settings are read.
extension CharlesDrafting {
    /// The element that several tools share; only the name beside it says which tool it is.
    private static let selectedHosts = "selectedHostsTool"

    /// The root elements of single tools' exports.
    private static let loneElements: Set<String> = [
        "breakpoints", selectedHosts, "map", "mapLocal", "rewrite", "blacklist", "whitelist", "dnsSpoofing", "mirror",
        "rewriteSet-array", "viewerMappings", "reverseProxies", "portForwarding", "autoSave",
    ]

    mutating func read(_ bytes: [UInt8]) throws(CharlesError) {
        let root = try XMLElement.read(bytes, keeping: CharlesDrafting.isKept)
        switch root.name {
        case "charles-export", "configuration":
            for entry in root["toolConfiguration"]?["configs"]?.children ?? [] {
                let tools = entry.children.filter { $0.name != "string" }
                for tool in tools { readTool(tool, named: entry["string"]?.text.trimmed ?? tool.name) }
            }
            readSections(root)
        case CharlesDrafting.selectedHosts where loneTool == nil:
            let problem = "this is No Caching, Block Cookies or Client Process; the file does not tell which"
            let message = "\(problem); say it with --as no-caching or --as block-cookies"
            throw CharlesError(line: root.line, message: message, needsArgument: true)
        case let name where CharlesDrafting.loneElements.contains(name): readTool(root, named: nil)
        default: throw CharlesDrafting.refusal(root)
        }
    }

    private static func refusal(_ root: XMLElement) -> CharlesError {
        let message =
            switch root.name {
            case "java", "object", "void":
                "this was written by Charles 3.2 or older; open it in a newer Charles and export the settings again"
            case "charles-session": "this is a recorded session, not settings"
            default: "<\(root.name.singleLine(upTo: 40))> is not an element of Charles' settings"
            }
        return CharlesError(line: root.line, message: message)
    }

    /// The sections to read; if Sluice needs only some of a section, the elements to read. Nothing else is kept,
    /// because these files have licence keys, certificates, passwords and tokens.
    private static let keptElements: [String: Set<String>] = [
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
        guard let kept = keptElements[path[1]] else { return false }
        return path.count == 2 || kept.isEmpty || kept.contains(path[2])
    }

    /// Reads a tool by its element and the name in its entry, `nil` if the file has only this tool.
    private mutating func readTool(_ element: XMLElement, named name: String?) {
        tool = name ?? element.name
        // Tools were renamed, and a file from the time between could have both names.
        guard seen.insert(element.name == CharlesDrafting.selectedHosts ? tool : element.name).inserted else {
            skip(element, "the tool is there a second time")
            return
        }
        switch element.name {
        case "breakpoints": addBreakpoints(element)
        case "map": addMapRemote(element)
        case "mapLocal": addMapLocal(element)
        case "rewrite": addRewrite(element)
        case "rewriteSet-array":
            tool = "Rewrite"
            addRewriteSets(element, isEnabled: true)
        case "blacklist": addBlockList(element)
        case "whitelist": addAllowList(element)
        case "dnsSpoofing": addSpoofs(element)
        case "mirror": addMirror(element)
        case CharlesDrafting.selectedHosts: readSelectedHosts(element, named: name)
        case "reverseProxies": skipUnlessEmpty(element["reverseProxies"]?.children.count ?? 0, "mappings")
        case "portForwarding": skipUnlessEmpty(element["portForwardings"]?.children.count ?? 0, "ports")
        case "viewerMappings": skipUnlessEmpty(element["mappings"]?.children.count ?? 0, "mappings")
        case "autoSave":
            if flag(element, "toolEnabled", default: false) {
                unread.add("Auto Save", .skipped(why: "Sluice writes the session to its file all the time"))
            }
        default: unknown(element)
        }
    }

    private mutating func readSelectedHosts(_ element: XMLElement, named name: String?) {
        let title = name ?? loneTool?.title
        if let known = CharlesImport.LoneTool.allCases.first(where: { $0.title == title }) {
            tool = known.title
            addEverywhereTool(element, known)
        } else if name != "Client Process" {
            skip(element, "its name does not tell which tool it is")
        } else if flag(element, "toolEnabled", default: false) {
            unread.add("Client Process", .skipped(why: "Sluice has no such tool"))
        }
    }

    private mutating func skipUnlessEmpty(_ count: Int, _ what: String) {
        if count > 0 { unread.add("\(tool): \(count) \(what)", .skipped(why: "Sluice has no such tool")) }
    }

    private mutating func readSections(_ root: XMLElement) {
        if let throttling = root["throttlingConfiguration"] { addThrottle(throttling, root["startupConfiguration"]) }
        if let proxy = root["proxyConfiguration"], proxy["sslLocations"] != nil || proxy["sslExcludeLocations"] != nil {
            addSSLProxying(proxy)
        }
        addAccess(root["accessControlConfiguration"]?["ipRanges"])
        tool = "Recording"
        for list in root["recordingConfiguration"]?.children ?? [] {
            let count = places(list).count
            guard count > 0 else { continue }
            let what = list.name == "recordHosts" ? "to record" : "to ignore"
            unread.add("Recording: \(count) locations \(what)", .skipped(why: "Sluice records all exchanges"))
        }
        if let resolver = root["externalDNSResolverConfiguration"], flag(resolver, "enabled", default: false) {
            unread.add("External DNS resolver", .skipped(why: "Sluice asks the system's"))
        }
    }
}
