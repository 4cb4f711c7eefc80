import Foundation
import HTTPModel
import Recording
import Runner
import Terminal
import Text

/// The console without a screen: reads a line, performs it, waits for the answer and prints it, then reads the next
/// line. It updates the same model with the same messages as the screen's loop. Overlays are printed as lines and then
/// closed by ``Message/written``.
final class LinearLoop {
    private(set) var model: ConsoleModel
    let effects: EffectRunner
    private let signals: TerminalSignals
    private let write: (String) -> Void
    private var input: LinearInput
    private var awaited = LinearAwaited()
    /// The kind of answer that the last line needs; `nil` once the answer is printed.
    private(set) var answer: CommandEntry.Answer?
    /// The number of rows that `list` has to print, and these rows, newest first.
    private var wantedRows = 0
    private(set) var rows: [ExchangeRecord?] = []
    private(set) var hasFailed = false { didSet { hasEverFailed = hasEverFailed || hasFailed } }
    private var hasEverFailed = false
    /// A line that refers to the last exchange of the list, until this exchange is known.
    private var postponed: String?
    private var newest: ExchangeID?
    /// The next line, the number of exchanges in the session when it was read, and the time limit for the list.
    private var arrived: (line: String, total: Int, by: ContinuousClock.Instant)?
    /// The number of exchanges in the session before a request was sent; `nil` once there are more.
    private var totalBefore: Int?
    private var sentBy: ContinuousClock.Instant?
    private var isInterrupted = false
    private var hasEnded = false
    /// Whether the next line is read as soon as a new message is held, before the current line has finished.
    private var yieldsToHolds = false
    private var left = 0
    private var isStarting = true
    private var isConnected = false
    private var news: LinearNews?
    private var newsProblem = ""
    private var recordingProblem = ""
    private var failure: (any Error)?
    private var lastTick = ContinuousClock.now - .seconds(1)

    init(_ model: ConsoleModel, input: Int32, _ effects: EffectRunner, _ write: @escaping (String) -> Void) throws {
        self.model = model
        self.input = LinearInput(descriptor: input)
        self.effects = effects
        self.write = write
        signals = try TerminalSignals([.terminate, .hangUp, .interrupt])
    }

