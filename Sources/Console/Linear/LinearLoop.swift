import Foundation
import HTTPModel
import Recording
import Runner
import Terminal

/// The console without a screen: takes a line, does what it says, waits for the answer and writes it, then takes the next.
///
/// It changes the same model by the same commands as the screen's loop; only what the model opens is written as lines.
final class LinearLoop {
    /// What is to be written of the list or of an exchange once all is answered.
    enum Answer {
        case none
        case rows(Int)
        case detail
        case selected
        case counts
        case structure
    }

    var model: ConsoleModel
    let effects: EffectRunner
    private let inbox: Inbox
    private let signals: TerminalSignals
    private let write: (String) -> Void
    var input: LinearInput
    var awaited = LinearAwaited()
    /// What the line that was taken last comes to; `nil` once it is written.
    var answer: Answer?
    /// The rows that `list` asked for, newest first.
    var rows: [ExchangeRecord?] = []
    /// The rule that `apply` puts in force.
    var draft: EditorState?
    /// Whether new exchanges are told.
    var isVerbose = true
    /// Whether the last line was in vain.
    var hasFailed = false {
        didSet { hasEverFailed = hasEverFailed || hasFailed }
    }
    /// Whether a line was in vain.
    private var hasEverFailed = false
    /// Whether a signal ends it.
    private var isInterrupted = false
    var hasEnded = false
    /// Whether a message that waits lets the line that is being done go on beside the next one.
    var yieldsToHolds = false
    private var left = 0
    private var isStarting = true
    private var isConnected = false
    private var news: LinearNews?
    private var newsProblem = ""
    private var failure: (any Error)?
    private var lastTick = ContinuousClock.now - .seconds(1)

    init(
        _ model: ConsoleModel,
        _ input: LinearInput,
        _ signals: TerminalSignals,
        _ inbox: Inbox,
        _ effects: EffectRunner,
        _ write: @escaping (String) -> Void
    ) {
        self.model = model
        self.input = input
        self.signals = signals
        self.inbox = inbox
        self.effects = effects
        self.write = write
    }

    /// Runs until the input ends or `quit`; returns whether all lines were done.
    func run() throws -> Bool {
        model.list.progress = 0
        perform([.setQuery(model.list.query, generation: 0)])
        while !hasEnded {
            let isSettled = settle()
            if isSettled, !isStarting {
                finishAnswer()
                do {
                    if let line = try input.next() {
                        take(line)
                        continue
                    }
                } catch {
                    refuse("\(error)")
                    continue
                }
                if input.isOver { break }
            }
            wait(readsInput: isSettled && !isStarting)
        }
        if let failure { throw failure }
        if !hasEnded || isInterrupted, model.losesRules { say("Changed rules are in no file.") }
        return !hasEverFailed
    }

    /// Writes a line; signs that could drive a terminal are made visible.
    func say(_ line: String) {
        write(
            line.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
                .map { VisibleText.of(String($0)) + "\n" }
                .joined()
        )
    }

    /// Says why a line was in vain.
    func refuse(_ line: String) {
        hasFailed = true
        say(line)
    }

    // MARK: - Waiting

    /// Takes what has been answered; returns whether nothing more is to come.
    private func settle() -> Bool {
        let unfinished = effects.unfinished
        left = min(left, unfinished)
        let messages = inbox.take()
        for message in messages { update(message) }
        tick()
        guard messages.isEmpty, unfinished <= left, awaited.isEmpty else { return false }
        guard isStarting else { return true }
        guard isConnected else { return false }
        begin()
        return true
    }

    private func wait(readsInput: Bool) {
        let descriptors = [inbox.descriptor, signals.descriptor] + (readsInput ? [input.descriptor] : [])
        let ready = EventWaiter.wait(for: descriptors, timeoutMilliseconds: readsInput ? 100 : 10)
        if ready.contains(input.descriptor) { input.read() }
        guard ready.contains(signals.descriptor) else { return }
        let signals = signals.drain()
        // What runs is stopped first; where nothing does, the console is.
        if signals == [.interrupt], answer != nil, !model.jobs.isEmpty {
            change { $0.perform(.cancel, nil) }
        } else if !signals.isEmpty {
            (hasEnded, isInterrupted) = (true, true)
        }
    }

