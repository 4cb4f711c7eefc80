public import Runner

/// What is known of the proxy that is looked at.
public struct ProxyState: Sendable {
    /// Where it listens, `127.0.0.1:8080`; empty while it starts.
    public var address = ""
    /// The file that is recorded to; `nil` where nothing is.
    public var session: String?
    /// Why the recording stopped; `nil` while it goes on.
    public var recordingProblem: String?
    /// The tools, in their fixed order.
    public var tools: [ToolState] = []
    /// Messages that wait for a decision, oldest first.
    public var holds: [HoldSummary] = []
    /// How many exchanges failed.
    public var failures: Int64 = 0
    /// Exchanges a second, the newest last.
    public var rates: [Int] = []
    /// How many exchanges there were when the newest rate was taken.
    public var counted = 0
    /// When that was: microseconds since 1970.
    public var countedAt: Int64 = 0
    /// The name of the throttle preset in force; `nil` where nothing is throttled.
    public var preset: String?
    /// The authority's certificate, to trust it.
    public var authorityPath = ""
    /// What is wrong where the proxy does not run, in words.
    public var problem: String?

    /// The tool's state; `nil` where the proxy has told none.
    public func tool(_ tool: Tool) -> ToolState? { tools.first { $0.name == tool.rawValue } }
}

/// The rules' texts, as they are and as they were.
public struct RulesState: Sendable {
    /// One text of rules.
    public struct Text: Sendable, Hashable {
        /// The file that it belongs to, whether it is there yet or not.
        public var file: String
        /// The text in force.
        public var text: String
        /// Whether the file says something else.
        public var isUnsaved: Bool

        /// Puts a text together.
        public init(file: String, text: String, isUnsaved: Bool = true) {
            self.file = file
            self.text = text
            self.isUnsaved = isUnsaved
        }
    }

    /// The file that rules go to where no profile was named.
    public static let newFile = "sluice-rules.yaml"

    /// The texts, in the order in which they are in force.
    public var texts: [Text] = []
    /// The proxy's name for these texts; `nil` where it has told none.
    public var revision: String?
    /// The texts that were asked for last, so that they are known as one's own when they are in force.
    var wanted: [String] = []
    /// The texts before each change, the newest last.
    public var past: [[Text]] = []
    /// Whether the console ends once the rules are in their files.
    public var endsWhenSaved = false

    /// Whether something would be lost at the end.
    public var isUnsaved: Bool { texts.contains(where: \.isUnsaved) }
}
