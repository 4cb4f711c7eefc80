import ExchangeCore
package import HTTPModel

/// A running Sluice: of this process (`RunningTarget`), or of another one over its control socket (``ControlClient``).
///
/// Callers may be on any thread, several at once. Refusals are thrown as ``ControlError``. Texts describe the effect.
package protocol ControlTarget: SessionEdits {
    func status() async throws -> ControlStatus
    /// Like SIGTERM.
    func stop() async throws -> String
    /// In their fixed order.
    func tools() async throws -> [ToolState]
    /// Switches tools, or `all`; returns all tools. Most act on later exchanges only. An unknown name switches no tool.
    func setTools(_ names: [String], isOn: Bool) async throws -> [ToolState]
    /// Starts the counts of tools, or `all`, again; returns all tools. An unknown name resets nothing.
    func resetTools(_ names: [String]) async throws -> [ToolState]
    /// The waiting messages, oldest first.
    func holds() async throws -> [HoldSummary]
    /// By an ID: `12.1`, or `12` if only one message of exchange 12 is waiting.
    func hold(_ id: String) async throws -> HoldDetails
    /// Sends a message as edited; returns its complete ID.
    func editHold(_ id: String, _ edit: HoldEdit) async throws -> String
    /// IDs are `12.1`, `12` for all of exchange 12, or `all`. If an ID is unknown, nothing is decided.
    func decide(_ ids: [String], _ decision: HoldDecision) async throws -> HoldsDecided
    /// Decrypts a host, or host and port, again for the clients that refused our certificate.
    func decrypt(_ place: String) async throws -> String
    /// Turns the verification of a host's certificate off (`true`) or on, from the next request on; `nil` toggles it.
    func setInsecureHost(_ place: String, isOn: Bool?) async throws -> String
    /// Applies to exchanges that begin later.
    func setRecording(_ isOn: Bool) async throws -> String
    func profile() async throws -> ProfileInForce
    /// Puts edited texts in force without writing them to their files.
    ///
    /// `revision` is the ``ProfileInForce/rules`` of the texts that were edited. If other rules are in force, Sluice
    /// refuses the texts; `nil` skips this check.
    func applyProfile(_ texts: [ProfileSource], madeFrom revision: String?) async throws -> AppliedProfile
    /// Loads the profile from these files, or again from its own files. An error in a file changes nothing.
    /// `discardsEdits` drops unsaved texts; without it, Sluice refuses if there are unsaved texts.
    func loadProfile(_ files: [String]?, discardsEdits: Bool) async throws -> String
    /// Saves the texts of these files, or all unsaved texts; returns the files. `isForced` overwrites others' changes.
    func saveProfile(_ files: [String]?, isForced: Bool) async throws -> [String]
}

package enum HoldDecision: String, Sendable, Hashable, CaseIterable {
    case execute
    /// Sends the message as if it had not been held.
    case cancel
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
    package var decided: [String] = []
    /// No longer waiting.
    package var gone: [String] = []
}

package typealias AppliedProfile = (message: String, profile: ProfileInForce)

/// The profile's texts that are in force.
package struct ProfileInForce: Sendable, Hashable {
    package var profiles: [ProfileSource]
    /// Identifies these texts; different after each change.
    package var rules: String
}

/// A message that waits for a decision.
struct WaitingHold: Sendable {
    struct Outcome: Sendable {
        var resolution: HoldResolution
        /// In seconds.
        var remaining: Double
    }

    var id: HoldID
    var message: HeldMessage
    /// The method of the exchange's request.
    var method: String
    /// As the client sent it.
    var url: String
    /// In seconds.
    var age: Double
    /// What happens without a decision; `nil` if the message waits without limit.
    var unanswered: Outcome?
}
