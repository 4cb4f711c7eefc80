package import HTTPModel
package import Rules
package import Runner

package struct ProxyState: Sendable {
    /// Where it listens, `127.0.0.1:8080`; empty while it starts.
    package var address = ""
    /// The file that is recorded to; `nil` where nothing is.
    package var session: String?
    /// Why the recording stopped; `nil` while it goes on.
    package var recordingProblem: String?
    package var tools: [ToolState] = []
    /// Messages that wait for a decision, oldest first.
    package var holds: [HoldSummary] = []
    package var failures: Int64 = 0
    /// Exchanges a second, the newest last.
    package var rates: [Int] = []
    /// How many exchanges there were when the newest rate was taken.
    package var counted = 0
    /// When that was: microseconds since 1970.
    package var countedAt: Int64 = 0
    /// The name of the throttle preset in force; `nil` where nothing is throttled.
    package var preset: String?
    /// The authority's certificate, to trust it.
    package var authorityPath = ""
    /// What is wrong where the proxy does not run, in words.
    package var problem: String?

    /// The tool's state; `nil` where the proxy has told none.
    package func tool(_ tool: Tool) -> ToolState? { tools.first { $0.name == tool.key } }
}

/// The rules' texts, as they are and as they were.
package struct RulesState: Sendable {
    /// The file that rules go to where no profile was named.
    package static let newFile = "sluice-rules.yaml"

    /// The texts, in the order in which they are in force.
    package var texts: [ProfileSource] = []
    /// The proxy's name for these texts; `nil` where it has told none.
    package var revision: String?
    /// The texts that were asked for last, so that they are known as one's own when they are in force.
    var wanted: [String] = []
    /// The texts before each change, the newest last.
    package var past: [[ProfileSource]] = []
    /// Whether the console ends once the rules are in their files.
    package var endsWhenSaved = false

    /// Whether something would be lost at the end.
    package var isUnsaved: Bool { texts.contains(where: \.isUnsaved) }
}
