import Clients
import HTTPModel
import Runner

extension CommandTable {
    static let send = [
        Row(.repeatRequest, "Send the request again", ["p"], .id).with { $0.repeatSelection($1) }.at([.list])
            .short("repeat").unless(\.noSending),
        Row(.compose, "Edit the request and send it", ["P"], .id).with { $0.on($1) { .openRequest($0) } }.at([.list])
            .unless(\.noSending),
        Row(.repeatAdvanced, "Send it many times", ["A"], .plan).asking { try $0.repeatMany($1) }.at([.list])
            .unless(\.noSending),
        Row(.newRequest, "New request: blank, a URL or a cURL command", ["ctrl-n"], "[METHOD URL | curl …]")
            .with { $0.newRequest($1) }.unless(\.noProxyToSend),
        Row(.requests, "Requests sent from here", [], .sent).asking { $0.openSent($1) }.unless(\.noSent),
    ]
}

package struct SendState: Sendable {
    var connections = SentConnections()
    /// Requests that were edited and sent here, the newest last; never stored in a file, because they may hold secrets.
    var requests: [SentRequest] = []
}

struct SentRequest: Sendable, Hashable {
    /// The maximum number of stored requests, and the maximum length of each text in bytes.
    static let most = 50
    static let longest = 1 << 20

    var purpose: EditorState.Purpose
    var text: String

    /// The first line without the HTTP version: `POST https://api.example.com/login`.
    var title: String {
        let line = text.prefix { !$0.isNewline }
        return line.hasSuffix(" HTTP/1.1") ? String(line.dropLast(9)) : String(line)
    }
}

extension ConsoleModel {
    /// Prompts for a method and a URL; if there is a text (both, or a cURL command), opens a request made from it.
    mutating func newRequest(_ text: String?) -> [Effect] {
        if let text { return [.composeRequest(text)] }
        if isLinear {
            return refuse("new needs a method and a URL, or a cURL command: new POST http://localhost:3000/login")
        }
        let title = "New request: [METHOD] URL, or a cURL command"
        var prompt = PromptState(command: .newRequest, title: title, line: LineEditor())
        prompt.hint = "Leave empty for a blank request. You edit it before it is sent. Up: earlier requests."
        prompt.history = sending.requests.map(\.title)
        prompt.historyIndex = prompt.history.count
        return push(.prompt(prompt))
    }

    mutating func remember(_ editor: EditorState) {
        let request = SentRequest(purpose: editor.purpose, text: editor.finishedText)
        // A text with a blank first line is not a valid request.
        guard request.text.utf8.count <= SentRequest.longest, !request.title.allSatisfy(\.isWhitespace) else { return }
        sending.requests.removeAll { $0.text == request.text }
        sending.requests.append(request)
        if sending.requests.count > SentRequest.most { sending.requests.removeFirst() }
    }

    var sentChoices: PickerState {
        let items = sending.requests.reversed().enumerated().map { PickerState.Item("\($0 + 1)", $1.title) }
        return PickerState(command: .requests, title: "Requests sent from here", items: items)
    }

    /// Opens an earlier request again, 1 for the newest; in linear mode, it becomes the draft.
    mutating func openSent(_ number: String) -> [Effect] {
        guard let number = Int(number), number > 0, number <= sending.requests.count else {
            return refuse("requests takes a number from 1 to \(sending.requests.count), 1 for the newest.")
        }
        let request = sending.requests[sending.requests.count - number]
        let (area, remark) = (TextArea(request.text), RequestWords.remark)
        return open(EditorState(purpose: request.purpose, title: "Edit and send", area: area, remark: remark))
    }

    var noSent: String? {
        let none = "No request was written or edited here yet; \(way(to: .newRequest)) writes one."
        return noProxyToSend ?? (sending.requests.isEmpty ? none : nil)
    }

    var noSending: String? { noProxyToSend ?? noSelection }

    var noProxyToSend: String? {
        guard case .recorded = source else { return noSteering }
        return "Not available: viewing a recording. Requests are sent through a running proxy."
    }

    /// Sends an exchange again: the named one, the marked ones or the selected one; asks before it sends marked ones.
    mutating func repeatSelection(_ argument: String?) -> [Effect] {
        if argument != nil || marks.isEmpty || marks == [selectedID].compactMap(\.self) {
            return on(argument) { .send(.request($0)) }
        }
        let what = marks.count == 1 ? "the marked request \(marks[0])" : "the \(marks.count) marked requests"
        let ids = marks
        let send = "send \(ids.count == 1 ? "it" : "them")"
        return confirm("Send \(what) again?", send, takesCare: true) { $0.sendEach(ids) }
    }

    mutating func sendEach(_ ids: [ExchangeID]) -> [Effect] {
        start(Job(id: .repeating, title: "sending \(ids.count) requests", progress: 0, startedAt: now))
        return [.sendEach(ids)]
    }

    mutating func executeAll() -> [Effect] {
        guard proxy.holds.count > 1, !isLinear else { return decide(.execute, "all") }
        let question = "Execute all \(proxy.holds.count) held messages without edits?"
        return confirm(question, "execute them", takesCare: true) { $0.decide(.execute, "all") }
    }

    /// Handles pasted text outside of fields: a cURL command or URL opens a request; other text is ignored.
    mutating func pasteOutside(_ text: String) -> [Effect] {
        let words = RequestWords.trimmed(text)
        if RequestWords.isRequest(words), overlays.isEmpty {
            return whyNot(.newRequest).map { refuse($0) } ?? [.composeRequest(words)]
        }
        let ignored = "Pasted text ignored (\(LinearSentence.count(text.count, "character")))"
        let filter = "or press \(way(to: .filter)) to paste into the filter"
        return refuse("\(ignored): paste a cURL command or a URL for a new request, \(filter).")
    }

    mutating func paste(_ text: String, into prompt: PromptState) -> [Effect] {
        var prompt = prompt
        let isLong = text.contains { $0.isNewline } || text.count > LineEditor.longest
        // A command with several lines would lose its line breaks in the prompt.
        if prompt.command == .newRequest, prompt.line.text.isEmpty, isLong, RequestWords.isRequest(text) {
            overlays.removeLast()
            return [.composeRequest(RequestWords.trimmed(text))]
        }
        prompt.line.insert(text)
        prompt.forgetMistake()
        replaceTop(by: .prompt(prompt))
        return []
    }
}
