import ExchangeCore
import HTTPModel
import ProxyServer
import Recording
import Stages

/// The rules of a running proxy: where they come from, which tools are switched off, and how others take their place.
///
/// Exchanges that are going on keep the rules they began with, but for the throttle, whose changes reach them too.
actor RulesInForce {
    /// The profile; `nil` where the run began without one.
    private(set) var profile: RuleProfile?
    /// The tools that are switched off, whether the profile says something about them or not.
    private(set) var off: Set<StageSlot>

    private let paths: [String]
    private let server: ProxyServer
    private let recorder: Recorder

    /// Notes what the server was started with.
    init(profile: RuleProfile?, paths: [String], server: ProxyServer, recorder: Recorder) {
        self.profile = profile
        self.paths = paths
        self.server = server
        self.recorder = recorder
        off = profile?.off ?? []
        RulesInForce.note(profile, off, recorder)
    }

    /// What a server begins with under a profile.
    static func rules(_ profile: RuleProfile?, without off: Set<StageSlot>? = nil) throws -> ProxyRules {
        guard let profile else { return ProxyRules() }
        let intercept = profile.intercept
        var rules = ProxyRules(chain: profile.chain(without: off ?? profile.off)) { host, port in
            intercept.decrypts(host: host, port: port)
        }
        rules.access = AccessRules(networks: try profile.access.map(network))
        return rules
    }

    private static func network(_ text: String) throws -> AccessRules.Network {
        guard let network = AccessRules.Network(text) else {
            throw StartFailure(
                "'\(text)' under 'access' is no network.",
                hint: "It takes an address or a network such as 192.168.0.0/16."
            )
        }
        return network
    }

    /// Every tool in the fixed order, with what the profile has for it.
    var tools: [ToolState] {
        StageSlot.allCases.map { slot in
            let rules = profile?.tools.first { $0.slot == slot }?.rules ?? []
            return ToolState(
                name: slot.name,
                isOn: !off.contains(slot),
                rules: rules.count,
                enabled: rules.count { $0.isEnabled }
            )
        }
    }

    /// Switches tools on or off for exchanges that begin from now on.
    func set(_ slots: Set<StageSlot>, isOn: Bool) async throws {
        if isOn { off.subtract(slots) } else { off.formUnion(slots) }
        try await apply()
    }

    /// Reads the files again and puts what they say in force.
    ///
    /// - Returns: the profile before, and the one now.
    /// - Throws: what is wrong with the files; the rules stay as they were then.
    func reload() async throws -> (before: RuleProfile?, after: RuleProfile?) {
        guard !paths.isEmpty else { return (nil, nil) }
        let before = profile
        let after = try RuleProfile.load(paths: paths)
        // Fails for networks that are none, before anything is changed.
        _ = try RulesInForce.rules(after, without: off)
        // What the user switched by hand stays so, unless the file itself says something else than before.
        let saidBefore = before?.off ?? []
        off.subtract(saidBefore.subtracting(after.off))
        off.formUnion(after.off.subtracting(saidBefore))
        profile = after
        try await apply()
        if let before { after.adopt(linksOf: before) }
        return (before, after)
    }

    private func apply() async throws {
        await server.replaceRules(try RulesInForce.rules(profile, without: off))
        profile?.setThrottle(isOn: !off.contains(.throttle))
        RulesInForce.note(profile, off, recorder)
    }

    private static func note(_ profile: RuleProfile?, _ off: Set<StageSlot>, _ recorder: Recorder) {
        recorder.noteRules(
            sources: (profile?.sources ?? []).map { StoredRules.Source(file: $0.file, text: $0.text) },
            switchedOff: off.map(\.name)
        )
    }
}
