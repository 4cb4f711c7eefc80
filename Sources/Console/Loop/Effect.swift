package import Clients
package import Description
package import HTTPModel
package import Rules
package import Runner
package import Terminal

/// Work outside the model, as plain data; ``EffectRunner`` performs it.
package enum Effect: Sendable {
    // The session.
    case setQuery(ListQuery, generation: Int)
    case load(Range<Int>, generation: Int)
    case readValues([ExchangeID], [Place], generation: Int)
    case locate(ExchangeID, generation: Int)
    case find(JumpKind, from: Int, forward: Bool, generation: Int)
    case structure(StructureNode, generation: Int)
    case statistics(StatisticsScope?, generation: Int)
    /// Statistics as text; if `numbers` is `nil`, of all exchanges that match the filter.
    case statisticsReport(filter: Filter, numbers: [Int64]?, title: String, width: Int)
    case exchanges(at: StructureNode, generation: Int)
    /// Loads the numbers of the exchanges to mark: the whole list, or its exchanges at and below a node.
    case numbers(below: StructureNode?, most: Int, generation: Int)
    case countHidden([ExchangeID], generation: Int)
    case cancelJobs
    // One exchange, or two.
    case detail(ExchangeID, DetailOptions, generation: Int)
    case compare(ExchangeID, ExchangeID, width: Int)
    case why(ExchangeID)
    case copy(CopyRequest, isMasked: Bool = false)
    case loadDescriptor(path: String)
    case saveBody(ExchangeID, path: String)
    case export(ExportRequest)
    // The session itself.
    case edit(EditRequest)
    case setRecording(Bool)
    case saveSession(path: String, isForced: Bool)
    // Tools, rules, holds.
    case setTool(Tool, isOn: Bool)
    case resetTool(Tool)
    case draftRule(Tool, RuleOrigin?, level: Int)
    case checkRule(Tool, text: String, replaces: Int?, [ProfileSource])
    case loadRules
    case applyRules([ProfileSource], String, madeFrom: String?)
    case reloadRules
    case saveRules(isForced: Bool)
    case saveCopy(String, path: String)
    case decrypt(String)
    /// Stops verifying the certificate of a host, or verifies it again.
    case switchVerification(String)
    case openHold(String)
    case editHold(String, HoldChange)
    case decide([String], HoldDecision)
    // Sending.
    case openRequest(ExchangeID)
    /// Reads `[METHOD] URL` or a cURL command, and opens the request in an editor; in linear mode, as the draft.
    case composeRequest(String)
    case sendEach([ExchangeID])
    case editDraft(EditorState, words: String)
    /// Sends the request in a draft; without a draft, the recorded request.
    case send(draft: String? = nil, EditorState.Purpose)
    case repeating(ExchangeID, RepeatPlan)
    /// Checks whether the file that a rule names exists.
    case offerAnswer(EditorState, ExchangeID, [ProfileSource])
    /// Applies the texts, and then saves the rules.
    case saveSwitched([ProfileSource], madeFrom: String?)
    case loadProfile(String?, discardsEdits: Bool)
    // Other sessions.
    case openSession(String)
    case backToLive
    case importSession(String)
    // The console.
    case completeFile(String)
    case openBody(ExchangeID, BodySide)
    case trust(FirstSteps, width: Int)
    case terminal(TerminalEffect)
}

/// An effect on the terminal: the loop that owns the terminal performs it.
package enum TerminalEffect: Sendable {
    case edit(EditorState)
    case editFile(String)
    /// Shows a text file in the pager, or any other file in the system's viewer.
    case view(String, isText: Bool)
    case copy(String)
    case redraw, suspend, quit
}

/// An event. Only messages change the model.
package enum Message: Sendable {
    package typealias Change = @Sendable (inout ConsoleModel) -> [Effect]

    case input(InputEvent)
    /// In linear mode: the overlays and the answer to the last line were printed.
    case written
    case resized(Size)
    /// In microseconds since 1970.
    case tick(Int64)
    case query(QueryEvent)
    /// The proxy runs or the session is open; `authority` is the path of the authority's certificate.
    case ready(authority: String)
    case proxy(ControlStatus, [HoldSummary])
    case proxyLost(String)
    /// The result of an effect, as a change of the model.
    case answer(Change)
    /// Like `answer`, but the user does not wait for the result: progress, connections, a rotated session.
    case news(Change)
    case failed(any Error)
    case stop

    static func said(_ words: String, _ kind: Notice.Kind = .info) -> Message { .answer { $0.tell(words, kind) } }

    var isAnswer: Bool {
        switch self {
        case .tick, .query, .proxy, .news: false
        default: true
        }
    }
}
