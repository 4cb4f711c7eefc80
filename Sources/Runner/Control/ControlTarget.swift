package import ExchangeCore
package import HTTPModel

/// A running Sluice, as it can be asked and steered: one of this process (`RunningTarget`), or another one over its
/// control socket (``ControlClient``).
///
/// Called on any thread, by several callers at once. Where something is refused, ``ControlFailure`` says why.
package protocol ControlTarget: Sendable {
    func status() async throws -> ControlStatus
    /// The tools in their fixed order.
    func tools() async throws -> [ToolState]
    /// Switches tools on or off, for exchanges that begin from now on.
    ///
    /// - Parameters:
    ///   - names: the tools' names, or `all`; where one of them is unknown, none is switched.
    ///   - isOn: whether to switch them on.
    /// - Returns: all tools, as they are now.
    func setTools(_ names: [String], isOn: Bool) async throws -> [ToolState]
    /// The messages that wait for a decision, oldest first.
    func holds() async throws -> [HoldSummary]
    /// The message of an ID: `12.1`, or `12` where just one of exchange 12 waits.
    func hold(_ id: String) async throws -> HoldDetails
    /// Executes a message as edited.
    ///
    /// - Returns: its whole ID.
    func editHold(_ id: String, _ edit: HoldEdit) async throws -> String
    /// Decides about messages.
    ///
    /// - Parameters:
    ///   - ids: IDs like `12.1`, `12` for all of exchange 12, or `all`; where one is unknown, nothing is decided.
    ///   - decision: what becomes of them.
    func decide(_ ids: [String], _ decision: HoldDecision) async throws -> HoldsDecided
    /// Has a host decrypted again for the clients that refused our certificate for it.
    ///
    /// - Parameter place: the host, or host and port.
    /// - Returns: what was done, in words.
    func decrypt(_ place: String) async throws -> String
    func profile() async throws -> ProfileInForce
    /// Puts texts in force without writing them; files that are not named stay as they are.
    ///
    /// - Parameters:
    ///   - texts: the texts and their files.
    ///   - revision: the ``ProfileInForce/rules`` that the texts were made from; where something else is in force they are
    ///     refused. `nil` for whatever is in force.
    /// - Returns: what has changed, in words, and what is in force then.
    func applyProfile(
        _ texts: [ProfileSource],
        madeFrom revision: String?
    ) async throws -> (message: String, profile: ProfileInForce)
    /// Reads the profile again and puts it in force; a wrong one changes nothing.
    ///
    /// - Parameter discardsEdits: whether texts that are not saved are thrown away.
    /// - Returns: what has changed, in words.
    func reloadProfile(discardsEdits: Bool) async throws -> String
    /// Writes texts that are in force to their files.
    ///
    /// - Parameters:
    ///   - files: the files; `nil` for all that are not saved.
    ///   - isForced: whether files are overwritten that others have changed meanwhile.
    /// - Returns: the files that were written.
    func saveProfile(_ files: [String]?, isForced: Bool) async throws -> [String]
}

/// What is decided about a message that waits, as Charles names it.
package enum HoldDecision: String, Sendable, Hashable, CaseIterable {
    /// It goes on.
    case execute
    /// It goes on as though it had not been held.
    case cancel
    /// Its exchange ends.
    case abort
}

/// What came of a decision.
package struct HoldsDecided: Sendable, Hashable {
    /// The messages that were decided about.
    package var decided: [String] = []
    /// The messages that no longer waited.
    package var gone: [String] = []
}

/// The profile's texts that are in force.
package struct ProfileInForce: Sendable, Hashable {
    /// The files in their order.
    package var profiles: [ProfileSource]
    /// Names these texts; another name after each change.
    package var rules: String
}

/// A message that waits for a decision, and what is worth knowing about it.
package struct WaitingHold: Sendable {
    /// What happens where nobody decides.
    package struct Outcome: Sendable {
        package var resolution: HoldResolution
        /// In how long: seconds.
        package var remaining: Double
    }

    package var id: HoldID
    package var message: HeldMessage
    /// The exchange's method; empty where it is not known.
    package var method = ""
    /// The URL as the client sent it; empty where it is not known.
    package var url = ""
    /// How long it has waited: seconds.
    package var age = 0.0
    /// What happens where nobody decides; `nil` where it waits for ever.
    package var unanswered: Outcome?
}
