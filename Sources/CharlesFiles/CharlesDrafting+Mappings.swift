import HTTPModel
import Rules
import Tools

/// The tools that send requests somewhere else, or hold them.
extension CharlesDrafting {
    // MARK: - Map Remote

    mutating func addMapRemote(_ tool: CharlesTool<CharlesRemoteMapping>) {
        let entries = tool.entries.enumerated().map { number, mapping in
            var notes: [String] = []
            var fields = [Node.Member("from", value(mapping.from, &notes))]
            let destination = destination(mapping.to, &notes)
            fields["to"] = .mapping(destination)
            if mapping.preservesHost { fields["preserve-host"] = .word("true") }
            if !mapping.isEnabled { fields["enabled"] = .word("false") }
            let rule = "Map Remote \(number + 1): \(words(mapping.from))"
            let skipped = destination.isEmpty ? "it has no destination" : nil
            return ProfileDraft.Entry(rule, fields, notes: notes, skipped: skipped)
        }
        add("map-remote", isEnabled: tool.isEnabled, entries)
    }

    /// The parts of the destination that are not blank; a destination has no wildcards.
    private func destination(_ location: CharlesLocation, _ notes: inout [String]) -> [Node.Member] {
        var fields: [Node.Member] = []
        for field in LocationPattern.Field.allCases {
            var text = location[field].trimmed
            // Charles takes a star, as it fills in for what is blank elsewhere, for blank here too.
            if text.isEmpty || text == "*" || field == .port && text == "0" { continue }
            if field == .path, text.first != "/" {
                text = "/" + text
                notes.append("a slash is put before the path of the destination")
            }
            if text.contains(/\$[0-9]/) {
                // To a profile this would be what a star of the source stands for.
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

    // MARK: - Map Local

    mutating func addMapLocal(_ tool: CharlesTool<CharlesLocalMapping>) {
        let entries = tool.entries.enumerated().map { number, mapping in
            var notes: [String] = []
            var fields = [Node.Member("from", value(mapping.from, &notes))]
            let path = path(mapping, &notes)
            fields["to"] = .text(path)
            fields["on-miss"] = .text("pass")
            if !mapping.isCaseSensitive { fields["case-sensitive"] = .word("false") }
            if !mapping.isEnabled { fields["enabled"] = .word("false") }
            let rule = "Map Local \(number + 1): \(words(mapping.from))"
            let skipped = path.isEmpty ? "it has no file or directory" : nil
            return ProfileDraft.Entry(rule, fields, notes: notes, skipped: skipped)
        }
        add("map-local", isEnabled: tool.isEnabled, entries)
    }

    private func path(_ mapping: CharlesLocalMapping, _ notes: inout [String]) -> String {
        let path = mapping.to.trimmed
        let source = mapping.from.path.trimmed
        let last = path.split { "/\\".contains($0) }.last ?? ""
        if source.count > 1, source.hasSuffix("/"), !source.contains(where: { "*?[".contains($0) }), !last.contains(".")
        {
            notes.append(
                "the path matches just itself; older versions of Charles meant what is below it, \(source)*, too"
            )
        }
        for change in paths {
            if let changed = CharlesDrafting.path(path, with: change) { return changed }
        }
        if CharlesDrafting.isWindowsPath(path) {
            let end = path.lastIndex { "/\\".contains($0) } ?? path.endIndex
            let directory = path[..<end]
            notes.append("it is a Windows path; give --remap-path '\(directory)=NEW'")
        }
        return path
    }

    private static func isWindowsPath(_ path: String) -> Bool {
        let start = Array(path.utf8.prefix(3))
        let hasDrive =
            start.count == 3 && (start[0] | 0x20) &- 0x61 < 26 && start[1] == 0x3A && [0x2F, 0x5C].contains(start[2])
        return hasDrive || path.hasPrefix("\\\\")
    }

    /// The path with its beginning changed; `nil` where it begins otherwise.
    ///
    /// Only whole names count. Windows' paths compare without regard to case, either slash for the other.
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

    // MARK: - Breakpoints

    mutating func addBreakpoints(_ tool: CharlesTool<CharlesBreakpoint>) {
        let entries = tool.entries.enumerated().map { number, breakpoint in
            var notes: [String] = []
            var fields = [Node.Member("at", value(breakpoint.location, &notes))]
            let method = breakpoint.method.trimmed
            if !method.isEmpty, method != "*" { fields["method"] = .text(method) }
            var directions: [String] = []
            if breakpoint.onRequest { directions.append("request") }
            if breakpoint.onResponse { directions.append("response") }
            var isEnabled = breakpoint.isEnabled
            if directions.isEmpty {
                directions = ["request", "response"]
                isEnabled = false
                notes.append("it held neither requests nor responses, so it is not enabled")
            }
            fields["on"] = .texts(directions)
            if !isEnabled { fields["enabled"] = .word("false") }
            return ProfileDraft.Entry("Breakpoints \(number + 1): \(words(breakpoint.location))", fields, notes: notes)
        }
        add("breakpoints", isEnabled: tool.isEnabled, entries)
    }

    // MARK: - DNS Spoofing

    mutating func addSpoofs(_ tool: CharlesTool<CharlesSpoof>) {
        let entries = tool.entries.enumerated().map { number, spoof in
            let (host, address) = (spoof.host.trimmed, spoof.address.trimmed)
            var fields = [Node.Member("host", .text(host)), Node.Member("address", .text(address))]
            if !spoof.isEnabled { fields["enabled"] = .word("false") }
            let missing = host.isEmpty ? "it has no host" : address.isEmpty ? "it has no address" : nil
            return ProfileDraft.Entry("DNS Spoofing \(number + 1): \(host)", fields, skipped: missing)
        }
        add("dns-spoofing", isEnabled: tool.isEnabled, entries)
    }

    // MARK: - Throttle

    mutating func addThrottle(_ throttle: CharlesThrottle) {
        var entries: [ProfileDraft.Entry] = []
        for preset in throttle.presets {
            let field = Node.Member(preset.name, .mapping(fields(preset.values)))
            entries.append(ProfileDraft.Entry("Throttle preset \(preset.name)", [field]))
        }
        draft.sections +=
            entries.isEmpty ? [] : [ProfileDraft.Section(key: "presets", entries: entries, isMapping: true)]
        var fields = fields(throttle.values)
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
        let entry = ProfileDraft.Entry(rule, fields, notes: notes)
        add("throttle", isEnabled: throttle.isEnabled ?? false, [entry])
    }

    private func fields(_ values: CharlesThrottleValues) -> [Node.Member] {
        // To a profile 0 is a network that is not there; Charles' fields do not take it, so it can only mean no limit.
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

    /// What Charles calls a set of numbers; `nil` where it is none of its presets.
    private func presetName(_ values: CharlesThrottleValues) -> String? {
        ThrottlePreset.all.first { preset in
            let conditions = preset.conditions
            return conditions.down == values.down && conditions.up == values.up && conditions.latency == values.latency
                && conditions.utilisationDown == values.downUtilisation
                && conditions.utilisationUp == values.upUtilisation && Double(conditions.mtu) == values.mtu
                && values.reliability == 100 && values.stability == 100
        }?.charlesName
    }
}
