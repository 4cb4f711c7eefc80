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
    case cancelJobs
    // One exchange, or two.
    case detail(ExchangeID, DetailOptions, generation: Int)
    case compare(ExchangeID, ExchangeID, width: Int)
    case why(ExchangeID)
    case copy(CopyForm, [ExchangeID])
    case copyText(String, CopyForm)
    /// A part by its name: of the page that the options name.
    case copyPart(CopyForm, String, ExchangeID, DetailOptions)
    case loadDescriptor(path: String)
    case saveBody(ExchangeID, path: String)
    case export(ExportRequest)
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
    case openHold(String)
    case editHold(String, HoldChange)
    case decide([String], HoldDecision)
    // Sending.
    case openRequest(ExchangeID)
    case send(draft: String, ExchangeID?)
    case repeating(ExchangeID, RepeatPlan)
    // The console.
    case trust(proxy: String, Look)
    case externalEditor(EditorState)
    case copyToTerminal(String)
    case redraw, suspend, quit
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

package struct ExportRequest: Sendable, Hashable {
    package enum Form: String, CaseIterable, Sendable, Hashable {
        case curl, har, json

        package var title: String {
            switch self {
            case .curl: "cURL script"
            case .har: "HAR"
            case .json: "JSON"
            }
        }
    }

    package var form: Form
    package var path: String
    /// `nil` for those that the query leaves.
    package var ids: [ExchangeID]?
    /// For where no exchanges are named.
    package var query: ListQuery
    package var isForced = false
}
