import ExchangeCore

extension RuleProfile {
    /// Switches the throttle on or off, for exchanges that are under way too: at their next bytes.
    ///
    /// A profile begins with what it says itself under `off`.
    package func setThrottle(isOn: Bool) {
        throttle?.isOn = isOn
    }

    /// Lets exchanges that are under way on the throttle of a profile before this one go on under this one's rules: each
    /// under the rule that has the same name as its own, or under none where there is no such rule.
    ///
    /// To be called once this profile is in force. Whether its throttle is on is told by `setThrottle`.
    package func adopt(linksOf old: RuleProfile) {
        guard let before = old.throttle else { return }
        guard let throttle else {
            before.release()
            return
        }
        throttle.replace(before)
    }

    /// Lets the shares of the block list go on counting requests where those of a profile before this one stand, rules of
    /// the same name alike.
    ///
    /// To be called before this profile is in force, so that no request is counted from 1 again.
    package func goOnCounting(from old: RuleProfile) {
        if let before: BlockList = old.stage() { (stage() as BlockList?)?.goOnCounting(from: before) }
    }

    private var throttle: Throttle? { stage() }

    private func stage<Tool: Stage>() -> Tool? {
        compiled.lazy.compactMap { $0.stage as? Tool }.first
    }
}
