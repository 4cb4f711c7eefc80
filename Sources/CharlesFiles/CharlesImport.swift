import HTTPModel
import Rules
import Tools

/// Makes a profile of Charles' settings.
package struct CharlesImport: Sendable {
    /// A directory that is somewhere else now.
    package struct PathChange: Sendable, Hashable {
        /// What paths in the settings begin with; `C:\mocks` as well as `/Users/ada/mocks`.
        package var old: String
        /// What they begin with now; where it is relative, it is so to the profile.
        package var new: String

        /// Names a change.
        package init(old: String, new: String) {
            self.old = old
            self.new = new
        }

        /// Reads `OLD=NEW`; `nil` where there is no equals sign, or nothing before it or after it.
        package init?(_ argument: String) {
            guard let mark = argument.firstIndex(of: "="), mark > argument.startIndex else { return nil }
            old = String(argument[..<mark])
            new = String(argument[argument.index(after: mark)...])
            if new.isEmpty { return nil }
        }
    }

    /// The profile.
    package let text: String
    /// What became of each rule.
    package let report: FidelityReport
    /// Whether there is a rule in the profile.
    package var isUsable: Bool { report.keptCount + report.approximatedCount > 0 }

    /// Makes a profile.
    ///
    /// What comes out can be loaded: a rule that profiles do not take is left in it as a comment, with the reason.
    ///
    /// - Parameters:
    ///   - settings: what Charles has.
    ///   - source: what the settings are called; told in the profile's first line.
    ///   - file: what the profile's file will be called, from which relative paths begin.
    ///   - paths: directories that are somewhere else now; the first that fits counts.
    /// - Throws: ``CharlesError`` where no profile can be made, as for one that is too large.
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
            "What means here something else than in Charles is marked 'approximated', what could not be taken over",
            "'skipped'. Locations are matched against the URL as the client sent it, whatever other tools change.",
        ]
        draft.head = [Node.Member("version", .word("1")), Node.Member("name", .text("from Charles"))]
        if !drafting.off.isEmpty { draft.head.append(Node.Member("off", .list(drafting.off.map { .text($0) }))) }
        text = try draft.write(as: file)
        report = draft.report()
    }
}

/// Puts the sections of a profile together, tool by tool.
struct CharlesDrafting {
    var draft = ProfileDraft()
    /// The tools that are switched off as a whole.
    var off: [String] = []
    let paths: [CharlesImport.PathChange]

    init(paths: [CharlesImport.PathChange]) {
        self.paths = paths
    }

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

    /// A location as a value; what had to be changed goes to the notes.
    func value(_ location: CharlesLocation, _ notes: inout [String]) -> Node {
        Node.location(location.pattern(&notes))
    }

    /// What the report calls a location.
    func words(_ location: CharlesLocation) -> String {
        var ignored: [String] = []
        return location.pattern(&ignored).description
    }

    // MARK: - Access Control and SSL Proxying

    private mutating func addAccess(_ ranges: [String]) {
        guard !ranges.isEmpty else { return }
        draft.sections.append(
            ProfileDraft.Section(
                key: "access",
                entries: ranges.map { ProfileDraft.Entry("Access Control: \($0)", [], text: $0) }
            )
        )
    }

    private mutating func addSSLProxying(_ proxying: CharlesSSLProxying) {
        var notes: [String] = []
        func hosts(_ places: [CharlesPlace]) -> [Node] {
            places.filter(\.isEnabled).map { place in
                // Before anything is decrypted nothing but host and port is known.
                value(CharlesLocation(host: place.location.host, port: place.location.port), &notes)
            }
        }
        let (only, except) = (hosts(proxying.included), hosts(proxying.excluded))
        let disabled = (proxying.included + proxying.excluded).filter { !$0.isEnabled }
        if !disabled.isEmpty {
            notes.append(
                "left out, as they were not enabled: \(disabled.map { words($0.location) }.joined(separator: ", "))"
            )
        }
        var fields: [Node.Member] = []
        if !proxying.isEnabled || only.isEmpty {
            fields = [Node.Member("except", .text("*"))]
            notes.append("Charles decrypted no host; without these lines Sluice decrypts every one")
        } else {
            let hasAll = proxying.included.contains { $0.isEnabled && $0.location.isEveryHost }
            if !hasAll { fields["only"] = .list(only) }
            if !except.isEmpty { fields["except"] = .list(except) }
        }
        guard !fields.isEmpty else { return }
        let entry = ProfileDraft.Entry("SSL Proxying", fields, notes: notes)
        draft.sections.append(ProfileDraft.Section(key: "intercept", entries: [entry], isMapping: true))
    }
}

extension CharlesLocation {
    fileprivate var isEveryHost: Bool { ["", "*"].contains(host.trimmed) && ["", "*", "0"].contains(port.trimmed) }
}
