import HTTPModel
import Rules

/// A tool that has only locations: No Caching, Block Cookies, Mirror, and two lists (Block List and Allow List).
private struct LocationTool {
    let isEnabled: Bool
    /// Whether only the listed locations count; the two lists always use their locations.
    let usesLocations: Bool
    let locations: [CharlesPlace]
    /// The action of the two lists: 0 drops the connection, 1 answers 403.
    let action: Int

    var isUsed: Bool { isEnabled || !locations.isEmpty }

    init(_ element: XMLElement, _ drafting: inout CharlesDrafting, hasAction: Bool = false) {
        let known = ["locations", "toolEnabled", "useSelectedLocations"]
        drafting.check(element, knows: known + (hasAction ? ["action"] : []))
        isEnabled = drafting.flag(element, "toolEnabled", default: true)
        usesLocations = drafting.flag(element, "useSelectedLocations", default: false)
        locations = drafting.places(element["locations"])
        action = hasAction ? Int(drafting.number(element, "action", default: 0)) : 0
    }

    /// The locations in runs that are all enabled, or all disabled.
    var runs: [[CharlesPlace]] {
        locations.reduce(into: []) { runs, place in
            if let last = runs.last?.last, last.isEnabled == place.isEnabled {
                runs[runs.count - 1].append(place)
            } else {
                runs.append([place])
            }
        }
    }
}

extension CharlesDrafting {
    /// A rule for each run of locations.
    private func entries(_ title: String, _ key: String, _ runs: [[CharlesPlace]]) -> [ProfileDraft.Entry] {
        runs.enumerated().map { number, run in
            let list = run.map(\.location.text).joined(separator: ", ")
            var entry = ProfileDraft.Entry(rule: "\(title) \(number + 1): \(list)")
            let values = run.map { $0.location.node(&entry.notes) }
            entry.fields = [Node.Member(key, .some(values))]
            if run.first?.isEnabled == false { entry.disable() }
            return entry
        }
    }

    /// No Caching and Block Cookies, which are for all locations or for selected ones.
    mutating func addEverywhereTool(_ element: XMLElement, _ kind: CharlesImport.LoneTool) {
        let tool = LocationTool(element, &self)
        guard tool.isUsed else { return }
        var entries = entries(kind.title, "only", tool.runs)
        if !tool.usesLocations {
            for index in entries.indices { entries[index].disable() }
            // The tool acts on everything; its list, which Charles keeps, is not in use.
            entries.insert(ProfileDraft.Entry(rule: kind.title, fields: [Node.Member("enabled", .word("true"))]), at: 0)
        } else if entries.isEmpty {
            let why = "it was for selected locations only, and none was selected"
            let fields = [Node.Member("enabled", .word("false"))]
            entries = [ProfileDraft.Entry(rule: kind.title, fields: fields, notes: [why])]
        }
        add(kind.rawValue, isEnabled: tool.isEnabled, entries)
    }

    /// Every location is a rule of its own.
    mutating func addBlockList(_ element: XMLElement) {
        let tool = LocationTool(element, &self, hasAction: true)
        let runs = tool.locations.map { [$0] }
        add("block", isEnabled: tool.isEnabled, refusing(entries("Block List", "at", runs), tool.action))
    }

    /// A request passes if any of the locations matches.
    mutating func addAllowList(_ element: XMLElement) {
        let tool = LocationTool(element, &self, hasAction: true)
        guard tool.isUsed else { return }
        var entries = refusing(entries("Allow List", "at", tool.runs), tool.action)
        if entries.isEmpty {
            let why = "the list is on and empty: it would let nothing pass"
            entries = [ProfileDraft.Entry(rule: "Allow List", fields: [Node.Member("at", .list([]))], skipped: why)]
        }
        add("allow", isEnabled: tool.isEnabled, entries)
    }

    /// The rules of a list with its action.
    private func refusing(_ entries: [ProfileDraft.Entry], _ code: Int) -> [ProfileDraft.Entry] {
        var entries = entries
        let action: Node = code == 0 ? .text("drop") : .word("403")
        for index in entries.indices { entries[index].fields.insert(Node.Member("action", action), at: 1) }
        if ![0, 1].contains(code), !entries.isEmpty {
            entries[0].notes.append("the action \(code) is not known; taken for an answer of 403")
        }
        return entries
    }

    mutating func addMirror(_ element: XMLElement) {
        let tool = LocationTool(element, &self)
        guard tool.isUsed else { return }
        let why = "Charles' directory is not imported; files are saved in 'mirrored' beside this file"
        var entries =
            tool.usesLocations ? entries("Mirror", "only", tool.runs) : [ProfileDraft.Entry(rule: "Mirror")]
        for index in entries.indices {
            entries[index].fields.insert(Node.Member("to", .text("mirrored/")), at: 0)
            entries[index].notes.insert(why, at: 0)
        }
        add("mirror", isEnabled: tool.isEnabled, entries)
    }

    /// Access Control: more allowed clients, each an address and a mask, written as lists of numbers.
    mutating func addAccess(_ ranges: XMLElement?) {
        tool = "Access Control"
        var entries: [ProfileDraft.Entry] = []
        for range in ranges?.children ?? [] {
            func numbers(_ name: String) -> [UInt8] {
                range[name]?.children.compactMap { UInt8($0.text.trimmed) } ?? []
            }
            let (address, mask) = (numbers("ip"), numbers("mask"))
            let bits = mask.reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            let length = (~bits).leadingZeroBitCount
            guard range.name == "ipRange", address.count == 4, mask.count == 4, bits.nonzeroBitCount == length else {
                skip(range, "this is no range of IPv4 addresses with a mask that is a prefix")
                continue
            }
            let text = "\(address.map(String.init).joined(separator: "."))/\(length)"
            entries.append(ProfileDraft.Entry(rule: "Access Control: \(text)", text: text))
        }
        add("access", entries)
    }

    /// SSL Proxying: a host is decrypted if it is among the included locations, and not among the excluded ones.
    mutating func addSSLProxying(_ element: XMLElement) {
        tool = "SSL Proxying"
        let isEnabled = flag(element, "decryptSSL", default: true)
        let (included, excluded) = (places(element["sslLocations"]), places(element["sslExcludeLocations"]))
        var notes: [String] = []
        func hosts(_ places: [CharlesPlace]) -> [Node] {
            places.filter(\.isEnabled).map { place in
                // Before anything is decrypted only host and port are known.
                CharlesLocation(host: place.location.host, port: place.location.port).node(&notes)
            }
        }
        let (only, except) = (hosts(included), hosts(excluded))
        noteDisabled(included + excluded, &notes)
        var fields: [Node.Member] = []
        if !isEnabled || only.isEmpty {
            fields = [Node.Member("except", .text("*"))]
            notes.append("Charles decrypted no host; without these lines Sluice decrypts all hosts")
        } else {
            let hasAll = included.contains { $0.isEnabled && $0.location.isEveryHost }
            if !hasAll { fields["only"] = .list(only) }
            if !except.isEmpty { fields["except"] = .list(except) }
        }
        guard !fields.isEmpty else { return }
        add("intercept", isMapping: true, [ProfileDraft.Entry(rule: "SSL Proxying", fields: fields, notes: notes)])
    }
}

extension CharlesLocation {
    fileprivate var isEveryHost: Bool { ["", "*"].contains(host.trimmed) && ["", "*", "0"].contains(port.trimmed) }
}
