import Dispatch
import Files
import HTTPModel
import NIOCore
import Recording
import Rules
import Runner
import Synchronization

/// Tools and rules.
extension EffectRunner {
    func performOnRules(_ effect: Effect) {
        switch effect {
        case .setTool(let tool, let isOn): setTool(tool, isOn)
        case .draftRule(let tool, let origin, let level): draftRule(tool, origin, level)
        case .checkRule(let tool, let text, let replaced, let texts): checkRule(tool, text, replaced, texts)
        case .loadRules: loadRules()
        case .applyRules(let texts, let words, let revision): applyRules(texts, words, madeFrom: revision)
        case .reloadRules: reloadRules()
        case .saveRules(let isForced): saveRules(isForced: isForced)
        case .saveCopy(let text, let path): saveCopy(text, path)
        default: break
        }
    }

    private func setTool(_ tool: Tool, _ isOn: Bool) {
        steer { [inbox] steering in
            _ = try await steering.ask(ControlRequest(.toolSet, tools: [tool.key], isOn: isOn))
            inbox.send(.said("\(tool.title) is \(isOn ? "on" : "off").", .info))
        }
    }

    func decrypt(_ host: String) {
        steer { [inbox] steering in
            let reply = try await steering.ask(ControlRequest(.decrypt, host: host))
            inbox.send(.said(reply.message ?? "", .info))
        }
    }

    // MARK: - Texts

    /// Reads the rules that are in force.
    func loadRules() {
        steer { [inbox] steering in
            let (texts, revision) = Self.texts(try await steering.ask(ControlRequest(.profileShow)))
            inbox.send(.rules(texts, revision: revision))
        }
    }

    private static func texts(_ reply: ControlReply) -> (texts: [RulesState.Text], revision: String?) {
        (reply.profiles ?? [], reply.rules)
    }

    private func applyRules(_ texts: [RulesState.Text], _ words: String, madeFrom revision: String?) {
        changeRules(ControlRequest(.profileApply, profiles: texts, rules: revision)) { message in
            // What became of other rules is not in the words.
            message.contains("shadowed") ? "\(words) (\(message))" : words
        }
    }

    /// Takes what is in the profile's files, whatever was changed here.
    private func reloadRules() {
        changeRules(ControlRequest(.profileReload, isForced: true)) { "The rules are those of the file: \($0)." }
    }

    private func changeRules(_ request: ControlRequest, _ words: @escaping @Sendable (String) -> String) {
        steer { [inbox] steering in
            do {
                let reply = try await steering.ask(request)
                let (texts, revision) = Self.texts(try await steering.ask(ControlRequest(.profileShow)))
                inbox.send(.rulesApplied(texts, words(reply.message ?? ""), revision: revision))
            } catch {
                let (texts, revision) = Self.texts(try await steering.ask(ControlRequest(.profileShow)))
                inbox.send(.rulesRefused(texts, "\(error)", revision: revision))
            }
        }
    }

    private func saveRules(isForced: Bool) {
        steer { [inbox] steering in
            do {
                let reply = try await steering.ask(ControlRequest(.profileSave, isForced: isForced))
                let (texts, revision) = Self.texts(try await steering.ask(ControlRequest(.profileShow)))
                inbox.send(.rulesSaved(reply.saved ?? [], texts, revision: revision))
            } catch let failure as ControlFailure where failure.conflict != nil {
                inbox.send(.rulesConflict(failure.conflict ?? .changed, failure.message))
            } catch {
                inbox.send(.rulesNotSaved("\(error)"))
            }
        }
    }

    /// Steers the proxy, tells what goes wrong, and looks how the proxy is then.
    func steer(_ body: @escaping @Sendable (Steering) async throws -> Void) {
        guard let steering = services?.steering else { return }
        start { [self] in
            do {
                try await body(steering)
            } catch {
                inbox.send(.said("\(error)", .error))
            }
            await look(steering)
        }
    }

    private func saveCopy(_ text: String, _ path: String) {
        start(on: passes) { [inbox] in
            do {
                let file = try ExportFile.open(path)
                try file.write(ByteBuffer(string: text))
                try file.finish()
                inbox.send(.said("A copy of the rules is in \(path).", .info))
            } catch {
                inbox.send(.said("\(error)", .error))
            }
        }
    }

    // MARK: - Rules from exchanges

