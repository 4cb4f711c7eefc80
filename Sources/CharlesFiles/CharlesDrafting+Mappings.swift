import HTTPModel
import Rules
import Tools

/// The tools that send requests somewhere else, or hold them.
extension CharlesDrafting {
    mutating func addMapRemote(_ tool: CharlesTool<CharlesRemoteMapping>) {
        let entries = list("Map Remote", tool) {
            words($0.from)
        } draft: { mapping, entry in
            entry.fields = [Node.Member("from", value(mapping.from, &entry.notes))]
            let destination = destination(mapping.to, &entry.notes)
            entry.fields["to"] = .mapping(destination)
            if mapping.preservesHost { entry.fields["preserve-host"] = .word("true") }
            if destination.isEmpty { entry.skipped = "it has no destination" }
            return mapping.isEnabled
        }
        add("map-remote", isEnabled: tool.isEnabled, entries)
    }

    /// The parts of the destination that are not blank; a destination has no wildcards.
    private func destination(_ location: CharlesLocation, _ notes: inout [String]) -> [Node.Member] {
        var fields: [Node.Member] = []
        for field in LocationPattern.Field.allCases {
            var text = location[field].trimmed
            // In Charles a star, which it shows for a blank part elsewhere, means blank here too.
            if text.isEmpty || text == "*" || field == .port && text == "0" { continue }
            if field == .path, text.first != "/" {
                text = "/" + text
                notes.append("a slash is put before the path of the destination")
            }
            if text.contains(/\$[0-9]/) {
                // In a profile this would be what a star of the source matches.
                text = text.replacing("$", with: "$$")
                if field == .path {
                    notes.append("what is left of the request's path is not added to one that has a $ in it")
                }
            }
            let isNumber = field == .port && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
            fields[field.rawValue] = isNumber ? .word(text) : .text(text)
        }
        return fields
    }

    mutating func addMapLocal(_ tool: CharlesTool<CharlesLocalMapping>) {
        let entries = list("Map Local", tool) {
            words($0.from)
        } draft: { mapping, entry in
            entry.fields = [Node.Member("from", value(mapping.from, &entry.notes))]
            let path = path(mapping, &entry.notes)
            entry.fields["to"] = .text(path)
            entry.fields["on-miss"] = .text("pass")
            if !mapping.isCaseSensitive { entry.fields["case-sensitive"] = .word("false") }
            if path.isEmpty { entry.skipped = "it has no file or directory" }
            return mapping.isEnabled
        }
        add("map-local", isEnabled: tool.isEnabled, entries)
    }

    private func path(_ mapping: CharlesLocalMapping, _ notes: inout [String]) -> String {
        let path = mapping.to.trimmed
        let source = mapping.from.path.trimmed
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

    /// The path with its beginning changed, by whole names; `nil` if it begins otherwise. Windows' paths compare
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

    mutating func addBreakpoints(_ tool: CharlesTool<CharlesBreakpoint>) {
        let entries = list("Breakpoints", tool) {
            words($0.location)
        } draft: { breakpoint, entry in
            entry.fields = [Node.Member("at", value(breakpoint.location, &entry.notes))]
            let method = breakpoint.method.trimmed
            if !method.isEmpty, method != "*" { entry.fields["method"] = .text(method) }
            let directions = [(breakpoint.onRequest, "request"), (breakpoint.onResponse, "response")]
            let held = directions.filter(\.0).map(\.1)
            entry.fields["on"] = .texts(held.isEmpty ? ["request", "response"] : held)
            if held.isEmpty { entry.notes.append("it held neither requests nor responses, so it is not enabled") }
            return breakpoint.isEnabled && !held.isEmpty
        }
        add("breakpoints", isEnabled: tool.isEnabled, entries)
    }

    mutating func addSpoofs(_ tool: CharlesTool<CharlesSpoof>) {
        let entries = list("DNS Spoofing", tool) {
            $0.host.trimmed
        } draft: { spoof, entry in
            let (host, address) = (spoof.host.trimmed, spoof.address.trimmed)
            entry.fields = [Node.Member("host", .text(host)), Node.Member("address", .text(address))]
            entry.skipped = host.isEmpty ? "it has no host" : address.isEmpty ? "it has no address" : nil
            return spoof.isEnabled
        }
        add("dns-spoofing", isEnabled: tool.isEnabled, entries)
    }

    mutating func addThrottle(_ throttle: CharlesThrottle) {
        let presets = throttle.presets.map { preset in
            let field = Node.Member(preset.name, .mapping(self.fields(preset.values)))
            return ProfileDraft.Entry(rule: "Throttle preset \(preset.name)", fields: [field])
        }
        if !presets.isEmpty {
            draft.sections.append(ProfileDraft.Section(key: "presets", entries: presets, isMapping: true))
        }
        var fields = self.fields(throttle.values)
        var notes: [String] = []
        if let name = presetName(throttle.values) { fields.insert(Node.Member("name", .text(name)), at: 0) }
        if throttle.values.down == 0 || throttle.values.up == 0 {
            notes.append("a bandwidth of 0 is taken for no limit")
        }
        if throttle.usesHosts {
            let hosts = throttle.hosts.filter(\.isEnabled).map { value($0.location, &notes) }
            if hosts.isEmpty {
                fields["enabled"] = .word("false")
                notes.append("it was for selected hosts only, and none was selected")
            } else {
                fields["only"] = .some(hosts)
            }
        }
        let rule = "Throttle \(GrammarValue.text(throttle.values.down))/\(GrammarValue.text(throttle.values.up)) kbit/s"
        if throttle.isEnabled == nil {
            notes.append("the settings do not say whether throttling was on, so it is off here")
        }
        let entry = ProfileDraft.Entry(rule: rule, fields: fields, notes: notes)
        add("throttle", isEnabled: throttle.isEnabled ?? false, [entry])
    }

    private func fields(_ values: CharlesThrottleValues) -> [Node.Member] {
        // In a profile 0 means no network; Charles' fields do not take it, so it can only mean no limit.
        var fields: [Node.Member] = []
        if values.down > 0 { fields["down"] = .number(values.down) }
        if values.up > 0 { fields["up"] = .number(values.up) }
        let (down, up) = (values.downUtilisation, values.upUtilisation)
        if down != up {
            let both = [Node.Member("down", .number(down)), Node.Member("up", .number(up))]
            fields["utilisation"] = .mapping(both)
        } else if down != 100 {
            fields["utilisation"] = .number(down)
        }
        fields["latency"] = .number(values.latency)
        fields["mtu"] = .number(values.mtu)
        if values.reliability != 100 { fields["reliability"] = .number(values.reliability) }
        if values.stability != 100 {
            fields["stability"] = .number(values.stability)
            fields["quality"] = .list([.number(values.lowQuality), .number(values.highQuality)])
        }
        return fields
    }

    /// The name of Charles' preset with these numbers.
    private func presetName(_ values: CharlesThrottleValues) -> String? {
        ThrottlePreset.all.first { preset in
            let (own, stable) = (preset.conditions, values.reliability == 100 && values.stability == 100)
            return stable && (own.down, own.up, own.latency) == (values.down, values.up, values.latency)
                && (own.utilisationDown, own.utilisationUp) == (values.downUtilisation, values.upUtilisation)
                && Double(own.mtu) == values.mtu
        }?.charlesName
    }
}
