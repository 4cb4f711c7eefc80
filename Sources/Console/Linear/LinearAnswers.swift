import Description
import Foundation
import HTTPModel
import Recording
import Rules

extension LinearLoop {
    private static let mostLines = 100

    /// Prints the overlays, the top one first; returns the text to edit if there is a terminal for an editor.
    func writeOverlays() -> EditorState? {
        for overlay in model.overlays.reversed() {
            switch overlay {
            // Questions are printed separately, once no overlay is above them; linear mode has no prompts.
            case .confirm, .prompt: break
            case .report(let report):
                say("\(report.title):")
                for line in report.document.lines { say(line.plain) }
            case .picker(let picker):
                refuse("\(picker.title): write the command and one of these.")
                for item in picker.items {
                    say("\(item.value): \(item.title)\(item.detail.isEmpty ? "" : ", \(item.detail)")")
                }
            case .editor(let editor):
                if !editor.isDraft, isatty(STDIN_FILENO) == 1 { return editor }
                write(editor)
            case .panel(let panel): writeRules(of: panel.tool)
            case .holds: for hold in model.proxy.holds { say(LinearSentence.text(hold)) }
            }
        }
        return nil
    }

    private func write(_ editor: EditorState) {
        say("\(editor.title):")
        for line in editor.area.lines.prefix(Self.mostLines) { say("  \(line)") }
        let left = editor.area.lines.count - Self.mostLines
        if left > 0 { say("And \(LinearSentence.count(left, "further line")); draft reads all.") }
        switch editor.purpose {
        case .rule:
            if editor.isWrong { refuse(editor.remark) } else if !editor.remark.isEmpty { say("\(editor.remark).") }
            say("apply activates it; draft KEY VALUE changes it; discard deletes it.")
        case .hold(let id):
            say("edit \(id) NAME=VALUE changes it, for example: edit \(id) method=PUT header=\"X-Mode: test\"")
        case .request, .newRequest:
            if editor.isWrong { refuse(editor.remark) }
            say("apply sends it; draft NAME VALUE changes it, for example: draft header X-Mode: test")
        }
    }

    private func writeRules(of tool: Tool) {
        say("\(tool.title): \(model.describe(tool)).")
        for (index, rule) in model.panelRules(tool).enumerated() {
            let problem = rule.problem.map { "; \($0)" } ?? ""
            say("\(index + 1). \(rule.isEnabled ? "on" : "off"), \(rule.summary)\(problem)")
        }
    }

    func ask(_ question: ConfirmState) -> String {
        let choices = question.choices.map { "\($0.key): \($0.title)" }.joined(separator: "; ")
        return "\(question.question) Answer \(choices)."
    }

    func write(_ answer: CommandEntry.Answer) {
        switch answer {
        case .none: break
        case .rows:
            for record in rows.reversed() { record.map { say(sentence($0)) } }
            for line in model.counts { say(line) }
        case .detail: writeDetail()
        case .matches
        where model.detail.options.place != nil && model.detail.sought == model.detail.options.place?.description:
            writeDetail()
        case .matches:
            guard let document = model.detail.text.document else { return }
            var last = -1
            for place in model.detail.text.found?.all ?? [] where place.line != last {
                last = place.line
                say("\(last + 1). \(document.lines[last].plain)")
            }
        case .selected: model.list.selectedRecord.map { say(sentence($0)) }
        case .counts where model.view == .structure: writeStructure()
        case .counts where model.view == .timeline: for line in model.timelineLines { say(line) }
        case .counts: for line in model.counts { say(line) }
        }
    }

    func sentence(_ record: ExchangeRecord) -> String {
        let (isMarked, highlight) = (model.marked.contains(record.id), model.highlight(record))
        return LinearSentence.text(record, isMarked: isMarked, highlight: highlight, columns: model.list.columns)
    }

    func host(of id: ExchangeID, for command: Command) throws -> String {
        guard let record = try effects.reader?.record(id) else { throw ConsoleError(isMissing: id) }
        if command == .insecureHost { return record.failure?.unverifiedHost ?? record.url.host }
        guard [.decrypt, .pass].contains(command) else { return record.url.authority }
        if let reason = record.noTLS { throw ConsoleError(reason) }
        return record.url.placeOfTLS
    }

    private func writeDetail() {
        guard let document = model.detail.text.document, let id = model.detail.id, model.detail.isOpen else { return }
        let page = model.detail.page
        say("Exchange \(id), \(page.rawValue):")
        for line in document.lines { say(line.plain) }
        let others = model.detail.pages.filter { $0 != page }.map(\.rawValue)
        say("End of \(page.rawValue); page \(others.joined(separator: ", ")) shows more.")
    }

    private func writeStructure() {
        for (index, row) in model.structure.rows.enumerated() {
            let indent = String(repeating: "  ", count: row.depth)
            let errors = row.child.errors > 0 ? ", \(LinearSentence.count(row.child.errors, "error"))" : ""
            let count = LinearSentence.count(row.child.count, "exchange")
            say("\(index + 1). \(indent)\(row.child.name), \(count)\(errors)")
        }
    }
}

struct LinearAwaited {
    private var list = false
    private var rows = 0
    private var positions = 0
    private var finds = 0
    private var nodes: Set<StructureNode> = []
    private var statistics = false

    var isEmpty: Bool { !list && rows == 0 && positions == 0 && finds == 0 && nodes.isEmpty && !statistics }

    mutating func add(_ effect: Effect) {
        switch effect {
        case .setQuery:
            // Requests about the previous list are never answered.
            self = LinearAwaited()
            list = true
        case .load: rows += 1
        case .locate: positions += 1
        case .find: finds = 1
        case .structure(let node, _): nodes.insert(node)
        case .statistics: statistics = true
        default: break
        }
    }

    mutating func take(_ message: Message, generation: Int) {
        guard case .query(let event) = message else { return }
        switch event {
        case .list(let status) where status.generation == generation && status.progress == nil: list = false
        case .rows(generation, _, _): rows = max(0, rows - 1)
        case .position(generation, _, _): positions = max(0, positions - 1)
        case .found(generation, _): finds = 0
        case .structure(let level) where level.generation == generation && level.progress == nil:
            nodes.remove(level.node)
        case .statistics(let answer) where answer.generation == generation && answer.progress == nil: statistics = false
        case .failed: self = LinearAwaited()
        default: break
        }
    }
}

struct LinearNews {
    /// The maximum number of sentences at once; further exchanges are only counted.
    static let most = 20
    private static let mostOpen = 1_000

    private var last: Int64
    private var open: [Int64] = []

    init(after last: Int64) { self.last = last }

    mutating func ended(_ reader: SessionReader) throws -> [ExchangeRecord] {
        let upper = try reader.bounds()?.upperBound ?? 0
        if upper > last {
            open += Array((last + 1)...min(upper, last + 5_000))
            last = min(upper, last + 5_000)
        }
        guard !open.isEmpty else { return [] }
        let records = try reader.records(open)
        let still = zip(open, records).filter { $1.map { $0.state == .inFlight } ?? true }
        open = still.map(\.0).suffix(LinearNews.mostOpen)
        // An import reports the number of its exchanges in one sentence.
        return records.compactMap(\.self).filter { $0.state != .inFlight && $0.extras.origin == nil }
    }
}
