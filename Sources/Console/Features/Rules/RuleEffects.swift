import Files
import Foundation
package import HTTPModel
import Recording
import Rules
import Runner
import Synchronization
import Text
import Tools

extension EffectRunner {
    func setTool(_ tool: Tool, _ isOn: Bool) {
        control { [self] control in
            _ = try await control.setTools([tool.key], isOn: isOn)
            say("\(tool.title): \(isOn ? "on" : "off").")
        }
    }

    func resetTool(_ tool: Tool) {
        control { [self] control in
            _ = try await control.resetTools([tool.key])
            say("\(tool.title): counts start again.")
        }
    }

    func loadRules() {
        control { [self] control in
            let profile = try await profileInForce(control)
            inbox.answer { $0.takeOver(profile.profiles, profile.rules) }
        }
    }

    /// Requests the active rules from the proxy, and stores them for copies, exports and pages.
    private func profileInForce(_ control: any ControlTarget) async throws -> ProfileInForce {
        let profile = try await control.profile()
        rulesInForce.withLock { $0 = profile.profiles }
        loadDescriptors(of: profile.profiles)
        return profile
    }

    func applyRules(_ texts: [ProfileSource], _ words: String, madeFrom revision: String?) {
        changeRules { control in
            let message = try await control.applyProfile(texts, madeFrom: revision).message
            // `words` describe this change, but not its effects on other rules.
            return message.contains("shadowed") ? "\(words) (\(message))" : words
        }
    }

    func reloadRules() { changeRules { "Rules reloaded: \(try await $0.loadProfile(nil, discardsEdits: true))." } }

    private func changeRules(_ change: @escaping @Sendable (any ControlTarget) async throws -> String) {
        control { [self] control in
            do {
                let words = try await change(control)
                let profile = try await profileInForce(control)
                inbox.answer { $0.takeApplied(profile.profiles, profile.rules, words) }
            } catch {
                let reason = "\(error)"
                let profile = try await profileInForce(control)
                inbox.answer { $0.takeRefused(profile.profiles, profile.rules, reason) }
            }
        }
    }

    func saveRules(isForced: Bool) {
        control { [self] control in
            do {
                let saved = try await control.saveProfile(nil, isForced: isForced)
                let profile = try await profileInForce(control)
                inbox.answer { $0.takeSaved(saved, profile.profiles, profile.rules) }
            } catch {
                let reason = Self.words(error)
                guard let failure = error as? ControlError, let conflict = failure.conflict else {
                    return inbox.answer { $0.takeNotSaved(reason) }
                }
                inbox.answer { $0.ask(about: conflict, failure.message) }
            }
        }
    }

    /// If the rule's tool answers from a file, checks whether the file that the rule names exists.
    func offerAnswer(_ editor: EditorState, _ id: ExchangeID, _ texts: [ProfileSource]) {
        guard case .rule(let tool, let replaced) = editor.purpose, let key = tool.answersFrom else { return }
        let text = editor.area.text
        start(on: passes) { [self] in
            let profile = texts.place(of: tool, replacing: replaced).profile
            let path = RuleText(text).word(key).map { RuleText.path($0, inProfile: profile.file ?? "") } ?? ""
            let isMissing = !path.isEmpty && !path.hasSuffix("/") && !FileManager.default.fileExists(atPath: path)
            let hasAnswer = (try? reader?.record(id))?.map { $0.status > 0 } ?? false
            let missing = isMissing && hasAnswer ? path : nil
            inbox.answer { $0.offerAnswer(missing, text) }
        }
    }

    func saveSwitched(_ texts: [ProfileSource], madeFrom revision: String?) {
        control { [self] control in
            _ = try await control.applyProfile(texts, madeFrom: revision)
            saveRules(isForced: false)
        }
    }

