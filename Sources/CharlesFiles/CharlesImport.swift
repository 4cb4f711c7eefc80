import HTTPModel
import Rules
import Tools

/// Makes a profile of Charles' settings.
package struct CharlesImport: Sendable {
    /// A directory that has moved.
    package struct PathChange: Sendable, Hashable {
        /// As the settings have it, for example `C:\mocks` or `/Users/ada/mocks`.
        package var old: String
        /// The directory now; a relative path begins beside the profile.
        package var new: String

        package init(old: String, new: String) { (self.old, self.new) = (old, new) }

        /// Reads `OLD=NEW`; `nil` if there is no equals sign, or nothing before it or after it.
        package init?(_ argument: String) {
            guard let mark = argument.firstIndex(of: "="), mark > argument.startIndex else { return nil }
            old = String(argument[..<mark])
            new = String(argument[argument.index(after: mark)...])
            if new.isEmpty { return nil }
        }
    }

    package let text: String
    package let report: FidelityReport
    /// Whether there is a rule in the profile.
    package var isUsable: Bool { report.keptCount + report.approximatedCount > 0 }

    /// Makes a profile that can be loaded: a rule that profiles do not take is in it as a comment, with the reason.
    /// `source` is the name of the settings, for the profile's first line. Relative paths begin at `file`, the name
    /// that the profile's file will have. Of the changed directories the first that fits counts. Throws
    /// ``CharlesError`` where no profile can be made, as for one that is too large.
    package init(
        _ settings: CharlesSettings,
        source: String,
        file: String = "profile.yaml",
        paths: [PathChange] = []
    ) throws(CharlesError) {
        var drafting = CharlesDrafting(paths: paths)
        drafting.add(settings)
        var draft = drafting.draft
        draft.preamble = [
            "Made by Sluice from Charles' settings \(source).",
            "",
            "Settings that work differently than in Charles are marked 'approximated', those that could not be imported",
            "'skipped'. Locations are matched against the URL as the client sent it, whatever other tools change.",
        ]
        draft.head = [Node.Member("version", .word("1")), Node.Member("name", .text("from Charles"))]
        if !drafting.off.isEmpty { draft.head.append(Node.Member("off", .list(drafting.off.map { .text($0) }))) }
        text = try draft.write(as: file)
        report = draft.report()
    }
}

/// Makes the sections of a profile, tool by tool.
struct CharlesDrafting {
    var draft = ProfileDraft()
    /// The tools that are switched off as a whole.
    var off: [String] = []
    let paths: [CharlesImport.PathChange]

    init(paths: [CharlesImport.PathChange]) { self.paths = paths }

    mutating func add(_ settings: CharlesSettings) {
        addAccess(settings.access)
        settings.sslProxying.map { addSSLProxying($0) }
        settings.throttle.map { addThrottle($0) }
        settings.noCaching.map { addEverywhereTool($0, "no-caching", "No Caching") }
        settings.blockCookies.map { addEverywhereTool($0, "block-cookies", "Block Cookies") }
        settings.allowList.map { addAllowList($0) }
        settings.blockList.map { addBlockList($0) }
        settings.rewrite.map { addRewrite($0) }
        settings.mapRemote.map { addMapRemote($0) }
        settings.mapLocal.map { addMapLocal($0) }
        settings.mirror.map { addMirror($0) }
        settings.breakpoints.map { addBreakpoints($0) }
        settings.dnsSpoofing.map { addSpoofs($0) }
    }

    /// Adds a section, and the tool to those that are off where it is.
    mutating func add(_ key: String, isEnabled: Bool, _ entries: [ProfileDraft.Entry]) {
        guard !entries.isEmpty else { return }
        draft.sections.append(ProfileDraft.Section(key: key, entries: entries))
        if !isEnabled { off.append(key) }
    }

    func noteDisabled(_ places: [CharlesPlace], _ notes: inout [String]) {
        let list = places.filter { !$0.isEnabled }.map { words($0.location) }.joined(separator: ", ")
        if !list.isEmpty { notes.append("skipped, because they were not enabled: \(list)") }
    }

    /// A rule for each entry of a tool's list; `draft` fills it in and returns whether it is enabled.
    func list<Item>(
        _ title: String,
        _ tool: CharlesTool<Item>,
        name: (Item) -> String,
        draft: (Item, inout ProfileDraft.Entry) -> Bool
    ) -> [ProfileDraft.Entry] {
        tool.entries.enumerated().map { number, item in
            var entry = ProfileDraft.Entry(rule: "\(title) \(number + 1): \(name(item))")
            if !draft(item, &entry) { entry.disable() }
            return entry
        }
    }

    /// A location as a value; what had to be changed goes to the notes.
    func value(_ location: CharlesLocation, _ notes: inout [String]) -> Node { Node.location(location.pattern(&notes)) }

    func words(_ location: CharlesLocation) -> String {
        var ignored: [String] = []
        return location.pattern(&ignored).description
    }

    private mutating func addAccess(_ ranges: [String]) {
        guard !ranges.isEmpty else { return }
        let entries = ranges.map { ProfileDraft.Entry(rule: "Access Control: \($0)", text: $0) }
        draft.sections.append(ProfileDraft.Section(key: "access", entries: entries))
    }

    private mutating func addSSLProxying(_ proxying: CharlesSSLProxying) {
        var notes: [String] = []
        func hosts(_ places: [CharlesPlace]) -> [Node] {
            places.filter(\.isEnabled).map { place in
                // Before anything is decrypted only host and port are known.
                value(CharlesLocation(host: place.location.host, port: place.location.port), &notes)
            }
        }
        let (only, except) = (hosts(proxying.included), hosts(proxying.excluded))
        noteDisabled(proxying.included + proxying.excluded, &notes)
        var fields: [Node.Member] = []
        if !proxying.isEnabled || only.isEmpty {
            fields = [Node.Member("except", .text("*"))]
            notes.append("Charles decrypted no host; without these lines Sluice decrypts all hosts")
        } else {
            let hasAll = proxying.included.contains { $0.isEnabled && $0.location.isEveryHost }
            if !hasAll { fields["only"] = .list(only) }
            if !except.isEmpty { fields["except"] = .list(except) }
        }
        guard !fields.isEmpty else { return }
        let entry = ProfileDraft.Entry(rule: "SSL Proxying", fields: fields, notes: notes)
        draft.sections.append(ProfileDraft.Section(key: "intercept", entries: [entry], isMapping: true))
    }
}

extension CharlesLocation {
    fileprivate var isEveryHost: Bool { ["", "*"].contains(host.trimmed) && ["", "*", "0"].contains(port.trimmed) }
}