    private func tick() {
        guard ContinuousClock.now - lastTick >= .milliseconds(100) else { return }
        lastTick = .now
        update(.tick(Int64(Date().timeIntervalSince1970 * 1_000_000)))
        effects.poll()
        tellNews()
    }

    // MARK: - The model

    /// Changes the model, and writes what it says of it.
    func change(_ body: (inout ConsoleModel) -> [Effect]) {
        let before = model.notices
        model.notices = []
        let list = body(&model)
        let fresh = model.notices
        model.notices = (before + fresh).suffix(Notice.most)
        for notice in fresh { tell(notice) }
        perform(list)
    }

    private func tell(_ notice: Notice) {
        if notice.kind == .error, answer != nil { hasFailed = true }
        say(notice.text)
    }

    private func update(_ message: Message) {
        awaited.take(message, generation: model.list.generation)
        switch message {
        case .failed(let error):
            failure = error
            hasEnded = true
        case .ready:
            isConnected = effects.services?.steering == nil
            if effects.reader == nil { awaited = LinearAwaited() }
        case .proxy(let status, let holds): return take(status, holds)
        // Without a screen no terminal is handed anything: the text itself is the answer.
        case .copied(let text, _): return say(text)
        case .proxyLost(let reason):
            isConnected = true
            if model.proxy.problem == nil { say(reason) }
        case .query(.rows(let generation, 0, let records)) where generation == model.list.generation:
            if case .rows(let count)? = answer, records.count >= min(count, model.list.total) {
                rows = Array(records.prefix(count))
            }
        default: break
        }
        change { $0.update(message) }
    }

    private func take(_ status: ControlStatus, _ holds: [HoldSummary]) {
        isConnected = true
        let known = Set(model.proxy.holds.map(\.id))
        // The screen's words for a message that waits name keys; these are said instead.
        let before = model.notices
        perform(model.update(.proxy(status, holds)))
        model.notices = before
        for hold in holds where !known.contains(hold.id) {
            say(LinearSentence.text(hold))
            if yieldsToHolds { left = effects.unfinished }
        }
    }

    func perform(_ list: [Effect]) {
        for effect in list {
            switch effect {
            case .quit: hasEnded = true
            case .redraw, .suspend: break
            case .externalEditor(let editor): edit(editor)
            case .copy(let form, let id): effects.copy(form, id, asText: isatty(STDOUT_FILENO) == 0)
            default:
                awaited.add(effect)
                effects.perform(effect)
            }
        }
    }

    /// Lets the user edit a text with an editor, where there is a terminal to do it on.
    func edit(_ editor: EditorState) {
        do {
            let text = try ExternalEditor.edit(editor.area.text, for: editor.purpose)
            change { model in
                guard !text.hasSameBytes(as: editor.area.text) else {
                    model.tell("Nothing was changed.")
                    return []
                }
                var editor = editor
                editor.area = TextArea(text)
                model.overlays.append(.editor(editor))
                return model.finish(editor)
            }
        } catch {
            refuse("\(error)")
        }
    }

    // MARK: - Beginning and news

    private func begin() {
        isStarting = false
        news = LinearNews(after: (try? effects.reader?.bounds()?.upperBound) ?? 0)
        let count = LinearSentence.count(model.list.sessionTotal, "exchange")
        switch model.source {
        case .live, .demo, .attached:
            if !model.proxy.address.isEmpty { say("Listening on \(model.proxy.address).") }
            if let session = model.proxy.session ?? effects.services?.session { say("Recording to \(session).") }
            for hold in model.proxy.holds { say(LinearSentence.text(hold)) }
        case .recorded(let name): say("\(name), \(count).")
        }
        say("help lists the commands.")
    }

    /// Says which exchanges have ended, as far as the filter leaves them.
    private func tellNews() {
        guard model.isLive, let reader = effects.reader else { return }
        do {
            guard let ended = try news?.ended(reader), isVerbose else { return }
            let query = model.list.query
            let told = ended.filter { record in
                (query.focusedHosts.isEmpty || query.focusedHosts.contains(record.url.host))
                    && query.filter.decides(record) != false
            }
            for record in told.prefix(LinearNews.most) { say(LinearSentence.text(record)) }
            if told.count > LinearNews.most {
                say("And \(LinearSentence.count(told.count - LinearNews.most, "further exchange")).")
            }
        } catch {
            guard newsProblem != "\(error)" else { return }
            newsProblem = "\(error)"
            say(newsProblem)
        }
    }

}