    func loadProfile(_ file: String?, discardsEdits: Bool) {
        let path = file.map { HomeDirectory.expanding($0) }
        control { [self] control in
            do {
                let change = try await control.loadProfile(path.map { [$0] }, discardsEdits: discardsEdits)
                let profile = try await profileInForce(control)
                inbox.answer { $0.takeOver(profile.profiles, profile.rules) }
                say("\(path.map { "Loaded \($0)" } ?? "Profile reloaded"): \(change).")
            } catch {
                refuse(.loadProfile, Self.words(error))
            }
        }
    }

    func saveCopy(_ text: String, _ path: String) {
        attempt { [self] in
            try requireOther(path)
            try ExportFile.write(text, to: path)
            say("Copy of the rules saved to \(path).")
        }
    }

    func draftRule(_ tool: Tool, _ origin: RuleOrigin?, _ level: Int) {
        onReader { [self] reader in
            let purpose = EditorState.Purpose.rule(tool, replaces: nil)
            guard let (source, name, narrowest) = try Self.source(of: origin, tool, reader) else {
                let area = TextArea(RuleFromExchange.example(of: tool).yaml)
                return open(EditorState(purpose: purpose, title: "New rule: \(tool.title)", area: area))
            }
            let record = source.record
            let breadths = RuleFromExchange.breadths(for: tool.section, record).filter { $0 >= narrowest }
            let usual = breadths.firstIndex(of: RuleFromExchange.usualScope(for: tool.section, record)) ?? 0
            let breadth = breadths.isEmpty ? nil : breadths[(usual + level) % breadths.count]
            guard let rule = RuleFromExchange.rule(for: tool.section, from: source, breadth) else {
                throw ConsoleError("\(tool.title) does not apply to \(name).")
            }
            let title = "\(tool.title) from \(name)\(breadth.map { ", \($0.text)" } ?? "")"
            let area = TextArea(rule.yaml)
            var editor = EditorState(purpose: purpose, title: title, area: area, origin: origin, level: level)
            editor.scope = breadth?.matched(of: record.url) ?? ""
            open(editor)
        }
    }

    private static func source(
        of origin: RuleOrigin?,
        _ tool: Tool,
        _ reader: SessionReader
    ) throws -> (RuleSource, name: String, narrowest: ExchangeScope)? {
        switch origin {
        case nil: return nil
        case .exchange(let id):
            let exchange = try reader.recorded(id)
            let answer = tool.answersFrom == nil ? nil : try RecordedAnswer.yaml(exchange, reader)
            return (RuleSource(exchange.record, answer: answer), "exchange \(id)", .url)
        case .value(let value):
            let record = try reader.recorded(value.id).record
            return (
                RuleSource(record, value: (value.place, value.node)), "\(value.place) of exchange \(value.id)", .url
            )
        case .place(let node):
            guard let url = node.url else { return nil }
            let kind: ExchangeRecord.Kind = url.scheme == "tunnel" ? .tunnel : .http
            let made = ExchangeRecord(
                id: .init(0),
                kind: kind,
                startedAt: 0,
                method: "",
                url: url,
                clientConnection: .init(0)
            )
            return (RuleSource(made), "\(node.site ?? "")\(url.path)", url.path.isEmpty ? .host : .below)
        }
    }

    /// Checks a rule while it is edited, and counts the exchanges that it would have matched.
    func checkRule(_ tool: Tool, _ text: String, _ replaced: Int?, _ texts: [ProfileSource]) {
        newestCheck.store(text.hashValue, ordering: .relaxed)
        start(on: passes) { [self] in
            guard newestCheck.load(ordering: .relaxed) == text.hashValue else { return }
            let (profile, id) = texts.place(of: tool, replacing: replaced)
            let issues = RuleCheck.check(RuleText(text), of: tool.section, in: profile, replacing: id)
            let more = issues.count > 1 ? " (and \(issues.count - 1) more)" : ""
            let words = issues.first.map { "\($0)\(more)" } ?? ""
            if issues.contains(where: { $0.severity == .error }) { return remark(words, isWrong: true, under: text) }
            do {
                let matcher = try RuleMatcher(RuleText(text), of: tool.section, in: profile)
                let changed = try texts.putting(text, tool, replacing: replaced)
                try count(matcher, text, lint: words) { ids in
                    try effect(of: tool, replaced, in: changed, on: ids) {
                        newestCheck.load(ordering: .relaxed) == text.hashValue
                    }
                }
            } catch {
                remark("\(error)", isWrong: true, under: text)
            }
        }
    }

