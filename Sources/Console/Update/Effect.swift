package import HTTPModel
package import Rules
package import Runner
package import Sharing

/// Work outside of the model: plain data, performed by ``EffectRunner``.
package enum Effect: Sendable {
    // The session.
    case setQuery(ListQuery, generation: Int)
    case load(Range<Int>, generation: Int)
    case locate(ExchangeID, generation: Int)
    case find(JumpKind, from: Int, forward: Bool, generation: Int)
    case structure(StructureNode, generation: Int)
    case statistics(StatisticsScope?, generation: Int)
    /// Statistics as a text; of exchanges by their numbers, `nil` for all that the filter leaves.
    case statisticsReport(filter: Filter, numbers: [Int64]?, title: String, width: Int)
    /// Reads the newest exchanges at a place of the structure.
    case exchanges(at: StructureNode, generation: Int)
    /// Reads what to mark: all of the list, or of it what is below a place.
    case numbers(below: StructureNode?, most: Int, generation: Int)
    /// Counts which of some exchanges the list does not have.
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
    /// Reads `[METHOD] URL` or a cURL command, and opens the request in an editor; on lines it is sent.
    case composeRequest(String)
    case sendEach([ExchangeID])
    /// A change of a drafted request, as a line says it.
    case editDraft(EditorState, words: String)
    /// The request that a draft changes, or without a draft the recorded one.
    case send(draft: String? = nil, EditorState.Purpose)
    case repeating(ExchangeID, RepeatPlan)
    /// Whether the file that a rule names is there.
    case offerAnswer(EditorState, ExchangeID, [ProfileSource])
    /// Applies texts, where given, and then saves the rules.
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
    /// Opens the text in the user's own editor.
    case edit(EditorState)
    case editFile(String)
    /// Shows a file in the pager if it is text, else in the system's viewer.
    case view(String, isText: Bool)
    case copy(String)
    case redraw, suspend, quit
}

protocol TerminalOwner {
    func perform(_ effect: TerminalEffect)
}

package enum RuleOrigin: Sendable, Hashable {
    case exchange(ExchangeID)
    /// A branch of the structure: all at and below it.
    case place(StructureNode)
}

package enum HoldChange: Sendable, Hashable {
    case draft(String)
    /// Changes on one line: `method=PUT header="X-Mode: test"`.
    case words(String)

    func edit() throws -> HoldEdit {
        switch self {
        case .draft(let text):
            var edit = HoldEdit()
            edit.raw = text
            return edit
        case .words(let line): return try HoldWords.edit(line)
        }
    }
}

/// What an export has, as a word.
enum ExportScope: String, CaseIterable {
    case selected, marked, shown
}

package struct ExportRequest: Sendable, Hashable {
    package var format: ExportFormat
    package var path: String
    /// `nil` for those that the query leaves.
    package var ids: [ExchangeID]?
    /// For where no exchanges are named.
    package var query: ListQuery
    package var isForced = false
    /// Whether secrets stay as they were recorded.
    package var keepsSecrets = false
}

/// A copy for the clipboard.
package enum CopyRequest: Sendable, Hashable {
    case whole(CopyForm, [ExchangeID])
    /// A part by its name: of the page that the options name.
    case part(CopyForm, String, ExchangeID, DetailOptions)
    /// A text as it was shown, and what it is called.
    case shown(String, String, of: [ExchangeID])

    var ids: [ExchangeID] {
        switch self {
        case .whole(_, let ids), .shown(_, _, let ids): ids
        case .part(_, _, let id, _): [id]
        }
    }

    var noun: String {
        switch self {
        case .whole(let form, let ids): (ids.count > 1 ? "\(ids.count) × " : "") + form.noun
        case .part(let form, _, _, _): form.noun
        case .shown(_, let name, _): name
        }
    }
}
