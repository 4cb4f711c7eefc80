import ExchangeCore
package import HTTPModel

/// A running Sluice that can be asked and controlled: the one of this process (`RunningTarget`), or another one over
/// its control socket (``ControlClient``).
///
/// Called on any thread, by several callers at once. A refusal is a ``ControlError``.
package protocol ControlTarget: SessionEdits {
    func status() async throws -> ControlStatus
    /// Stops Sluice as SIGTERM does; returns a sentence that says so.
    func stop() async throws -> String
    /// The tools in their fixed order.
    func tools() async throws -> [ToolState]
    /// Switches tools, or `all`, on or off for exchanges that begin from now on, and returns all tools.
    ///
    /// Where one name is unknown, no tool is switched.
    func setTools(_ names: [String], isOn: Bool) async throws -> [ToolState]
    /// The messages that wait for a decision, oldest first.
    func holds() async throws -> [HoldSummary]
    /// The message of an ID: `12.1`, or `12` where just one of exchange 12 waits.
    func hold(_ id: String) async throws -> HoldDetails
    /// Executes a message as edited, and returns its whole ID.
    func editHold(_ id: String, _ edit: HoldEdit) async throws -> String
    /// Decides about messages: IDs like `12.1`, `12` for all of exchange 12, or `all`.
    ///
    /// Where one ID is unknown, nothing is decided.
    func decide(_ ids: [String], _ decision: HoldDecision) async throws -> HoldsDecided
    /// Decrypts a host, or host and port, again for the clients that refused our certificate for it; returns a sentence
    /// that says so.
    func decrypt(_ place: String) async throws -> String
    /// Stops verifying the certificate of a host from the next request on, or verifies it again; `nil` for whichever is
    /// not so now. Returns a sentence that says so.
    func setInsecureHost(_ place: String, isOn: Bool?) async throws -> String
    /// Records exchanges that begin from now on, or lets them pass unrecorded; returns a sentence that says so.
    func setRecording(_ isOn: Bool) async throws -> String
    func profile() async throws -> ProfileInForce
    /// Puts texts in force without writing them; files that are not named stay as they are.
    ///
    /// `revision` is the ``ProfileInForce/rules`` that the texts were made from: where something else is in force they
    /// are refused; `nil` is for whatever is in force. Returns a sentence on what has changed, and what is in force
    /// then.
    func applyProfile(
        _ texts: [ProfileSource],
        madeFrom revision: String?
    ) async throws -> (message: String, profile: ProfileInForce)
    /// Reads the profile again, puts it in force, and returns a sentence on what has changed; a wrong one changes
    /// nothing.
    ///
    /// `discardsEdits`: texts that are not saved are lost, in place of a refusal.
    func reloadProfile(discardsEdits: Bool) async throws -> String
    /// Puts the profile of these files in force in place of the present one, and returns a sentence on what has
    /// changed; a wrong one changes nothing.
    func loadProfile(_ files: [String], discardsEdits: Bool) async throws -> String
    /// Writes texts that are in force to these files, or to all that are not saved, and returns the files.
    ///
    /// `isForced`: files that others have changed meanwhile are overwritten.
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

    var resolution: HoldResolution {
        switch self {
        case .execute: .execute(nil)
        case .cancel: .cancel
        case .abort: .abort
        }
    }
}

extension HoldResolution {
    var decision: HoldDecision {
        switch self {
        case .execute: .execute
        case .cancel: .cancel
        case .abort: .abort
        }
    }
}

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

/// A message that waits for a decision.
struct WaitingHold: Sendable {
    /// What happens without a decision.
    struct Outcome: Sendable {
        var resolution: HoldResolution
        /// Seconds until then.
        var remaining: Double
    }

    var id: HoldID
    var message: HeldMessage
    /// The exchange's method.
    var method: String
    /// The URL as the client sent it.
    var url: String
    /// How long it has waited: seconds.
    var age: Double
    /// What happens without a decision; `nil` where it waits without limit.
    var unanswered: Outcome?
}