    private func remark(_ words: String, isWrong: Bool = false, under text: String) {
        inbox.answer { model in _ = model.remark(words, isWrong: isWrong) { $0.area.text == text } }
    }

    /// What the rule does to the first of some exchanges that it changes, found by a dry run; `nil` if to none of them.
    private func effect(
        of tool: Tool,
        _ replaced: Int?,
        in texts: [ProfileSource],
        on ids: [ExchangeID],
        while isNeeded: () -> Bool
    ) throws -> String? {
        // Variables may be known to the proxy only, and another rule may be wrong: neither is a fault of this rule.
        guard let reader,
            let profile = try? RuleProfile(sources: texts, tools: .standard, variables: .forRecordedRules)
        else { return nil }
        let rules = profile.tools.first { $0.tool == tool }?.rules ?? []
        guard let rule = replaced.map({ rules[$0] }) ?? rules.last else { return nil }
        for id in ids where isNeeded() {
            guard let exchange = try reader.exchange(id) else { continue }
            let (request, response) = try RecordedWhy.messages(exchange, reader)
            var dryRun = DryRun(profile, without: Set(Tool.all.filter { $0 != tool }.map(\.id)))
            let trace = dryRun.play(request, response ?? .init()).trace
            let fired = trace.first { entry in
                let name = entry.rule ?? ""
                return entry.outcome == .fired && (name == rule.name || name.hasPrefix("\(rule.name) #"))
            }
            if let fired { return "#\(id): \(VisibleText.of(fired.text))" }
        }
        return nil
    }

    private func count(
        _ matcher: RuleMatcher,
        _ text: String,
        lint: String,
        effect: ([ExchangeID]) throws -> String?
    ) throws {
        guard let reader else { return remark(lint.isEmpty ? "The rule is valid." : lint, under: text) }
        var matching = 0
        var whole = 0
        var newest: [ExchangeID] = []
        let condition = matcher.condition
        let holding = condition.matchesEverything ? nil : Set(try reader.numbers(matching: condition))
        try reader.forEachRecord(order: .newestFirst, pageSize: 2_000) { record in
            whole += 1
            if matcher.matches(record), holding?.contains(record.id.number) ?? true {
                matching += 1
                if newest.count < Self.mostPlayed { newest.append(record.id) }
            }
            // If the text has changed, this count is not needed any more.
            return whole % 2_000 != 0 || newestCheck.load(ordering: .relaxed) == text.hashValue
        }
        let example = try (effect(newest) ?? newest.first.map { "#\($0)" }).map { ", for example \($0)" } ?? ""
        let count = "It would match \(matching) of \(whole) recorded exchanges"
        remark(lint.isEmpty ? count + example : "\(count). \(lint)", under: text)
    }

    /// How many exchanges a rule is tried on.
    private static let mostPlayed = 20
}

package enum RuleOrigin: Sendable, Hashable {
    case exchange(ExchangeID)
    /// A value in an exchange, which the rule is to set.
    case value(RecordedValue)
    /// A branch of the structure, with all exchanges at and below it.
    case place(StructureNode)

    var exchange: ExchangeID? {
        switch self {
        case .exchange(let id): id
        case .value(let value): value.id
        case .place: nil
        }
    }
}

package struct RecordedValue: Sendable, Hashable {
    let id: ExchangeID
    let place: Place
    /// JSON as written.
    let text: String

    /// The longest value that is put into a rule, in bytes; a longer one is replaced by an empty text.
    private static let longest = 2_000

    /// As a value of a profile.
    var node: Node {
        let text = text.utf8.count > RecordedValue.longest ? "" : text.replacing("${", with: "$${")
        let json = place.part == .json ? (try? Node.read(text, file: "value")) ?? nil : nil
        return json ?? .text(text)
    }
}
