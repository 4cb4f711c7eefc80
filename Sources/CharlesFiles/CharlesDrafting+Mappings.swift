import HTTPModel
import Rules
import Tools

/// The tools that redirect requests, answer them from files, or hold them.
extension CharlesDrafting {
    mutating func addMapRemote(_ element: XMLElement) {
        let known = ["sourceLocation", "destLocation", "preserveHostHeader", "enabled"]
        addList("map-remote", "Map Remote", element, "mappings", of: "mapMapping", with: known) {
            drafting,
            mapping,
            entry in
            drafting.begin(&entry, "from", mapping["sourceLocation"])
            let location = drafting.location(mapping["destLocation"])
            let destination = CharlesDrafting.destination(location, &entry.notes)
            entry.fields["to"] = .mapping(destination)
            let preservesHost = drafting.flag(mapping, "preserveHostHeader", default: false)
            if preservesHost { entry.fields["preserve-host"] = .word("true") }
            if destination.isEmpty { entry.skipped = "it has no destination" }
            return drafting.flag(mapping, "enabled", default: true)
        }
    }

    /// Begins a rule with its location as its first field, and names it after the location.
    @discardableResult
    private mutating func begin(
        _ entry: inout ProfileDraft.Entry,
        _ key: String,
        _ element: XMLElement?
    ) -> CharlesLocation {
        let location = location(element)
        entry.rule = location.text
        entry.fields = [Node.Member(key, location.node(&entry.notes))]
        return location
    }

    /// The parts of the destination that are not blank; a destination has no wildcards.
    private static func destination(_ location: CharlesLocation, _ notes: inout [String]) -> [Node.Member] {
        var fields: [Node.Member] = []
        for field in LocationPattern.Field.allCases {
            var text = location[field].trimmed
            // In Charles a star means an empty part here, too, because Charles shows empty parts as stars elsewhere.
            if text.isEmpty || text == "*" || field == .port && text == "0" { continue }
            if field == .path, text.first != "/" {
                text = "/" + text
                notes.append("a slash is put before the path of the destination")
            }
            if text.contains(/\$[0-9]/) {
                // In a profile `$1` would be the match of a star in the source.
                text = text.replacing("$", with: "$$")
                if field == .path {
                    notes.append("what is left of the request's path is not added to one that has a $ in it")
                }
            }
            text = ValueTemplate.escaped(text)
            let isNumber = field == .port && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
            fields[field.rawValue] = isNumber ? .word(text) : .text(text)
        }
        return fields
    }

    mutating func addMapLocal(_ element: XMLElement) {
        let known = ["sourceLocation", "dest", "enabled", "caseSensitive"]
        addList("map-local", "Map Local", element, "mappings", of: "mapLocalMapping", with: known) {
            drafting,
            mapping,
            entry in
            let from = drafting.begin(&entry, "from", mapping["sourceLocation"])
            let path = drafting.path(mapping.text("dest").trimmed, for: from.path.trimmed, &entry.notes)
            entry.fields["to"] = .text(path)
            entry.fields["on-miss"] = .text("pass")
            if path.isEmpty { entry.skipped = "it has no file or directory" }
            let isEnabled = drafting.flag(mapping, "enabled", default: true)
            let isCaseSensitive = drafting.flag(mapping, "caseSensitive", default: true)
            if !isCaseSensitive { entry.fields["case-sensitive"] = .word("false") }
            return isEnabled
        }
    }

    private func path(_ path: String, for source: String, _ notes: inout [String]) -> String {
        let last = path.split { "/\\".contains($0) }.last ?? ""
        if source.count > 1, source.hasSuffix("/"), !source.contains(where: { "*?[".contains($0) }), !last.contains(".")
        {
            let below = "older versions of Charles meant what is below it, \(source)*, too"
            notes.append("the path matches just itself; \(below)")
        }
        for change in paths {
            if let changed = CharlesDrafting.path(path, with: change) { return changed }
        }
        if CharlesDrafting.isWindowsPath(path) {
            let end = path.lastIndex { "/\\".contains($0) } ?? path.endIndex
            notes.append("it is a Windows path; give --remap-path '\(path[..<end])=NEW'")
        }
        return path
    }

    private static func isWindowsPath(_ path: String) -> Bool {
        let start = Array(path.utf8.prefix(3))
        let hasDrive =
            start.count == 3 && (start[0] | 0x20) &- 0x61 < 26 && start[1] == 0x3A && [0x2F, 0x5C].contains(start[2])
        return hasDrive || path.hasPrefix("\\\\")
    }

    /// The path with its beginning replaced, by whole names; `nil` if it begins differently. Windows paths are compared
    /// without regard to case and to the kind of slash.
    static func path(_ path: String, with change: CharlesImport.PathChange) -> String? {
        let isWindows = isWindowsPath(path)
        func isSlash(_ character: Character) -> Bool { character == "/" || isWindows && character == "\\" }
        func same(_ text: String) -> String {
            let slashes = String(text.map { isSlash($0) ? "/" : $0 })
            return isWindows ? slashes.lowercased() : slashes
        }
        var old = change.old
        while old.count > 1, let last = old.last, isSlash(last) { old.removeLast() }
        let isPrefix = same(path).hasPrefix(same(old))
        guard isPrefix, path.count >= old.count else { return nil }
        let rest = path.dropFirst(old.count)
        guard rest.isEmpty || old.last.map(isSlash) == true || rest.first.map(isSlash) == true else { return nil }
        var new = change.new
        while new.count > 1, new.hasSuffix("/") { new.removeLast() }
        let tail = String(rest.drop(while: isSlash).map { isSlash($0) ? "/" : $0 })
        if tail.isEmpty { return rest.isEmpty ? new : new + "/" }
        return new + (new.hasSuffix("/") ? "" : "/") + tail
    }

    /// The method is in an element called `scheme`.
    mutating func addBreakpoints(_ element: XMLElement) {
        let known = ["location", "scheme", "request", "response", "enabled"]
        addList("breakpoints", "Breakpoints", element, "breakpoints", of: "breakpoint", with: known) {
            drafting,
            breakpoint,
            entry in
            drafting.begin(&entry, "at", breakpoint["location"])
            let method = breakpoint.text("scheme").trimmed
            if !method.isEmpty, method != "*" { entry.fields["method"] = .text(method) }
            let held = ["request", "response"].filter { drafting.flag(breakpoint, $0, default: false) }
            entry.fields["on"] = .texts(held.isEmpty ? ["request", "response"] : held)
            if held.isEmpty { entry.notes.append("it held neither requests nor responses, so it is not enabled") }
            return drafting.flag(breakpoint, "enabled", default: true) && !held.isEmpty
        }
    }

    mutating func addSpoofs(_ element: XMLElement) {
        let known = ["name", "address", "enabled"]
        addList("dns-spoofing", "DNS Spoofing", element, "spoofs", of: "dnsSpoof", with: known) {
            drafting,
            spoof,
            entry in
            let (host, address) = (spoof.text("name").trimmed, spoof.text("address").trimmed)
            entry.rule = host
            entry.fields = [Node.Member("host", .text(host)), Node.Member("address", .text(address))]
            entry.skipped = host.isEmpty ? "it has no host" : address.isEmpty ? "it has no address" : nil
            return drafting.flag(spoof, "enabled", default: true)
        }
    }
}
