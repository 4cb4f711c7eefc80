import Clients
import Content
import Description
import Dispatch
import Files
import Formats
import Foundation
import HTTPModel
import Jobs
import Recording
import Rules
import Runner
import Synchronization
import Tools

/// Performs effects off the screen's thread, and sends their results to the inbox.
final class EffectRunner: Sendable {
    typealias Work = @Sendable () async -> Void

    struct Connected: Sendable {
        var services: ConsoleServices
        var queries: QueryService?
    }

    let inbox: MessageQueue
    let connected = Mutex<Connected?>(nil)
    private let waiting = Mutex<[Effect]>([])
    private let submit: @Sendable (@escaping Work) -> Void
    /// Loads and formats one exchange after the other; only the newest request counts.
    private let reading = DispatchQueue(label: "sluice.console.reading", qos: .userInitiated)
    let passes = DispatchQueue(label: "sluice.console.passes", qos: .utility)
    private let newestDetail = Mutex((id: ExchangeID(0), page: DetailPage.overview, generation: 0))
    /// The descriptors of gRPC messages, and the descriptor files that the profile names.
    let descriptors = Mutex<(set: DescriptorSet?, paths: [String])>((nil, []))
    /// The texts of the active rules, as the proxy reported them last; empty if there are none.
    let rulesInForce = Mutex<[ProfileSource]>([])
    let newestCheck = Atomic(0)
    private let lastRevision = Atomic(-1)
    private let lastSent = Atomic(0)
    private let polls = Atomic(0)
    private let isAsking = Atomic(false)
    let viewed = ViewedBodies()
    let isLinear: Bool
    /// The services of the console's own session while a different session is shown.
    let behind = Mutex<Connected?>(nil)
    let archives = Mutex<[ImportedArchive]>([])
    /// The amount of unfinished work. Work puts its messages into the inbox before it counts as finished.
    private let working = Atomic(0)
    /// Grows with each cancellation: work that has seen a lower number is cancelled.
    let cancellations = Atomic(0)

    init(inbox: MessageQueue, isLinear: Bool = false, submit: @escaping @Sendable (@escaping Work) -> Void) {
        self.inbox = inbox
        self.isLinear = isLinear
        self.submit = submit
    }

    var services: ConsoleServices? { connected.withLock { $0?.services } }
    private var queries: QueryService? { connected.withLock { $0?.queries } }
    var reader: SessionReader? { queries?.reader }

    /// Stores the services once the proxy runs, and performs the effects that waited for them.
    func connect(_ services: ConsoleServices) throws {
        let queries = try services.session.map { try self.queries(of: $0) }
        connected.withLock { $0 = Connected(services: services, queries: queries) }
        inbox.send(.ready(authority: services.authorityPath))
        if services.control != nil {
            start(on: reading) { [inbox] in
                inbox.answer { [addresses = LocalAddresses.all()] in $0.proxy.addresses = addresses }
            }
        }
        services.remarks.listen { [weak self] words in
            self?.say(words)
            // The remark may be about a profile that was reloaded.
            self?.loadRules()
        }
        for effect in waiting.withLock({ exchange(&$0, with: []) }) { perform(effect) }
        if let background = services.background { submit(background) }
        poll()
        loadRules()
    }

    /// Unfinished work, without polls of the proxy's state.
    var unfinished: Int { working.load(ordering: .acquiring) }

    func start(_ work: @escaping Work) {
        working.add(1, ordering: .relaxed)
        submit { [self] in
            await work()
            working.subtract(1, ordering: .releasing)
        }
    }

    func start(on queue: DispatchQueue, _ work: @escaping @Sendable () -> Void) {
        working.add(1, ordering: .relaxed)
        queue.async { [self] in
            work()
            working.subtract(1, ordering: .releasing)
        }
    }

    /// Performs work that may take a while, and reports an error that the work throws.
    ///
    /// - Parameter command: the command whose prompt opens again with the error; `nil` if no prompt does.
    func attempt(
        _ command: Command? = nil,
        on queue: DispatchQueue? = nil,
        _ work: @escaping @Sendable () throws -> Void
    ) {
        start(on: queue ?? passes) { [self] in
            do {
                try work()
            } catch {
                if let command { refuse(command, "\(error)") } else { report(error) }
            }
        }
    }

