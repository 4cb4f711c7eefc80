import Description
import Formats
import HTTPModel
import Recording
import Rules

@testable import Console
@testable import Jobs
@testable import Runner

extension Effect {
    /// The effect in a few words, to compare with.
    var words: String {
        switch self {
        case .setQuery(let query, let generation): "query \(query.filter.description) #\(generation)"
        case .load(let range, let generation): "load \(range.lowerBound)..<\(range.upperBound) #\(generation)"
        case .readValues(let ids, let places, _):
            "values of \(ids.count) at \(places.map(\.description).joined(separator: " "))"
        case .locate(let id, let generation): "locate \(id.number) #\(generation)"
        case .find(_, let from, let forward, _): "find \(forward ? "after" : "before") \(from)"
        case .detail(let id, let options, let generation): "detail \(id.number) \(options.page.rawValue) #\(generation)"
        case .setTool(let tool, let isOn): "\(tool.key) \(isOn ? "on" : "off")"
        case .resetTool(let tool): "\(tool.key) reset"
        case .draftRule(let tool, let origin, let level):
            "draft \(tool.key) \(origin?.words ?? "example") \(level)"
        case .checkRule(let tool, _, let replaced, _): "check \(tool.key) \(replaced.map { "\($0)" } ?? "new")"
        case .loadRules: "load rules"
        case .applyRules: "apply rules"
        case .reloadRules: "reload rules"
        case .saveRules(let isForced): isForced ? "save rules over" : "save rules"
        case .compare(let left, let right, _): "compare \(left.number) \(right.number)"
        case .copy(let request, let isMasked): (isMasked ? "masked " : "") + request.words
        case .loadDescriptor(let path): "load descriptor \(path)"
        case .decide(let ids, let decision): "\(decision.rawValue) \(ids.joined(separator: " "))"
        case .editHold(let id, .draft): "edited \(id)"
        case .editHold(let id, .words(let words)): "edit \(id) \(words)"
        case .decrypt(let host): "decrypt \(host)"
        case .switchVerification(let host): "verify or not \(host)"
        case .edit(.delete(.exchanges(let ids), _)): "delete \(ids.map(\.description).joined(separator: " "))"
        case .edit(.delete(.branch(.root), let query)): "clear \(query.filter.description)"
        case .edit(.delete(.branch(let node), _)): "delete below \(node.site ?? "root")"
        case .edit(.restore(let change)): "restore \(change.undo.map(\.words).joined(separator: " "))"
        case .edit(.note(let selection, _, let note)): "note \(selection) \(note)"
        case .setRecording(let isOn): "record \(isOn ? "on" : "off")"
        case .saveSession(let path, let isForced): "save session \(path)\(isForced ? " over" : "")"
        case .openHold(let id): "open hold \(id)"
        case .repeating(let id, let plan): "repeat \(id.number) \(plan)"
        case .send(_, .newRequest): "send new"
        case .send(_, let purpose): "send \(purpose.origin?.number ?? 0)"
        case .why(let id): "why \(id.number)"
        case .saveCopy(_, let path): "save copy \(path)"
        case .saveBody(let id, let path): "save body \(id.number) \(path)"
        case .export(let request): "export \(request.format.rawValue) \(request.path)"
        case .openRequest(let id): "open request \(id.number)"
        case .editDraft(_, let words): "edit draft \(words)"
        case .structure(let node, _): "structure \(node.site ?? "root")"
        case .statistics: "statistics"
        case .statisticsReport(let filter, let numbers, _, _):
            "statistics of \(numbers.map { "\($0)" } ?? filter.description)"
        case .exchanges(let node, _): "exchanges \(node.url.map { "\($0)" } ?? "root")"
        case .numbers(let node, let most, _): "numbers \(node?.url.map { "\($0)" } ?? "all") \(most)"
        case .countHidden(let ids, _): "count \(ids.count) hidden"
        case .cancelJobs: "cancel jobs"
        case .trust(let steps, _): "trust \(steps.proxy)"
        case .terminal(.edit): "editor"
        case .terminal(.editFile(let path)): "edit file \(path)"
        case .terminal(.view(let path, _)): "view \(path)"
        case .terminal(.copy(let text)): "copy to terminal \(text)"
        case .terminal(let effect): "\(effect)"
        case .composeRequest(let text): "compose \(text)"
        case .sendEach(let ids): "send each \(ids.map(\.description).joined(separator: " "))"
        case .offerAnswer(_, let id, _): "offer answer \(id.number)"
        case .saveSwitched: "save switched"
        case .loadProfile(let file, let isForced): "profile \(file ?? "again")\(isForced ? " over" : "")"
        case .openSession(let path): "open session \(path)"
        case .backToLive: "back to live"
        case .importSession(let path): "import \(path)"
        case .completeFile(let path): "complete \(path)"
        case .openBody(let id, let side): "open body \(id.number) \(side)"
        }
    }
}

extension CopyRequest {
    fileprivate var words: String {
        switch self {
        case .whole(let form, let ids): "copy \(form.rawValue) \(ids.map { "\($0.number)" }.joined(separator: " "))"
        case .part(let form, let name, let id, _): "copy \(form.rawValue) \(name) \(id.number)"
        case .shown(let text, _, _): "copy text \(text)"
        }
    }
}

extension RuleOrigin {
    fileprivate var words: String {
        switch self {
        case .exchange(let id): "\(id.number)"
        case .value(let value): "\(value.id.number) \(value.place)=\(value.node.flow)"
        case .place(let node): node.url.map { "\($0)" } ?? "nowhere"
        }
    }
}

extension Effect {
    /// The exchanges that the effect is about.
    var exchanges: [ExchangeID] {
        switch self {
        case .locate(let id, _), .detail(let id, _, _), .why(let id), .saveBody(let id, _), .openRequest(let id),
            .repeating(let id, _):
            [id]
        case .draftRule(_, let origin, _): origin?.exchange.map { [$0] } ?? []
        case .compare(let left, let right, _): [left, right]
        case .copy(let request, _): request.ids
        case .send(_, let purpose): purpose.origin.map { [$0] } ?? []
        default: []
        }
    }
}

extension [Effect] {
    /// Each effect in a few words.
    var words: [String] { map(\.words) }
}

extension SessionEdit {
    fileprivate var words: String {
        switch self {
        case .delete(let numbers): "delete \(numbers)"
        case .restore(let mark): mark.map(String.init) ?? "last"
        case .annotate(let numbers, let note): "\(numbers) \(note)"
        }
    }
}
