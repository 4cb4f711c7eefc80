package import HTTPModel
package import Recording
package import Runner
package import Sharing
package import Terminal

/// What has happened: the only thing that changes the model.
package enum Message: Sendable {
    case input(InputEvent)
    case command(Command, String?)
    /// A question was answered; `nil` where the answer does nothing.
    case chosen(ConfirmState.Action?)
    /// On lines: the overlays and the answer to the last line were written.
    case written
    case resized(Size)
    /// In microseconds since 1970.
    case tick(Int64)
    case query(QueryEvent)
    /// The proxy runs or the session is open; with the path of the authority's certificate.
    case ready(authority: String)
    /// The addresses of this machine in its networks.
    case addresses([String])
    case proxy(ControlStatus, [HoldSummary])
    /// Why the proxy has ended or cannot be reached.
    case proxyLost(String)
    /// The rules in force, changed elsewhere than here.
    case rules([ProfileSource], revision: String? = nil)
    /// Changed rules are in force; with a description of the change.
    case rulesApplied([ProfileSource], String, revision: String? = nil)
    /// Changed rules are wrong, or were made from others than are in force; these stay.
    case rulesRefused([ProfileSource], String, revision: String? = nil)
    /// The rules were saved to these files.
    case rulesSaved([String], [ProfileSource], revision: String? = nil)
    /// A file of the profile was made or changed by another program, so overwriting it needs a question.
    case rulesConflict(SavingConflict, String)
    case rulesNotSaved(String)
    case detail(generation: Int, ExchangeID, pages: [DetailPage], DetailDocument, beside: DetailDocument? = nil)
    /// A text to read, and the topic of the guide that it is about.
    case report(title: String, DetailDocument, topic: String? = nil)
    case editor(EditorState)
    /// What a rule in an editor would do, or what is wrong with it.
    case ruleRemark(text: String, String, isWrong: Bool)
    /// The text from the user's own editor.
    case edited(EditorState, String)
    /// The text of an editor was accepted, or refused for a reason.
    case answered(EditorState.Purpose, refusal: String?)
    case exportConflict(ExportRequest)
    /// Exchanges were deleted, brought back, commented or coloured; with their numbers.
    case sessionEdited(EditRequest, SessionEditResult, ExchangeNumbers, undo: [SessionEdit] = [])
    /// There is a file already where a copy of the session was to be written.
    case sessionExists(path: String)
    /// The path that the rule in an editor names and that is not there; `nil` where it is. With the rule's text.
    case answerOffer(String?, for: String)
    /// The names in a directory, for a path that is typed.
    case fileNames([String], for: String)
    /// A command that was given with an argument was refused after its prompt had closed.
    case refused(Command, String)
    /// Another session is shown: its name, `nil` for the console's own; whether that one goes on behind.
    case opened(String?, hidesLive: Bool)
    /// The session was rotated: where the recording goes on, where it was before, and whether it is shown.
    case rotated(to: String, from: String, isShown: Bool)
    /// A body was written to a file to be looked at.
    case viewBody(String, isText: Bool)
    case said(String, Notice.Kind)
    /// What was copied: the text, where it is for the terminal's clipboard, the notice about it, and how many secrets it
    /// holds.
    case copied(String?, String, secrets: Int = 0)
    /// An exchange that this console sent, from another one or from a new text.
    case sent(ExchangeID, of: ExchangeID?)
    /// The connections on which this console has sent requests.
    case connections(SentConnections)
    case job(Job)
    case jobEnded(Job.Kind)
    case failed(any Error)
    case stop

    /// Whether this comes because the user asked for it, not because of traffic or time.
    var isAnswer: Bool {
        switch self {
        case .tick, .query, .proxy, .connections, .job, .rotated: false
        default: true
        }
    }
}
