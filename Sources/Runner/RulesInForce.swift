import ExchangeCore
import Files
import Foundation
import HTTPModel
import Jobs
import ProxyServer
import Recording
import Rules
import Tools

/// The rules of a running proxy: their files, the disabled tools, and how they are replaced.
///
/// Exchanges in progress keep their rules; only tools that are switched in place act on them at once. Rules can be
/// edited without being saved; changed files never overwrite unsaved edits.
actor RulesInForce {
    /// `nil` if there is no profile.
    private(set) var profile: RuleProfile?
    /// The tools that are switched off, including tools without rules in the profile.
    private(set) var off: Set<StageID>

    /// The requested files, without included ones.
    private var paths: [String]
    /// Texts from pipes, which can be read only once.
    private let piped: [ProfileSource]
    /// The texts in force that differ from their files.
    private var unsaved: [ProfileSource] = []
    /// The last known content of each file, by file identity. A missing file has no entry.
    private var disk: [String: String] = [:]
    private var hasReportedProblem = false
    /// While one call of an actor waits, other calls run. A change therefore waits for the change before it.
    private var isChanging = false
    private var waiting: [CheckedContinuation<Void, Never>] = []
    private let server: ProxyServer
    private let recorder: Recorder
    private let upstream: UpstreamOption?
    private var access: ServerAccess
    private var secrets: ServerAccess.Secrets

    init(
        profile: RuleProfile?,
        paths: [String],
        server: ProxyServer,
        recorder: Recorder,
        access: ServerAccess = ServerAccess(),
        upstream: UpstreamOption? = nil,
        secrets: ServerAccess.Secrets = [:]
    ) {
        (self.access, self.upstream, self.secrets) = (access, upstream, secrets)
        self.profile = profile
        self.paths = paths
        self.server = server
        self.recorder = recorder
        off = profile?.off ?? []
        piped = (profile?.sources ?? []).filter { InputFile.isPipe($0.file) }
        disk = RulesInForce.texts(profile?.sources ?? [])
        RulesInForce.note(profile, off, recorder)
    }

    static func rules(
        _ profile: RuleProfile?,
        without off: Set<StageID>? = nil,
        access: ServerAccess = ServerAccess()
    ) throws -> ProxyRules {
        var rules = ProxyRules()
        access.apply(to: &rules)
        guard let profile else { return rules }
        let intercept = profile.intercept
        rules.chain = profile.chain(without: off ?? profile.off)
        rules.decrypts = { host, port, address in intercept.decrypts(host: host, port: port, address: address) }
        let networks = try profile.access.map { text in
            if let network = AccessRules.Network(text) { return network }
            let hint = "Write an address or a network such as 192.168.0.0/16."
            throw StartError("'\(text)' under 'access' is not a network.", hint: hint)
        }
        rules.access = AccessRules(networks: networks)
        return rules
    }

    private static func texts(_ sources: [ProfileSource]) -> [String: String] {
        Dictionary(sources.map { ($0.identity, $0.text) }) { first, _ in first }
    }

    // MARK: - State

    /// In the fixed order of tools, with the numbers of their rules in the profile.
    var tools: [ToolState] {
        ToolRegistry.standard.inOrder.map { tool in
            let rules = profile?.tools.first { $0.tool == tool }?.rules ?? []
            let enabled = rules.count { $0.isEnabled }
            var state = ToolState(name: tool.key, isOn: !off.contains(tool.id), rules: rules.count, enabled: enabled)
            if let counts = profile?.counts(of: tool), !counts.isEmpty { state.counts = counts }
            return state
        }
    }

    /// The files of the profile with the texts in force.
    var states: [ProfileSource] {
        let edited = Set(unsaved.map(\.identity))
        return (profile?.sources ?? []).map {
            ProfileSource(file: $0.file, text: $0.text, isUnsaved: edited.contains($0.identity))
        }
    }

    var current: ProfileInForce { ProfileInForce(profiles: states, rules: revision) }

    /// A hash of the texts and whether they are saved.
    var revision: String { String(UInt(bitPattern: states.hashValue), radix: 36) }

    // MARK: - Changing

    /// Switches tools for exchanges that begin later; tools that are switched in place also act on open exchanges.
    func set(_ tools: Set<StageID>, isOn: Bool) async throws {
        await beginTurn()
        defer { endTurn() }
        if isOn { off.subtract(tools) } else { off.formUnion(tools) }
        try await putInForce()
    }

    /// Puts edited texts in force without writing them to their files.
    ///
    /// A new file is added at the end of the profile. `revision` is the revision that was edited; `nil` skips the
    /// check. Throws errors in the texts, or ``ControlError`` for an old revision; then the rules are unchanged.
    func apply(_ texts: [ProfileSource], madeFrom revision: String? = nil) async throws -> RulesDifference {
        await beginTurn()
        defer { endTurn() }
        guard revision == nil || revision == self.revision else {
            throw ControlError("The rules were changed elsewhere.", hint: "Edit the rules in force now.")
        }
        var edited = unsaved
        var roots = paths
        let known = Set((profile?.sources ?? []).map(\.identity))
        for text in texts {
            let identity = text.identity
            edited.removeAll { $0.identity == identity }
            if disk[identity] != text.text { edited.append(text) }
            let isNew = !known.contains(identity) && !roots.contains(text.file)
            if isNew { roots.append(text.file) }
        }
        // A new profile without a file and without rules is removed.
        for text in edited where disk[text.identity] == nil && text.isBlankProfile {
            edited.removeAll { $0.identity == text.identity }
            roots.removeAll { $0 == text.file }
        }
        let before = profile
        let after = roots.isEmpty && piped.isEmpty ? nil : try RuleProfile.load(paths: roots, edited: piped + edited)
        try await change(to: after)
        unsaved = edited
        paths = roots
        for source in after?.sources ?? [] where !edited.contains(where: { $0.identity == source.identity }) {
            disk[source.identity] = source.text
        }
        return RulesDifference(before: before, after: after)
    }

    /// Loads the profile from `files`, or again from its own files. Returns `nil` if there is no profile.
    ///
    /// `discardsEdits` drops unsaved texts; without it, unsaved texts cause a ``ControlError``. Also throws errors in
    /// the files. After an error the rules are unchanged.
    func load(_ files: [String]?, discardsEdits: Bool) async throws -> RulesDifference? {
        await beginTurn()
        defer { endTurn() }
        guard discardsEdits || unsaved.isEmpty else {
            throw ControlError(
                "\(unsaved.map(\.file).joined(separator: ", ")) was edited and is not saved.",
                hint: "Save it with profile.save, or throw the edits away: profile.reload with \"force\":true."
            )
        }
        var roots = files ?? paths
        guard !roots.isEmpty else { return nil }
        // A profile that was never saved has no file.
        if files == nil { roots.removeAll { path in unsaved.contains { $0.file == path && disk[$0.identity] == nil } } }
        let before = profile
        let after = roots.isEmpty ? nil : try RuleProfile.load(paths: roots, edited: files == nil ? piped : [])
        try await change(to: after)
        (unsaved, paths, hasReportedProblem) = ([], roots, false)
        disk = RulesInForce.texts(after?.sources ?? [])
        return RulesDifference(before: before, after: after)
    }

    enum FileChange: Sendable {
        case none
        case changed(RulesDifference, lints: [ProfileIssue])
        /// These files have changed, but also have unsaved edits. The edits are kept.
        case conflict([String])
    }

    /// Reads changed files; unsaved edits are kept. If a file has an error, throws it; then the rules are unchanged.
    func followFiles() async throws -> FileChange {
        await beginTurn()
        defer { endTurn() }
        var conflicts: [String] = []
        for text in unsaved {
            let now = try RulesInForce.text(of: text.file)
            let identity = text.identity
            if now == text.text {
                // Another program has saved the same text.
                unsaved.removeAll { $0.identity == identity }
                disk[identity] = now
            } else if let now, now != disk[identity] {
                conflicts.append(text.file)
            }
        }
        if !conflicts.isEmpty { hasReportedProblem = true }
        guard !paths.isEmpty else { return .none }
        let before = profile
        do {
            let after = try RuleProfile.load(paths: paths, edited: piped + unsaved)
            if before?.sources == after.sources {
                defer { hasReportedProblem = !conflicts.isEmpty }
                guard conflicts.isEmpty else { return .conflict(conflicts) }
                return hasReportedProblem ? .changed(RulesDifference(before: before, after: after), lints: []) : .none
            }
            try await change(to: after)
            hasReportedProblem = !conflicts.isEmpty
            let edited = Set(unsaved.map(\.identity))
            for source in after.sources where !edited.contains(source.identity) { disk[source.identity] = source.text }
            guard conflicts.isEmpty else { return .conflict(conflicts) }
            let lints = after.lints.filter { before?.lints.contains($0) != true }
            return .changed(RulesDifference(before: before, after: after), lints: lints)
        } catch {
            hasReportedProblem = true
            throw error
        }
    }

    // MARK: - Saving

    /// Writes the texts in force to `files`, or to all files with unsaved edits; returns the written files.
    ///
    /// `isForced` overwrites files that another program has changed. Throws ``ControlError`` for the first file that
    /// cannot be written.
    func save(_ files: [String]? = nil, isForced: Bool = false) async throws(ControlError) -> [String] {
        await beginTurn()
        defer { endTurn() }
        var chosen = unsaved
        if let files {
            let wanted = files.map { ProfileSource(file: $0, text: "").identity }
            let known = Set((profile?.sources ?? []).map(\.identity))
            for (file, identity) in zip(files, wanted) where !known.contains(identity) {
                throw ControlError("\(file) is not a file of the profile in force.")
            }
            chosen = unsaved.filter { wanted.contains($0.identity) }
        }
        var saved: [String] = []
        for text in chosen {
            let identity = text.identity
            var now: String?
            do throws(ProfileError) {
                now = try RulesInForce.text(of: text.file)
            } catch {
                if !isForced { throw ControlError(error.description) }
            }
            if let now, now != disk[identity], now != text.text, !isForced {
                let isNew = disk[identity] == nil
                throw ControlError(
                    "\(text.file) \(isNew ? "is there already" : "was changed since it was read").",
                    hint: "Overwrite it with \"force\":true, or load it: profile.reload with \"force\":true.",
                    conflict: isNew ? .exists : .changed
                )
            }
            if now != text.text { try RulesInForce.write(text.text, to: text.file) }
            disk[identity] = text.text
            unsaved.removeAll { $0.identity == identity }
            saved.append(text.file)
        }
        return saved
    }

    /// `nil` if there is no file.
    private static func text(of file: String) throws(ProfileError) -> String? {
        Foundation.access(file, F_OK) == 0 ? try ProfileSource.read(file: file).text : nil
    }

    /// Replaces a file as a whole or not at all. An existing file keeps its mode; of a link, the target is replaced.
    private static func write(_ text: String, to file: String) throws(ControlError) {
        do throws(FileError) {
            let output = try OutputFile(file, waits: false)
            try output.write(text)
            try output.finish()
        } catch {
            throw ControlError(error.description)
        }
    }

    // MARK: - Putting in force

    private func beginTurn() async {
        if isChanging { await withCheckedContinuation { waiting.append($0) } } else { isChanging = true }
    }

    private func endTurn() {
        if waiting.isEmpty { isChanging = false } else { waiting.removeFirst().resume() }
    }

    private func change(to after: RuleProfile?) async throws(ProfileError) {
        do {
            // Throws for a wrong network or file before anything is changed.
            let access = try ServerAccess(after, option: upstream, secrets: &secrets)
            _ = try RulesInForce.rules(after, without: off)
            let before = profile
            let (offBefore, offNow) = (before?.off ?? [], after?.off ?? [])
            // A tool that the user switched keeps its state, unless the profile's own switch has changed.
            off.subtract(offBefore.subtracting(offNow))
            off.formUnion(offNow.subtracting(offBefore))
            (profile, self.access) = (after, access)
            if let before { after?.prepare(toReplace: before) }
            try await putInForce()
            before?.wasReplaced(by: after)
        } catch let error as ProfileError {
            throw error
        } catch {
            throw ProfileError("\(error)", file: after?.sources.first?.file ?? "")
        }
    }

    private func putInForce() async throws {
        await server.replaceRules(try RulesInForce.rules(profile, without: off, access: access))
        profile?.switchTools(without: off)
        RulesInForce.note(profile, off, recorder)
    }

    private static func note(_ profile: RuleProfile?, _ off: Set<StageID>, _ recorder: Recorder) {
        var admits: (@Sendable (RequestURL) -> Bool)?
        if let record = profile?.record, !record.isEverything { admits = { record.admits($0) } }
        recorder.noteRules(sources: profile?.sources ?? [], switchedOff: off.map(\.name), admits: admits)
    }
}

extension ProfileSource {
    /// Whether the text has nothing but `version: 1`.
    fileprivate var isBlankProfile: Bool {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.filter { !$0.isWhitespace } }
        return lines.allSatisfy { $0.isEmpty || $0 == "version:1" }
    }
}
