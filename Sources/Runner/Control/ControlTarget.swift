import ExchangeCore
package import HTTPModel

/// A running Sluice: of this process (`RunningTarget`), or of another one over its control socket (``ControlClient``).
///
/// Called on any thread, by several callers at once. A refusal is a ``ControlError``. Texts describe the effect.
package protocol ControlTarget: SessionEdits {
    func status() async throws -> ControlStatus
    /// As SIGTERM does.
    func stop() async throws -> String
    /// In their fixed order.
    func tools() async throws -> [ToolState]
    /// Switches tools, or `all`, for exchanges that begin later; returns all tools. If a name is unknown, none is switched.
    func setTools(_ names: [String], isOn: Bool) async throws -> [ToolState]
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
    /// Whether a host's certificate is not verified, from the next request on; `nil` switches.
    func setInsecureHost(_ place: String, isOn: Bool?) async throws -> String
    /// For exchanges that begin later.
    func setRecording(_ isOn: Bool) async throws -> String
    func profile() async throws -> ProfileInForce
    /// Puts texts in force without writing them; other files are unchanged.
    ///
    /// `revision` is the ``ProfileInForce/rules`` that the texts were made from. The texts are refused if other rules are
    /// in force; `nil` accepts any.
    func applyProfile(_ texts: [ProfileSource], madeFrom revision: String?) async throws -> AppliedProfile
    /// Replaces the profile by that of these files, or reads its files again; a wrong one changes nothing. Unsaved texts
    /// are lost with `discardsEdits`, else refused.
    func loadProfile(_ files: [String]?, discardsEdits: Bool) async throws -> String
    /// Writes texts to these files, or all unsaved ones; returns the files. `isForced` overwrites changes of others.
    func saveProfile(_ files: [String]?, isForced: Bool) async throws -> [String]
}

package enum HoldDecision: String, Sendable, Hashable, CaseIterable {
    case execute
    /// As if it had not been held.
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
    /// Of the exchange.
    var method: String
    /// As the client sent it.
    var url: String
    /// In seconds.
    var age: Double
    /// Without a decision; `nil` if it waits without limit.
    var unanswered: Outcome?
}