    /// Performs an effect once the services are available. The loops perform effects on the terminal.
    func perform(_ effect: Effect) {
        guard connected.withLock({ $0 != nil }) else {
            waiting.withLock { $0.append(effect) }
            return
        }
        switch effect {
        case .setQuery(let query, let generation): queries?.setQuery(query, generation: generation)
        case .load(let range, let generation): queries?.load(last: range, generation: generation)
        case .readValues(let ids, let places, let generation):
            queries?.readValues(of: ids, at: places, generation: generation)
        case .locate(let id, let generation): queries?.locate(id, generation: generation)
        case .find(let kind, let from, let forward, let generation):
            queries?.find(kind, from: from, forward: forward, generation: generation)
        case .structure(let node, let generation): queries?.loadStructure(node, generation: generation)
        case .statistics(let scope, let generation): queries?.loadStatistics(scope, generation: generation)
        case .statisticsReport(let filter, let numbers, let title, let width):
            showStatistics(filter, numbers, title, width: width)
        case .exchanges(let node, let generation): queries?.loadExchanges(at: node, generation: generation)
        case .numbers(let node, let most, let generation):
            queries?.loadNumbers(below: node, most: most, generation: generation)
        case .countHidden(let ids, let generation): queries?.countHidden(ids, generation: generation)
        case .cancelJobs:
            cancellations.add(1, ordering: .relaxed)
            queries?.cancel()
        case .detail(let id, let options, let generation): readDetail(id, options, generation)
        case .compare(let first, let second, let width): compare(first, second, width)
        case .why(let id): explain(id)
        case .copy(let request, let isMasked): copy(request, isMasked: isMasked)
        case .loadDescriptor(let path): loadDescriptor(path)
        case .saveBody(let id, let path): saveBody(id, path)
        case .export(let request): export(request)
        case .edit(let request): edit(request)
        case .setRecording(let isOn): control { [self] control in say(try await control.setRecording(isOn)) }
        case .saveSession(let path, let isForced): saveSession(to: path, isForced: isForced)
        case .setTool(let tool, let isOn): setTool(tool, isOn)
        case .resetTool(let tool): resetTool(tool)
        case .loadRules: loadRules()
        case .draftRule(let tool, let origin, let level): draftRule(tool, origin, level)
        case .checkRule(let tool, let text, let replaced, let texts): checkRule(tool, text, replaced, texts)
        case .applyRules(let texts, let words, let revision): applyRules(texts, words, madeFrom: revision)
        case .reloadRules: reloadRules()
        case .saveRules(let isForced): saveRules(isForced: isForced)
        case .saveCopy(let text, let path): saveCopy(text, path)
        case .decrypt(let host): control { [self] control in say(try await control.decrypt(host)) }
        case .switchVerification(let host):
            control { [self] control in say(try await control.setInsecureHost(host, isOn: nil)) }
        case .openHold(let id): openHold(id)
        case .editHold(let id, let edit): editHold(id, edit)
        case .decide(let ids, let decision): decide(ids, decision)
        case .openRequest(let id): openRequest(id)
        case .editDraft(let editor, let words): editDraft(editor, words)
        case .send(let draft, let purpose): send(draft, purpose)
        case .repeating(let id, let plan): repeatMany(id, plan)
        case .composeRequest(let text): composeRequest(text)
        case .sendEach(let ids): sendEach(ids)
        case .offerAnswer(let editor, let id, let texts): offerAnswer(editor, id, texts)
        case .saveSwitched(let texts, let revision): saveSwitched(texts, madeFrom: revision)
        case .loadProfile(let file, let discardsEdits): loadProfile(file, discardsEdits: discardsEdits)
        case .openSession(let path): openSession(path)
        case .backToLive: backToLive()
        case .importSession(let path): importSession(path)
        case .completeFile(let path): completeFile(path)
        case .openBody(let id, let side): openBody(id, side)
        case .trust(let steps, let width): showTrust(steps, width)
        case .terminal: break
        }
    }