    /// Runs until the input ends or a line says `quit`; returns whether all lines succeeded.
    func run() throws -> Bool {
        perform([.setQuery(model.list.query, generation: 0)])
        while !hasEnded {
            let isSettled = settle()
            if isSettled, !isStarting {
                finishAnswer()
                guard answer == nil else { continue }
                do {
                    if let line = postponed {
                        postponed = nil
                        try take(line, isLastKnown: true)
                        continue
                    }
                    if let line = try arrived?.line ?? input.next() {
                        guard isListCurrent(for: line) else {
                            wait(readsInput: false)
                            continue
                        }
                        arrived = nil
                        try take(line)
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
        if case .confirm? = model.overlays.last, !hasEnded {
            refuse("The question was not answered: nothing was done.")
        }
        if !hasEnded || isInterrupted, model.losesRules { say("You have unsaved rule changes.") }
        return !hasEverFailed
    }

    /// Prints a line, with control characters made visible.
    func say(_ line: String) {
        let lines = line.split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        write(lines.map { VisibleText.of(String($0)) + "\n" }.joined())
    }

    func refuse(_ line: String) {
        hasFailed = true
        say(line)
    }

    // MARK: - Lines

    private func take(_ line: String, isLastKnown: Bool = false) throws {
        if case .confirm(let question)? = model.overlays.last { return decide(question, line) }
        guard let order = try CommandCall(line), let entry = CommandTable.entry(order.command) else { return }
        if !isLastKnown, entry.argument.names(last: order.argument), model.list.total > 0 {
            (postponed, newest) = (line, nil)
            return perform([.load(0..<1, generation: model.list.generation)])
        }
        var argument = entry.argument.withNumber(of: isLastKnown ? newest : nil, order.argument)
        let id = argument.flatMap { Int64($0.drop { $0 == "#" }) }.map { ExchangeID($0) }
        if case .host = entry.argument.form, let id { argument = try host(of: id, for: order.command) }
        (hasFailed, answer, rows) = (false, entry.answer, [])
        wantedRows = argument.flatMap { Int($0) } ?? 20
        yieldsToHolds = entry.group == .send || order.command == .apply
        if order.command == .mark, let id, try effects.reader?.record(id) == nil { throw ConsoleError(isMissing: id) }
        update(.answer { [argument] in $0.perform(order.command, argument) })
    }

    private func decide(_ question: ConfirmState, _ line: String) {
        let word = line.lowercased().filter { !$0.isWhitespace }
        let key = ["yes": "y", "no": "n"][word] ?? word
        let choice = question.choices.first { choice in
            let title = choice.title.lowercased().filter { !$0.isWhitespace }
            return !word.isEmpty && (title.hasPrefix(word) || key == String(choice.key))
        }
        guard let choice else { return refuse(ask(question)) }
        (hasFailed, answer) = (false, CommandEntry.Answer.none)
        update(.answer { $0.choose(choice) })
    }

    private func finishAnswer() {
        if case .confirm(let question)? = model.overlays.last {
            if answer != nil { say(ask(question)) }
            answer = nil
            return
        }
        let editor = writeOverlays()
        if let answer, !hasFailed { write(answer) }
        answer = nil
        update(.written)
        guard let editor else { return }
        answer = CommandEntry.Answer.none
        perform(.edit(editor))
    }

    // MARK: - Waiting

    /// Handles the received messages; returns whether no more are expected.
    private func settle() -> Bool {
        let unfinished = effects.unfinished
        left = min(left, unfinished)
        let messages = effects.inbox.take()
        for message in messages { update(message) }
        tick()
        guard messages.isEmpty, unfinished <= left, awaited.isEmpty, hasSent() else { return false }
        guard isStarting else { return true }
        guard isConnected else { return false }
        begin()
        return true
    }

    /// Whether the list contains the exchange that a line sent, for the next line to find it; `true` after a second.
    private func hasSent() -> Bool {
        guard let before = totalBefore, !hasFailed, model.list.sessionTotal <= before else {
            (totalBefore, sentBy) = (nil, nil)
            return true
        }
        let now = ContinuousClock.now
        sentBy = sentBy ?? now + .seconds(1)
        if let sentBy, now >= sentBy { totalBefore = nil }
        return false
    }

    /// Whether the list contains all exchanges that the session had when the line was read; `true` after a second.
    private func isListCurrent(for line: String) -> Bool {
        if arrived == nil {
            guard model.isLive, let total = try? effects.reader?.count() else { return true }
            arrived = (line, Int(clamping: total), .now + .seconds(1))
        }
        guard let arrived else { return true }
        return model.list.sessionTotal >= arrived.total || ContinuousClock.now >= arrived.by
    }

    private func wait(readsInput: Bool) {
        let descriptors = [effects.inbox.descriptor, signals.descriptor] + (readsInput ? [input.descriptor] : [])
        let ready = EventWaiter.wait(for: descriptors, timeoutMilliseconds: readsInput ? 100 : 10)
        if ready.contains(input.descriptor) { input.read() }
        guard ready.contains(signals.descriptor) else { return }
        let signals = signals.drain()
        // An interrupt stops the running job; without a job, it ends the console.
        if signals == [.interrupt], answer != nil, !model.jobs.isEmpty {
            update(.answer { $0.perform(.stop, nil) })
        } else if !signals.isEmpty {
            (hasEnded, isInterrupted) = (true, true)
        }
    }

    private func tick() {
        guard ContinuousClock.now - lastTick >= .milliseconds(100) else { return }
        lastTick = .now
        update(.tick(WallClock.now()))
        effects.poll()
        tellProblem()
        tellNews()
    }

    // MARK: - The model

    private func change(by message: Message) {
        let before = model.noticeCount
        let list = model.update(message)
        for notice in model.notices.suffix(model.noticeCount - before) {
            // The work of a line may continue while later lines are read, and its errors count too.
            if notice.kind == .error, answer != nil || left > 0 { hasFailed = true }
            say(notice.text)
        }
        perform(list)
    }

    private func update(_ message: Message) {
        awaited.take(message, generation: model.list.generation)
        switch message {
        case .failed(let error):
            failure = error
            hasEnded = true
        case .ready:
            isConnected = effects.services?.control == nil
            if effects.reader == nil { awaited = LinearAwaited() }
        case .proxy(_, let holds):
            isConnected = true
            let known = Set(model.proxy.holds.map(\.id))
            if yieldsToHolds, holds.contains(where: { !known.contains($0.id) }) { left = effects.unfinished }
        case .proxyLost(let reason):
            isConnected = true
            if model.proxy.problem == nil { say(reason) }
        case .query(.rows(let generation, let first, let records)) where generation == model.list.generation:
            let listed = model.listed(max(0, wantedRows))
            if answer == .rows, first == listed.lowerBound, records.count >= listed.count {
                rows = Array(records.prefix(wantedRows))
            }
            if postponed != nil { newest = records.first.flatMap { $0?.id } }
        default: break
        }
        change(by: message)
    }

    private func perform(_ list: [Effect]) {
        for effect in list {
            if case .send = effect { totalBefore = model.list.sessionTotal }
            awaited.add(effect)
            if case .terminal(let own) = effect { perform(own) } else { effects.perform(effect) }
        }
    }

    private func perform(_ effect: TerminalEffect) {
        let hasTerminal = isatty(STDIN_FILENO) == 1
        switch effect {
        case .quit: hasEnded = true
        case .redraw, .suspend, .editFile: break
        case .edit(let editor):
            guard hasTerminal else { return refuse("An editor needs a terminal; draft KEY VALUE changes the draft.") }
            update(ExternalEditor.edit(editor))
        case .view(let path, let isText):
            guard isText, hasTerminal, isatty(STDOUT_FILENO) == 1 else {
                return say("The body is in \(path) until the console ends.")
            }
            update(BodyViewer.page(path))
        case .copy(let text): say(text)
        }
    }

    // MARK: - Beginning and news

    private func begin() {
        isStarting = false
        news = LinearNews(after: (try? effects.reader?.bounds()?.upperBound) ?? 0)
        switch model.source {
        case .live, .demo, .attached:
            if !model.proxy.address.isEmpty { say("Listening on \(model.proxy.places).") }
            let session = model.proxy.session ?? effects.services?.session
            if let session, model.proxy.recordingProblem == nil { say("Recording to \(session).") }
        case .recorded(let name): say("\(name), \(LinearSentence.count(model.list.sessionTotal, "exchange")).")
        }
        tellProblem()
        say("help lists the commands.")
    }

    private func tellProblem() {
        guard !isStarting, let problem = model.proxy.recordingProblem, problem != recordingProblem else { return }
        recordingProblem = problem
        say("Not recording: \(problem)")
    }

    private func tellNews() {
        guard model.isLive, let reader = effects.reader else { return }
        do {
            guard let ended = try news?.ended(reader), model.tellsExchanges else { return }
            let query = model.list.query
            let filter = query.filterWithoutBody
            let told = ended.filter { filter.decides($0) != false }
            for record in told.prefix(LinearNews.most) { say(sentence(record)) }
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
