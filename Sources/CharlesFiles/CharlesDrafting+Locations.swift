import HTTPModel
import Rules
import Tools

/// The tools that have nothing but locations.
extension CharlesDrafting {
    private func words(_ count: Int, _ tool: String, _ places: [CharlesPlace]) -> String {
        "\(tool) \(count): \(places.map { words($0.location) }.joined(separator: ", "))"
    }

    /// Neighbours that are all enabled, or all not.
    private func runs(_ places: [CharlesPlace]) -> [[CharlesPlace]] {
        var runs: [[CharlesPlace]] = []
        for place in places {
            if let last = runs.last?.last, last.isEnabled == place.isEnabled {
                runs[runs.count - 1].append(place)
            } else {
                runs.append([place])
            }
        }
        return runs
    }

    private func entry(_ rule: String, _ key: String, _ places: [CharlesPlace]) -> ProfileDraft.Entry {
        var notes: [String] = []
        let values = places.map { value($0.location, &notes) }
        var entry = ProfileDraft.Entry(rule, [Node.Member(key, .some(values))], notes: notes)
        if places.first?.isEnabled == false { entry.fields["enabled"] = .word("false") }
        return entry
    }

    /// No Caching and Block Cookies, which are for all locations or for selected ones.
    mutating func addEverywhereTool(_ tool: CharlesLocationTool, _ key: String, _ name: String) {
        guard tool.isEnabled || !tool.locations.isEmpty else { return }
        var entries = runs(tool.locations).enumerated().map { number, run in
            entry(words(number + 1, name, run), "only", run)
        }
        if !tool.usesLocations {
            for index in entries.indices {
                entries[index].fields["enabled"] = .word("false")
            }
            // Without its list, which Charles keeps for the day that it is asked for, the tool is for everything.
            entries.insert(ProfileDraft.Entry(name, [Node.Member("enabled", .word("true"))]), at: 0)
        } else if entries.isEmpty {
            let why = "it was for selected locations only, and none was selected"
            entries = [ProfileDraft.Entry(name, [Node.Member("enabled", .word("false"))], notes: [why])]
        }
        add(key, isEnabled: tool.isEnabled, entries)
    }

    /// Every location is a rule of its own.
    mutating func addBlockList(_ tool: CharlesLocationTool) {
        var (action, notes) = refusal(tool)
        let entries = tool.locations.enumerated().map { number, place in
            var entry = entry(words(number + 1, "Block List", [place]), "at", [place])
            entry.fields.insert(Node.Member("action", action), at: 1)
            entry.notes += notes
            notes = []
            return entry
        }
        add("block", isEnabled: tool.isEnabled, entries)
    }

    /// A request passes if any of the locations matches.
    mutating func addAllowList(_ tool: CharlesLocationTool) {
        guard tool.isEnabled || !tool.locations.isEmpty else { return }
        var (action, notes) = refusal(tool)
        var entries = runs(tool.locations).enumerated().map { number, run in
            var entry = entry(words(number + 1, "Allow List", run), "at", run)
            entry.fields.insert(Node.Member("action", action), at: 1)
            entry.notes += notes
            notes = []
            return entry
        }
        if entries.isEmpty {
            let why = "the list is on and empty: it would let nothing pass"
            entries = [ProfileDraft.Entry("Allow List", [Node.Member("at", .list([]))], skipped: why)]
        }
        add("allow", isEnabled: tool.isEnabled, entries)
    }

    private func refusal(_ tool: CharlesLocationTool) -> (action: Node, notes: [String]) {
        switch tool.action {
        case nil, 0: (.text("drop"), [])
        case 1: (.word("403"), [])
        case .some(let code): (.word("403"), ["the action \(code) is not known; taken for an answer of 403"])
        }
    }

    mutating func addMirror(_ tool: CharlesLocationTool) {
        guard tool.isEnabled || !tool.locations.isEmpty else { return }
        let why = "where Charles saved is not taken over; here it is the directory 'mirrored' beside this file"
        let to = Node.Member("to", .text("mirrored/"))
        guard tool.usesLocations else {
            add("mirror", isEnabled: tool.isEnabled, [ProfileDraft.Entry("Mirror", [to], notes: [why])])
            return
        }
        let entries = runs(tool.locations).enumerated().map { number, run in
            var entry = entry(words(number + 1, "Mirror", run), "only", run)
            entry.fields.insert(to, at: 0)
            entry.notes.insert(why, at: 0)
            return entry
        }
        add("mirror", isEnabled: tool.isEnabled, entries)
    }
}