    // MARK: - Looking for what has changed

    /// Checks whether the session has grown, a message is held, or a tool is off; called ten times a second.
    func poll() {
        guard let connected = connected.withLock({ $0 }) else { return }
        let count = polls.add(1, ordering: .relaxed).newValue
        if let revision = connected.services.revision {
            let now = revision()
            if lastRevision.exchange(now, ordering: .relaxed) != now { connected.queries?.refresh() }
        } else if count % 2 == 0 {
            // The session may be a recording that is still growing.
            connected.queries?.refresh()
        }
        if let connections = connected.services.sender?.connections,
            lastSent.exchange(connections.version, ordering: .relaxed) != connections.version
        {
            inbox.news { $0.sending.connections = connections }
        }
        let own = behind.withLock { $0?.services.control }
        guard let control = connected.services.control ?? own, count % 2 == 1 else { return }
        guard !isAsking.exchange(true, ordering: .acquiring) else { return }
        submit { [self] in
            await look(control)
            isAsking.store(false, ordering: .releasing)
        }
    }

    func say(_ words: String, _ kind: Notice.Kind = .info) { inbox.send(.said(words, kind)) }
    func report(_ error: any Error) { say(Self.words(error), .error) }

    func report(_ title: String, _ document: DetailDocument, topic: String) {
        inbox.answer { $0.report(title, document, topic: topic) }
    }

    func tell(_ job: Job) { inbox.news { $0.start(job) } }

    func end(_ kind: Job.Kind) { inbox.answer { $0.end(kind) } }

    func refuse(_ command: Command, _ reason: String) { inbox.answer { $0.promptAgain(command, reason) } }

    func look(_ control: any ControlTarget) async {
        do {
            let status = try await control.status()
            follow(status.session)
            inbox.send(.proxy(status, status.holds == 0 ? [] : try await control.holds()))
        } catch {
            inbox.send(.proxyLost(Self.words(error)))
        }
    }

    /// Calls the proxy, reports errors, and refreshes the proxy's state.
    func control(_ body: @escaping @Sendable (any ControlTarget) async throws -> Void) {
        guard let control = services?.control else { return }
        start { [self] in
            do {
                try await body(control)
            } catch {
                report(error)
            }
            await look(control)
        }
    }

    static func words(_ error: any Error) -> String {
        (error as? StartError)?.isGone == true ? "The proxy has ended." : "\(error)"
    }

    // MARK: - One exchange, or two

    private func readDetail(_ id: ExchangeID, _ options: DetailOptions, _ generation: Int) {
        let asked = options.page
        newestDetail.withLock { $0 = (id, asked, generation) }
        onReader { [self] reader in
            // If there is a newer request, this one is not needed any more.
            guard newestDetail.withLock({ $0.generation == generation }) else { return }
            guard let exchange = try reader.exchange(id) else {
                let failure = ConsoleError(isMissing: id)
                let line = DetailLine([Span(failure.description, .failure)])
                let document = DetailDocument(lines: [line])
                inbox.answer { $0.show(document, [.overview], of: id, generation) }
                throw failure
            }
            let change: (String) -> TraceEntry.Change? = { ToolRegistry.standard[key: $0]?.change }
            let now = options.isLive ? WallClock.now() : nil
            let names = descriptors.withLock { $0.set }
            let builder = DetailBuilder(exchange, source: reader, now: now, descriptors: names, change: change)
            let pages = builder.pages
            var options = options
            options.isPageChosen = options.isPageChosen && pages.contains(options.page)
            // A newer request for the same page waits for this one; any other request cancels this one.
            let budget = DetailBudget { [self] in newestDetail.withLock { $0.id != id || $0.page != asked } }
            let document = builder.document(options, budget)
            let beside = builder.beside(document.page, options, budget)
            inbox.answer { $0.show(document, beside: beside, pages, of: id, generation) }
        }
    }

