import HTTPModel
import Rules

/// Reads Charles' settings, and makes the sections of a profile, tool by tool.
struct CharlesDrafting {
    /// The tool of a `selectedHostsTool` that is the root element.
    let loneTool: CharlesImport.LoneTool?
    let paths: [CharlesImport.PathChange]
    private var drafted: [String: ProfileDraft.Section] = [:]
    /// Unreadable settings.
    var unread = FidelityReport()
    private static let mostUnread = 1_000
    /// The tool that is being read, for the report.
    var tool = ""
    /// The tools that were read.
    var seen: Set<String> = []

    init(loneTool: CharlesImport.LoneTool?, paths: [CharlesImport.PathChange]) {
        (self.loneTool, self.paths) = (loneTool, paths)
    }

    private static let order = [
        "access", "intercept", "presets", "throttle", "no-caching", "block-cookies", "allow", "block", "rewrite",
        "map-remote", "map-local", "mirror", "breakpoints", "dns-spoofing",
    ]

    /// In the profile's order.
    var sections: [ProfileDraft.Section] { CharlesDrafting.order.compactMap { drafted[$0] } }

    mutating func add(_ key: String, isEnabled: Bool = true, isMapping: Bool = false, _ entries: [ProfileDraft.Entry]) {
        guard !entries.isEmpty else { return }
        drafted[key] = ProfileDraft.Section(key: key, entries: entries, isMapping: isMapping, isEnabled: isEnabled)
    }

    /// Adds a rule for each element of a tool's list. `draft` fills in the rule and its name, and returns whether it is
    /// enabled.
    mutating func addList(
        _ key: String,
        _ title: String,
        _ element: XMLElement,
        _ list: String,
        of name: String,
        with children: [String],
        draft: (inout CharlesDrafting, XMLElement, inout ProfileDraft.Entry) -> Bool
    ) {
        check(element, knows: ["toolEnabled", list])
        let isEnabled = flag(element, "toolEnabled", default: true)
        var entries: [ProfileDraft.Entry] = []
        forEach(name, in: element[list]) { drafting, child in
            drafting.check(child, knows: children)
            var entry = ProfileDraft.Entry()
            if !draft(&drafting, child, &entry) { entry.disable() }
            entry.rule = "\(title) \(entries.count + 1): \(entry.rule ?? "")"
            entries.append(entry)
        }
        add(key, isEnabled: isEnabled, entries)
    }

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

    /// Reads a location; missing parts are empty.
    mutating func location(_ element: XMLElement?) -> CharlesLocation {
        var location = CharlesLocation()
        guard let element else { return location }
        check(element, knows: LocationPattern.Field.allCases.map(\.rawValue))
        for field in LocationPattern.Field.allCases { location[field] = element.text(field.rawValue) }
        return location
    }

    /// The locations of an element with `locationPatterns`.
    mutating func places(_ element: XMLElement?) -> [CharlesPlace] {
        var places: [CharlesPlace] = []
        forEach("locationMatch", in: element?["locationPatterns"]) { drafting, child in
            drafting.check(child, knows: ["location", "enabled"])
            let location = drafting.location(child["location"])
            places.append(CharlesPlace(location, isEnabled: drafting.flag(child, "enabled", default: true)))
        }
        return places
    }

    /// Reads the elements with a name in a list; other elements are reported.
    mutating func forEach(_ name: String, in list: XMLElement?, _ body: (inout CharlesDrafting, XMLElement) -> Void) {
        for child in list?.children ?? [] {
            if child.name == name { body(&self, child) } else { unknown(child) }
        }
    }

    /// Reports unknown children.
    mutating func check(_ element: XMLElement, knows names: [String]) {
        for child in element.children where !names.contains(child.name) { unknown(child) }
    }

    mutating func unknown(_ element: XMLElement) { skip(element, "this element is unknown") }

    mutating func skip(_ element: XMLElement, _ why: String) {
        guard unread.lines.count < CharlesDrafting.mostUnread else { return }
        if unread.lines.count == CharlesDrafting.mostUnread - 1 {
            let why = "there are too many unknown elements here"
            unread.add("\(tool), line \(element.line) and after", .skipped(why: why))
        } else {
            unread.add("\(tool), line \(element.line): <\(element.name)>", .skipped(why: why))
        }
    }

    func noteDisabled(_ places: [CharlesPlace], _ notes: inout [String]) {
        let list = places.filter { !$0.isEnabled }.map(\.location.text).joined(separator: ", ")
        if !list.isEmpty { notes.append("skipped, because they were not enabled: \(list)") }
    }
}
