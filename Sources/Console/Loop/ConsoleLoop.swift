import Foundation
import HTTPModel
import Terminal

/// The screen's thread: waits for keys and messages, updates the model and draws. A key and the first answer to it are
/// drawn at once. Changes by traffic wait for the next frame, so that heavy traffic does not cause more drawing.
final class ConsoleLoop {
    static let framesPerSecond = 30

    private var model: ConsoleModel
    private let terminal: any TerminalDevice
    private let signals: TerminalSignals
    private let effects: EffectRunner
    private var renderer: FrameRenderer
    private var parser = InputParser()
    private var hasEnded = false
    private var failure: (any Error)?
    private var isDirty = true
    /// Whether the first answer to the last key is still to come.
    private var awaitsAnswer = false
    private var lastFrame = ContinuousClock.now - .seconds(1)
    private var lastTick = ContinuousClock.now - .seconds(1)
    private var lastInput = ContinuousClock.now
    private let keeper: ViewSettingsKeeper?

    init(
        _ model: ConsoleModel,
        _ terminal: any TerminalDevice,
        _ effects: EffectRunner,
        _ settings: ViewSettingsFile?
    ) throws {
        self.model = model
        self.terminal = terminal
        self.effects = effects
        signals = try TerminalSignals()
        renderer = FrameRenderer(terminal.capabilities)
        keeper = settings.map { ViewSettingsKeeper($0, model) }
    }

    func run() throws {
        terminal.reportsMouse = model.isMouseOn
        try terminal.enter()
        defer { terminal.leave() }
        // Not set at the start of the thread, because Foundation would not pass the name to the system then.
        Thread.current.name = "sluice.console"
        askForBackground()
        tick()
        draw()
        perform([.setQuery(model.list.query, generation: 0)])
        while !hasEnded {
            let sources = [terminal.inputDescriptor, effects.inbox.descriptor, signals.descriptor]
            let ready = EventWaiter.wait(for: sources, timeoutMilliseconds: timeout)
            if ready.contains(signals.descriptor) { take(signals.drain()) }
            if ready.contains(terminal.inputDescriptor) { readInput() } else { flushInput() }
            if ready.contains(effects.inbox.descriptor) { take(effects.inbox.take()) }
            tick()
            if isDirty, .now - lastFrame >= .milliseconds(1000 / ConsoleLoop.framesPerSecond) { draw() }
        }
        try? keeper?.changes(of: model, isEnd: true)?()
        if let failure { throw failure }
    }

    /// Queries the background colour, which decides the theme. The Linux console would print a part of the query.
    private func askForBackground() {
        guard terminal.capabilities.colorDepth != .none, !terminal.capabilities.name.hasPrefix("linux") else { return }
        terminal.write(TerminalBackground.query)
    }

    /// The time until the next frame is due, a lone Esc becomes a key, or the clock is redrawn; in milliseconds.
    private var timeout: Int32 {
        if parser.isPending { return 25 }
        guard isDirty else { return 100 }
        let due = lastFrame + .milliseconds(1000 / ConsoleLoop.framesPerSecond) - .now
        return Int32(max(0, min(100, due / .milliseconds(1))))
    }

    private func readInput() {
        guard let bytes = terminal.read() else { return update(.stop) }
        lastInput = .now
        for event in parser.feed(bytes) { update(.input(event)) }
        if !parser.isPending { drawKeys() }
    }

    private func flushInput() {
        guard parser.isPending, ContinuousClock.now - lastInput > .milliseconds(20) else { return }
        for event in parser.flush() { update(.input(event)) }
        drawKeys()
    }

    private func drawKeys() {
        awaitsAnswer = true
        draw()
    }

    private func take(_ messages: [Message]) {
        for message in messages { update(message) }
        guard awaitsAnswer, messages.contains(where: \.isAnswer) else { return }
        awaitsAnswer = false
        draw()
    }

    private func take(_ signals: Set<TerminalSignals.Signal>) {
        for signal in signals {
            switch signal {
            case .resized: update(.resized(terminal.size))
            case .continued:
                renderer.invalidate()
                update(.resized(terminal.size))
            case .terminate, .hangUp, .interrupt: update(.stop)
            }
        }
        if !hasEnded { draw() }
    }

    private func tick() {
        guard ContinuousClock.now - lastTick >= .milliseconds(100) else { return }
        lastTick = .now
        update(.tick(WallClock.now()), isVisible: model.needsClock)
        effects.poll()
        if let write = keeper?.changes(of: model) { effects.keep(write) }
    }

    private func update(_ message: Message, isVisible: Bool = true) {
        if case .failed(let error) = message { failure = error }
        perform(model.update(message))
        if terminal.reportsMouse != model.isMouseOn { terminal.reportsMouse = model.isMouseOn }
        if isVisible { isDirty = true }
    }

    private func perform(_ list: [Effect]) {
        for effect in list {
            if case .terminal(let own) = effect { perform(own) } else { effects.perform(effect) }
        }
    }

    private func perform(_ effect: TerminalEffect) {
        switch effect {
        case .quit: hasEnded = true
        case .redraw:
            renderer.invalidate()
            isDirty = true
        case .suspend:
            terminal.leave()
            if model.canSteer, case .live = model.source {
                terminal.write(Array("sluice: proxy paused until you run fg.\r\n".utf8))
            }
            terminal.suspend()
            takeTerminal()
        case .edit(let editor): giveTerminal { ExternalEditor.edit(editor) }
        case .editFile(let path): giveTerminal { ExternalEditor.open(path) }
        case .view(let path, let isText):
            guard isText else { return update(BodyViewer.open(path)) }
            giveTerminal { BodyViewer.page(path) }
        case .copy(let text):
            if let bytes = Clipboard.osc52(text, insideTmux: terminal.capabilities.isInsideTmux) {
                terminal.write(bytes)
            }
        }
    }

    private func giveTerminal(_ program: () -> Message) {
        terminal.leave()
        let message = program()
        takeTerminal()
        update(message)
    }

    private func takeTerminal() {
        do {
            try terminal.enter()
        } catch {
            hasEnded = true
        }
        renderer.invalidate()
        update(.resized(terminal.size))
    }

    private func draw() {
        guard !hasEnded else { return }
        isDirty = false
        lastFrame = .now
        let bytes = renderer.render(ConsoleView.draw(model))
        if !bytes.isEmpty { terminal.write(bytes) }
    }
}
