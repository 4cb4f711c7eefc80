package import HTTPModel
package import Rules
package import Runner
import Tools

package struct ProxyState: Sendable {
    /// The proxy's listening address, `127.0.0.1:8080`; empty while it starts.
    package var address = ""
    /// All listeners; empty where the proxy has not reported them.
    package var listeners: [ListenerState] = []
    /// Where it is a forward proxy; `nil` where it is none.
    var forward: String? {
        listeners.isEmpty ? (address.isEmpty ? nil : address) : listeners.first(where: \.isForward)?.address
    }
    /// Where it listens, as a sentence goes on after "on": with the mode of each listener that is no forward proxy.
    var places: String {
        guard !listeners.isEmpty else { return address }
        return listeners.map { $0.isForward ? $0.address : "\($0.address) as \($0.mode)" }.joined(separator: ", ")
    }
    /// The file that is recorded to; `nil` for none.
    package var session: String?
    /// Why the recording stopped; `nil` while it goes on.
    package var recordingProblem: String?
    /// Whether exchanges are recorded; `nil` where the proxy has not reported it.
    package var recording: RecordingState?
    /// The number of edits of the session that the proxy has reported.
    var edits: Int?
    package var tools: [ToolState] = []
    /// The held messages, oldest first.
    package var holds: [HoldSummary] = []
    /// Exchanges of the session that failed, or have a status from 400 up or of gRPC other than OK.
    package var errors: Int64 = 0
    /// Exchanges per second, the newest last.
    package var rates: [Int] = []
    /// The number of exchanges at the newest rate.
    package var counted = 0
    package var countedAt: Int64 = 0
    /// The preset of the rules, whether its tool is on or off; `nil` for none.
    package var preset: String?
    package var authorityPath = ""
    /// The addresses of this machine in its networks, without brackets; those of IPv4 first.
    package var addresses: [String] = []
    /// Why the proxy does not run, as text.
    package var problem: String?

    /// The preset, unless its tool is switched off.
    var presetInForce: String? {
        guard let tool = ToolRegistry.standard.withPresets, self.tool(tool)?.isOn == false else { return preset }
        return nil
    }

    /// `nil` where the proxy has reported none.
    package func tool(_ tool: Tool) -> ToolState? { tools.first { $0.name == tool.key } }
}

package struct RulesState: Sendable {
    /// The file for rules where no profile was named.
    package static let newFile = "sluice-rules.yaml"

    /// In the order in which they are in force.
    package var texts: [ProfileSource] = []
    /// The proxy's revision of these texts; `nil` where it has reported none.
    package var revision: String?
    /// The texts of the last change made here, to recognise it when it is in force.
    var wanted: [String] = []
    /// The texts before each change, the newest last.
    package var past: [[ProfileSource]] = []
    /// Whether the rule is there by which one key has a tool act on everything.
    package var isOnEverything = false
    /// Whether the console ends once the rules are saved.
    package var endsWhenSaved = false

    /// The texts to put a rule in: a new one where there is none.
    var editableTexts: [ProfileSource] { texts.isEmpty ? [ProfileSource(file: RulesState.newFile, text: "")] : texts }
    package var isUnsaved: Bool { texts.contains(where: \.isUnsaved) }
}