    private func compare(_ first: ExchangeID, _ second: ExchangeID, _ width: Int) {
        onReader { [self] reader in
            guard let a = try reader.exchange(first), let b = try reader.exchange(second) else {
                throw ConsoleError("One of the two is not in this session.")
            }
            let document = Comparison.document(a, b, source: reader, width: width)
            report("\(first) and \(second) compared", document, topic: "repeat-and-compare")
        }
    }

    func onReader(_ queue: DispatchQueue? = nil, _ body: @escaping @Sendable (SessionReader) throws -> Void) {
        attempt(on: queue ?? reading) { [self] in
            guard let reader else { throw ConsoleError("Nothing is recorded here.") }
            try body(reader)
        }
    }

    private func showTrust(_ steps: FirstSteps, _ width: Int) {
        start(on: reading) { [self] in
            var steps = steps
            // The machine may have joined a different network since the last call.
            steps.addresses = LocalAddresses.all()
            inbox.answer { [addresses = steps.addresses] in $0.proxy.addresses = addresses }
            let trust = services?.trustHelp ?? []
            let document = DetailDocument(lines: steps.lines(width: width) + trust.map { DetailLine($0) })
            report(FirstSteps.title, document, topic: "trust")
        }
    }
}

extension DetailDocument {
    init(lines: some Sequence<String>) { self.init(lines: lines.map { DetailLine([Span($0)]) }) }

    init(_ text: String) {
        self.init(lines: text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init))
    }
}

extension DetailLine {
    /// A line of the trust instructions. A command in it is copied alone and on one line, even if it is wrapped.
    init(_ help: TrustHelp.Line) {
        let text = help.text.drop { $0 == " " }
        self.init([Span(String(text))], indent: help.text.count - text.count)
        keepsWords = help.command != nil
        copyable = help.command.map { .command($0) }
    }
}

extension SessionReader {
    func recorded(_ id: ExchangeID) throws -> RecordedExchange {
        guard let exchange = try exchange(id) else { throw ConsoleError(isMissing: id) }
        return exchange
    }
}

extension EffectRunner {
    private static let mostNames = 20_000

    /// Reads the names in the directory of a typed path; the name of a directory ends with `/`.
    func completeFile(_ path: String) {
        start(on: passes) { [inbox] in
            let directory = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "./"
            let last = path.dropFirst(directory == "./" && !path.hasPrefix("./") ? 0 : directory.count)
            let folder = HomeDirectory.expanding(directory)
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
            let shown = names.prefix(Self.mostNames).filter { !$0.hasPrefix(".") || last.hasPrefix(".") }
            let fitting = shown.filter { $0.hasPrefix(last) }.sorted()
            let marked = fitting.map { name in
                var isDirectory: ObjCBool = false
                let isThere = FileManager.default.fileExists(atPath: folder + "/" + name, isDirectory: &isDirectory)
                return isThere && isDirectory.boolValue ? name + "/" : name
            }
            inbox.answer { $0.takeFiles(marked, for: path) }
        }
    }

    func keep(_ write: @escaping @Sendable () throws -> Void) {
        start(on: passes) { [self] in
            do {
                try write()
            } catch {
                report(ConsoleError("The settings of the view are not saved: \(Self.words(error))"))
            }
        }
    }

    func openBody(_ id: ExchangeID, _ side: BodySide) {
        onReader(passes) { [self] reader in
            let exchange = try reader.recorded(id)
            guard let size = try reader.bodySize(of: id, side: side), size > 0 else {
                throw ConsoleError("The \(side.isRequest ? "request" : "response") has no body to open.")
            }
            let media = exchange.messages.fields(of: side).first { $0.name.lowercased() == "content-type" }?.value
            let isText = BodyViewer.isText(media)
            let path = try viewed.path(id, side, BodyViewer.fileExtension(media, isText: isText))
            let file = try OutputFile(path, isSecret: true, waits: false)
            _ = try BodyExport.write(exchange, side: side, from: reader, raw: false, sink: file.write)
            try file.finish()
            inbox.answer { _ in [.terminal(.view(path, isText: isText))] }
        }
    }
}