    private func draftRule(_ tool: Tool, _ origin: RuleOrigin?, _ level: Int) {
        onReader { reader, inbox in
            guard let (record, name, narrowest) = try Self.record(of: origin, reader) else {
                let example = RuleFromExchange.example(of: tool).yaml
                return inbox.send(
                    .editor(
                        EditorState(
                            purpose: .rule(tool, replaces: nil),
                            title: "New rule: \(tool.title)",
                            area: TextArea(example)
                        )
                    )
                )
            }
            let breadths = RuleFromExchange.breadths(for: tool.section, record).filter { $0 >= narrowest }
            let usual = breadths.firstIndex(of: RuleFromExchange.usualBreadth(for: tool.section, record)) ?? 0
            let index = breadths.isEmpty ? 0 : (usual + level) % breadths.count
            let breadth = breadths.isEmpty ? nil : breadths[index]
            guard let rule = RuleFromExchange.rule(for: tool.section, from: record, breadth) else {
                return inbox.send(.said("\(tool.title) can do nothing with \(name).", .error))
            }
            let scope = breadths.isEmpty ? "" : ", \(breadths[index].text)"
            inbox.send(
                .editor(
                    EditorState(
                        purpose: .rule(tool, replaces: nil),
                        title: "\(tool.title) from \(name)\(scope)",
                        area: TextArea(rule.yaml),
                        origin: origin,
                        level: level
                    )
                )
            )
        }
    }

    /// What a rule is made from as an exchange, what it is called, and how narrow the rule may be.
    private static func record(
        of origin: RuleOrigin?,
        _ reader: SessionReader
    ) throws -> (ExchangeRecord, name: String, narrowest: ExchangeBreadth)? {
        switch origin {
        case nil: return nil
        case .exchange(let id): return try reader.exchange(id).map { ($0.record, "exchange \(id)", .url) }
        case .place(let node):
            guard let url = node.url else { return nil }
            let record = ExchangeRecord(
                id: ExchangeID(0),
                kind: url.scheme == "tunnel" ? .tunnel : .http,
                startedAt: 0,
                method: "",
                url: url,
                clientConnection: ConnectionID(0)
            )
            return (record, "\(node.site ?? "")\(url.path)", url.path.isEmpty ? .host : .below)
        }
    }

    /// Checks a rule while it is edited, and counts what it would have matched; what is hardly meant comes after that.
    private func checkRule(_ tool: Tool, _ text: String, _ replaced: Int?, _ texts: [RulesState.Text]) {
        newestCheck.store(text.hashValue, ordering: .relaxed)
        start(on: passes) { [self] in
            guard newestCheck.load(ordering: .relaxed) == text.hashValue else { return }
            let (profile, id) = RuleEditing.place(of: tool, replacing: replaced, in: texts)
            let issues = RuleCheck.check(RuleText(text), of: tool.section, in: profile, replacing: id)
            let more = issues.count > 1 ? " (and \(issues.count - 1) more)" : ""
            let words = issues.first.map { "\($0)\(more)" } ?? ""
            if issues.contains(where: { $0.severity == .error }) {
                return inbox.send(.ruleRemark(text: text, words, isWrong: true))
            }
            do {
                let matcher = try RuleMatcher(RuleText(text), of: tool.section, in: profile)
                try count(matcher, text, lint: words)
            } catch {
                inbox.send(.ruleRemark(text: text, "\(error)", isWrong: true))
            }
        }
    }

    private func count(_ matcher: RuleMatcher, _ text: String, lint: String) throws {
        guard let reader else {
            let words = lint.isEmpty ? "The rule is right." : lint
            return inbox.send(.ruleRemark(text: text, words, isWrong: false))
        }
        var matching = 0
        var whole = 0
        var example: ExchangeRecord?
        try reader.forEachRecord(order: .newestFirst, pageSize: 2_000) { record in
            whole += 1
            if matcher.matches(record) {
                matching += 1
                if example == nil { example = record }
            }
            // A newer text makes this count needless.
            return whole % 2_000 != 0 || newestCheck.load(ordering: .relaxed) == text.hashValue
        }
        let sample = example.map { ", for example \($0.method) \($0.url)" } ?? ""
        let count = "It would match \(matching) of \(whole) recorded exchanges"
        let words = lint.isEmpty ? count + sample : "\(count). \(lint)"
        inbox.send(.ruleRemark(text: text, words, isWrong: false))
    }
}
