package import HTTPModel
package import Runner
package import Sharing
package import Terminal

/// What has happened: the only thing that changes the model.
package enum Message: Sendable {
    case input(InputEvent)
    /// A command by its name, as the palette and linear mode give it.
    case command(Command, String?)
    /// A question was answered; `nil` for the answer that nothing happens at.
    case chosen(ConfirmState.Action?)
    /// On lines: what lies over the list was written, and so was the answer to the last line.
    case written
    case resized(Size)
    /// Time has passed: microseconds since 1970.
    case tick(Int64)
    /// The session has answered.
    case query(QueryEvent)
    /// The proxy runs or the session is open; where the authority's certificate is.
    case ready(authority: String)
    /// The proxy runs, or has changed.
    case proxy(ControlStatus, [HoldSummary])
    /// The proxy has ended or cannot be reached; why.
    case proxyLost(String)
    /// The rules that are in force, where they came from elsewhere than the console.
    case rules([ProfileSource], revision: String? = nil)
    /// Changed rules are in force; what has changed, in words.
    case rulesApplied([ProfileSource], String, revision: String? = nil)
    /// Changed rules are wrong, or were made from others than are in force; so these stay.
    case rulesRefused([ProfileSource], String, revision: String? = nil)
    /// The rules are in these files, and these are they.
    case rulesSaved([String], [ProfileSource], revision: String? = nil)
    /// A file of the profile was made or changed by another, so it is not overwritten without a question.
    case rulesConflict(SavingConflict, String)
    case rulesNotSaved(String)
    case detail(generation: Int, ExchangeID, pages: [DetailPage], DetailDocument)
    case report(title: String, DetailDocument)
    case editor(EditorState)
    /// What a rule that is being edited would do, or what is wrong with it.
    case ruleRemark(text: String, String, isWrong: Bool)
    /// What an editor of the user's came back with.
    case edited(EditorState, String)
    /// The text of an editor was taken, or refused; why.
    case answered(EditorState.Purpose, refusal: String?)
    case exportConflict(ExportRequest)
    /// Something was done, or could not be.
    case said(String, Notice.Kind)
    /// A text for the terminal's clipboard, and what to say of it.
    case copied(String, String)
    case job(Job)
    case jobEnded(Job.Kind)
    /// The console cannot go on; why.
    case failed(any Error)
    /// The console is asked to end, by a signal.
    case stop
}
