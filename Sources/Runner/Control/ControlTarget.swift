package import ExchangeCore
package import HTTPModel

/// What the control socket steers: a running Sluice.
///
/// Called on any thread, by several clients at once.
package protocol ControlTarget: Sendable {
    /// What is running.
    func status() async -> ControlStatus
    /// The tools in their fixed order.
    func tools() async -> [ToolState]
    /// Switches tools on or off, for exchanges that begin from now on.
    ///
    /// - Parameters:
    ///   - names: the tools' names; all of them are known, or none is switched.
    ///   - isOn: whether to switch them on.
    /// - Returns: all tools, as they are now.
    /// - Throws: ``ControlFailure`` for a tool there is not.
    func setTools(_ names: [String], isOn: Bool) async throws -> [ToolState]
    /// The messages that wait for a decision, oldest first.
    func waitingHolds() async -> [WaitingHold]
    /// Decides about a message; `false` where it no longer waits.
    func decide(_ id: HoldID, _ resolution: HoldResolution) async -> Bool
    /// Has a host decrypted again for the clients that refused our certificate for it.
    ///
    /// - Parameter place: the host, or host and port.
    /// - Returns: what was done, in words.
    /// - Throws: ``ControlFailure`` where no client had refused it.
    func decrypt(_ place: String) async throws -> String
    /// Reads the profile again and puts it in force.
    ///
    /// - Parameter discardsEdits: whether texts that are not saved are thrown away.
    /// - Returns: what has changed, in words.
    /// - Throws: ``ControlFailure`` with what is wrong; the old rules then stay.
    func reloadProfile(discardsEdits: Bool) async throws -> String
    /// The files of the profile with the texts that are in force, in their order, and a name for all of them.
    func profiles() async -> (states: [ProfileSource], revision: String)
    /// Puts texts in force without writing them; files that are not named stay as they are.
    ///
    /// - Parameters:
    ///   - texts: the texts and their files.
    ///   - revision: the name of what the texts were made from; where something else is in force they are refused. `nil`
    ///     for whatever is in force.
    /// - Returns: what has changed, in words.
    /// - Throws: ``ControlFailure`` with what is wrong; the old rules then stay.
    func applyProfiles(_ texts: [ProfileSource], madeFrom revision: String?) async throws -> String
    /// Writes texts that are in force to their files.
    ///
    /// - Parameters:
    ///   - files: the files; `nil` for all that are not saved.
    ///   - isForced: whether files are overwritten that others have changed meanwhile.
    /// - Returns: the files that were written.
    /// - Throws: ``ControlFailure`` for the first file that was not written.
    func saveProfiles(_ files: [String]?, isForced: Bool) async throws -> [String]
}

/// A message that waits for a decision, and what is worth knowing about it.
package struct WaitingHold: Sendable {
    /// What happens where nobody decides.
    package struct Outcome: Sendable {
        /// What happens.
        package var resolution: HoldResolution
        /// In how long: seconds.
        package var remaining: Double

        package init(resolution: HoldResolution, remaining: Double) {
            self.resolution = resolution
            self.remaining = remaining
        }
    }

    /// Names it.
    package var id: HoldID
    package var message: HeldMessage
    /// The exchange's method; empty where it is not known.
    package var method: String
    /// The URL as the client sent it; empty where it is not known.
    package var url: String
    /// How long it has waited: seconds.
    package var age: Double
    /// What happens where nobody decides; `nil` where it waits for ever.
    package var unanswered: Outcome?

    package init(
        id: HoldID,
        message: HeldMessage,
        method: String = "",
        url: String = "",
        age: Double = 0,
        unanswered: Outcome? = nil
    ) {
        self.id = id
        self.message = message
        self.method = method
        self.url = url
        self.age = age
        self.unanswered = unanswered
    }
}
