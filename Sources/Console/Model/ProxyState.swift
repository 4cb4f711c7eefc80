package import Rules
package import Runner
package import Store
import Tools

package struct ProxyState: Sendable {
    /// The proxy's listening address, `127.0.0.1:8080`; empty while it starts.
    package var address = ""
    package var listeners: [ListenerState] = []
    var forward: String? {
        listeners.isEmpty ? (address.isEmpty ? nil : address) : listeners.first(where: \.isForward)?.address
    }
    /// The listening addresses as words after "Listening on"; with the mode of each that is not a forward proxy.
    var places: String {
        guard !listeners.isEmpty else { return address }
        return listeners.map { $0.isForward ? $0.address : "\($0.address) as \($0.mode)" }.joined(separator: ", ")
    }
    package var session: String?
    package var recordingProblem: String?
    package var recording: RecordingState?
    package var store: Shipper.Status?
    /// The number of edits of the session that the proxy has reported.
    var edits: Int?
    package var tools: [ToolState] = []
    package var holds: [HoldSummary] = []
    /// Exchanges of the session that failed, or have an HTTP status of at least 400 or a gRPC status other than OK.
    package var errors: Int64 = 0
    /// Exchanges per second, the newest last.
    package var rates: [Int] = []
    package var counted = 0
    package var countedAt: Int64 = 0
    /// The preset in the rules, whether its tool is on or off; `nil` if the rules have no preset.
    package var preset: String?
    package var authorityPath = ""
    /// The addresses of this machine in its networks, without brackets, IPv4 first.
    package var addresses: [String] = []
    package var problem: String?

    var presetInForce: String? {
        guard let tool = ToolRegistry.standard.withPresets, self.tool(tool)?.isOn == false else { return preset }
        return nil
    }

    package func tool(_ tool: Tool) -> ToolState? { tools.first { $0.name == tool.key } }
}
