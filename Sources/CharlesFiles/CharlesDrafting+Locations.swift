import HTTPModel
import Rules
import Tools

/// The tools that have only locations.
extension CharlesDrafting {
    /// Neighbours that are all enabled, or all disabled.
    private func runs(_ places: [CharlesPlace]) -> [[CharlesPlace]] {
        places.reduce(into: []) { runs, place in
            if let last = runs.last?.last, last.isEnabled == place.isEnabled {
                runs[runs.count - 1].append(place)
            } else {
                runs.append([place])
            }
        }
    }

    /// A rule for each run of locations.
    private func entries(_ title: String, _ key: String, _ runs: [[CharlesPlace]]) -> [ProfileDraft.Entry] {
        runs.enumerated().map { number, run in
            let list = run.map { words($0.location) }.joined(separator: ", ")
            var entry = ProfileDraft.Entry(rule: "\(title) \(number + 1): \(list)")
            let values = run.map { value($0.location, &entry.notes) }
            entry.fields = [Node.Member(key, .some(values))]
            if run.first?.isEnabled == false { entry.disable() }
            return entry
        }
    }

    /// No Caching and Block Cookies, which are for all locations or for selected ones.
    mutating func addEverywhereTool(_ tool: CharlesLocationTool, _ key: String, _ title: String) {
        guard tool.isEnabled || !tool.locations.isEmpty else { return }
        var entries = entries(title, "only", runs(tool.locations))
        if !tool.usesLocations {
            for index in entries.indices { entries[index].disable() }
            // The tool is for everything; its list, which Charles keeps, is not in use.
            entries.insert(ProfileDraft.Entry(rule: title, fields: [Node.Member("enabled", .word("true"))]), at: 0)
        } else if entries.isEmpty {
            let why = "it was for selected locations only, and none was selected"
            entries = [ProfileDraft.Entry(rule: title, fields: [Node.Member("enabled", .word("false"))], notes: [why])]
        }
        add(key, isEnabled: tool.isEnabled, entries)
    }

    /// Every location is a rule of its own.
    mutating func addBlockList(_ tool: CharlesLocationTool) {
        let runs = tool.locations.map { [$0] }
        add("block", isEnabled: tool.isEnabled, refusing(entries("Block List", "at", runs), tool))
    }

    /// A request passes if any of the locations matches.
    mutating func addAllowList(_ tool: CharlesLocationTool) {
        guard tool.isEnabled || !tool.locations.isEmpty else { return }
        var entries = refusing(entries("Allow List", "at", runs(tool.locations)), tool)
        if entries.isEmpty {
            let why = "the list is on and empty: it would let nothing pass"
            entries = [ProfileDraft.Entry(rule: "Allow List", fields: [Node.Member("at", .list([]))], skipped: why)]
        }
        add("allow", isEnabled: tool.isEnabled, entries)
    }

    /// The rules of a list with its action.
    private func refusing(_ entries: [ProfileDraft.Entry], _ tool: CharlesLocationTool) -> [ProfileDraft.Entry] {
        var entries = entries
        let action: Node = (tool.action ?? 0) == 0 ? .text("drop") : .word("403")
        for index in entries.indices { entries[index].fields.insert(Node.Member("action", action), at: 1) }
        if let code = tool.action, ![0, 1].contains(code), !entries.isEmpty {
            entries[0].notes.append("the action \(code) is not known; taken for an answer of 403")
        }
        return entries
    }

    mutating func addMirror(_ tool: CharlesLocationTool) {
        guard tool.isEnabled || !tool.locations.isEmpty else { return }
        let why = "Charles' directory is not imported; files are saved in 'mirrored' beside this file"
        var entries =
            tool.usesLocations
            ? entries("Mirror", "only", runs(tool.locations)) : [ProfileDraft.Entry(rule: "Mirror")]
        for index in entries.indices {
            entries[index].fields.insert(Node.Member("to", .text("mirrored/")), at: 0)
            entries[index].notes.insert(why, at: 0)
        }
        add("mirror", isEnabled: tool.isEnabled, entries)
    }
}
