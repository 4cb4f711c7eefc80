import Description
import Foundation
import HTTPModel
import Rules
import Support
import Terminal
import Testing
import Tools

@testable import Console
@testable import Runner

struct RulesUpdateTests {
    private func console(_ source: ConsoleModel.Source = .live, isUnsaved: Bool = false) -> ConsoleModel {
        var model = ModelFixture.listing(ModelFixture.plain(3), Size(width: 100, height: 30), source: source)
        let text = ProfileSource(file: "rules.yaml", text: ModelFixture.rules, isUnsaved: isUnsaved)
        model.answer { $0.takeOver([text], nil) }
        let tools = [ToolState(name: "block", isOn: true, rules: 2, enabled: 1)]
        _ = model.update(.proxy(ModelFixture.status(tools), []))
        return model
    }

    private func applied(_ effects: [Effect]) -> String? {
        effects.lazy.compactMap { if case .applyRules(let texts, _, _) = $0 { texts.first?.text } else { nil } }.first
    }

    @Test func `rules that were changed elsewhere are taken over, and an edit says what it was made from`() {
        var model = console(.attached(canSteer: true))
        let tools = [ToolState(name: "block", isOn: true, rules: 2, enabled: 1)]
        var status = ModelFixture.status(tools)
        status.rules = "r2"
        #expect(model.update(.proxy(status, [])).words == ["load rules"])
        _ = model.perform(.panel, "block")
        model.press("down", "enter")
        let added = ModelFixture.rules.replacing("block:\n", with: "block:\n  - at: new.example\n")
        model.answer { $0.takeOver([.init(file: "rules.yaml", text: added)], "r2") }
        #expect(model.update(.proxy(status, [])).isEmpty)
        #expect(model.panelRules(.blockList).count == 3)
        // The editor goes on with the rule that it was opened for.
        let purpose = model.overlays.last.flatMap { if case .editor(let editor) = $0 { editor.purpose } else { nil } }
        #expect(purpose == .rule(.blockList, replaces: 2))
        let revisions = model.perform(.preset, "3g").compactMap {
            if case .applyRules(_, _, let from) = $0 { from } else { nil }
        }
        #expect(revisions == ["r2"])
        model.answer { $0.takeRefused([.init(file: "rules.yaml", text: "version: 1")], "r3", "No.") }
        #expect(model.rules.past.isEmpty)
        #expect(model.rules.revision == "r3")
    }

    @Test func `rules of another program that are in no file are told and can be undone`() {
        var model = console(.attached(canSteer: true))
        let own = ProfileSource(file: "rules.yaml", text: ModelFixture.rules)
        model.answer { $0.takeOver([own], "r1") }
        let text = "version: 1\nblock: [{ at: new.example, action: 503 }]\n"
        let others = ProfileSource(file: "agent-rules.yaml", text: text, isUnsaved: true)
        model.answer { $0.takeOver([own, others], "r2") }
        #expect(model.told.hasPrefix("Another program changed the rules: block: "), "\(model.told)")
        let effects = model.perform(.undo, nil)
        guard case .applyRules(let texts, _, "r2")? = effects.last else {
            Issue.record("nothing is undone: \(effects.words)")
            return
        }
        #expect(texts.map(\.file) == ["rules.yaml", "agent-rules.yaml"] && texts.last?.text == "version: 1\n")
    }

    private func words(_ effects: [Effect]) -> String? {
        effects.lazy.compactMap { if case .applyRules(_, let words, _) = $0 { words } else { nil } }.first
    }

    @Test func `a preset of the profile is chosen, completed and put in force as those that are built in`() {
        var model = console()
        let text = "version: 1\npresets:\n  hotel-wifi: { down: 2000 }\n"
        model.answer { $0.takeOver([ProfileSource(file: "rules.yaml", text: text)], nil) }
        _ = model.perform(.preset, nil)
        guard case .picker(let picker)? = model.overlays.last else {
            Issue.record("no choice")
            return
        }
        #expect(picker.items.prefix(2).map(\.value) == ["off", "hotel-wifi"])
        #expect(model.completions(for: .preset).contains("hotel-wifi"))
        model.press("esc")
        let effects = model.perform(.preset, "hotel-wifi")
        #expect(applied(effects)?.hasSuffix("preset: hotel-wifi\n") == true)
        #expect(model.perform(.preset, "hotel-wfi").isEmpty)
        #expect(model.told == "There is no preset 'hotel-wfi' (did you mean 'hotel-wifi'?).")
    }

    @Test func `one's own change that is seen before it is answered can be taken back`() throws {
        var model = console()
        guard case .applyRules(let texts, _, _)? = model.perform(.preset, "3g").last else {
            Issue.record("nothing is applied")
            return
        }
        model.answer { $0.takeOver(texts, "r2") }
        model.answer { $0.takeApplied(texts, "r2", "throttle 3g is on.") }
        #expect(model.press("u").words == ["apply rules"])
    }

    @Test func `a small letter switches a tool that has rules`() {
        var model = console()
        #expect(model.press("b").words == ["block off"])
        #expect(model.press("x", "b").words == ["block off"])
        #expect(model.press("r").isEmpty)
        #expect(model.told == "Rewrite has no rules yet; R opens its panel, a r makes one.")
        #expect(model.perform(.toggleTool, "block on").words == ["block on"])
        #expect(model.perform(.toggleTool, "nothing").isEmpty)
        #expect(model.told.hasPrefix("There is no tool 'nothing'; there are "))
    }

    @Test func `two keys make a rule of the selected exchange, esc after the first makes none`() {
        var model = console()
        #expect(model.press("a", "b").words == ["draft block 3 0"])
        model.press("a")
        #expect(model.pendingKey != nil)
        let notices = model.notices.count
        #expect(model.press("esc").isEmpty)
        #expect(model.pendingKey == nil)
        #expect(model.notices.count == notices)
        model.press("a", "z")
        #expect(model.told == "a z does nothing here; ? lists the keys.")
        #expect(model.press("a", "k").words == ["draft breakpoints 3 0"])
    }

    @Test func `a panel switches, moves and deletes rules`() {
        var model = console()
        model.press("B")
        #expect(model.context == .panel)
        #expect(model.panelRules(.blockList).count == 2)
        let off = applied(model.press("space"))
        #expect(off?.contains("enabled: false") == true)
        model.press("j")
        let moved = applied(model.press("K")) ?? ""
        #expect(moved.components(separatedBy: "trackers").first?.contains("advertisements") == true)
        let deleted = applied(model.press("d"))
        #expect(deleted?.contains("trackers") == false)
        #expect(model.press("a").words == ["draft block 3 0"])
        #expect(model.press("enter").words == ["check block 0"])
        model.press("esc", "esc")
        #expect(model.overlays.isEmpty)
    }

    @Test func `a change of rules is taken back`() {
        var model = console()
        #expect(model.press("u").isEmpty)
        #expect(model.told == "Nothing to undo.")
        model.press("B")
        guard let changed = applied(model.press("d")) else {
            Issue.record("nothing was deleted")
            return
        }
        model.answer { $0.takeApplied([.init(file: "rules.yaml", text: changed)], nil, "One rule less.") }
        #expect(model.panelRules(.blockList).count == 1)
        #expect(applied(model.press("u")) == ModelFixture.rules)
    }

    @Test func `what was taken back is said, and what is on again by it`() {
        func text(_ body: String) -> [ProfileSource] { [ProfileSource(file: "r.yaml", text: "version: 1\n\(body)")] }
        func parts(_ old: String, _ new: String) -> [String] { RuleDifference(from: text(old), to: text(new)).parts }
        let everything = "breakpoints:\n  - name: everything\n    at: \"*\"\n    on: [request, response]\n"
        let block = "block:\n  - name: ads\n    at: ads.example.com\n"
        let off = "block:\n  - name: ads\n    at: ads.example.com\n    enabled: false\n"
        let many = "block: [{at: a.example}, {at: b.example}, {at: c.example}]\n"
        #expect(parts(block, block).isEmpty)
        #expect(parts("", everything) == ["every request and response is held again"])
        #expect(parts(everything, "") == ["messages are no longer all held"])
        #expect(parts("", block) == ["block: ads is back"])
        #expect(parts(block, "") == ["block: ads is gone"])
        #expect(parts(off, block) == ["block: ads is on again"])
        #expect(parts(block, off) == ["block: ads is off again"])
        #expect(parts(many, block) == ["block: ads is back, 3 rules are gone"])
        #expect(parts(block + "off: [block]\n", block) == ["block is switched on again"])
        #expect(parts(block, block + "off: [block]\n") == ["block is switched off again"])

        var model = console()
        model.answer { $0.takeApplied(text(everything), nil, "It is on.") }
        model.rules.past = []
        _ = model.apply(text(""), "It is off.")
        model.answer { $0.takeApplied(text(""), nil, "It is off.") }
        let words = model.press("u").compactMap { if case .applyRules(_, let words, _) = $0 { words } else { nil } }
        let back = "every request and response is held again; ctrl-k stops that."
        #expect(words == ["Rule change undone: \(back)"])
    }

    @Test func `refused rules leave those before, and nothing to take back`() {
        var model = console()
        model.press("B", "d")
        model.answer { $0.takeRefused($0.rules.texts, nil, "line 3: no") }
        #expect(model.rules.past.isEmpty)
        #expect(model.told == "line 3: no")
    }

    @Test func `a rule is checked while it is edited, and an old remark is not shown`() {
        var model = console()
        let editor = EditorState(purpose: .rule(.blockList, replaces: nil), title: "rule", area: TextArea("at: a"))
        #expect(model.answer { $0.open(editor) }.words == ["check block new"])
        model.press("end")
        #expect(model.type("b").words == ["check block new"])
        model.answer { $0.remark("old", isWrong: true) { $0.area.text == "at: a" } }
        model.answer { $0.remark("It matches 1.", isWrong: false) { $0.area.text == "at: ab" } }
        guard case .editor(let open)? = model.overlays.last else {
            Issue.record("no editor")
            return
        }
        #expect(open.remark == "It matches 1.")
        #expect(!open.isWrong)
        let text = applied(model.press("ctrl-s"))
        #expect(text?.contains("at: ab") == true)
        #expect(model.overlays.isEmpty)
    }

    @Test func `a rule that is wrong stays in the editor`() {
        var model = console()
        let editor = EditorState(purpose: .rule(.blockList, replaces: nil), title: "rule", area: TextArea("{ at: ["))
        model.answer { $0.open(editor) }
        #expect(model.press("ctrl-s").isEmpty)
        guard case .editor(let open)? = model.overlays.last else {
            Issue.record("no editor")
            return
        }
        #expect(open.isWrong)
        #expect(!open.remark.isEmpty)
        #expect(model.told == "Fix the error first.")
    }

    @Test func `rules are saved once they are changed`() {
        var model = console()
        #expect(model.press("ctrl-s").isEmpty)
        #expect(model.told == "The rules are already saved.")
        model = console(isUnsaved: true)
        #expect(model.press("ctrl-s").words == ["save rules"])
        #expect(model.perform(.saveProfile, "other.yaml").words == ["save copy other.yaml"])
    }

    @Test func `where a file is in the way of saving there is a choice, in plain words`() {
        var model = console(isUnsaved: true)
        func choices() -> String {
            guard case .confirm(let confirm)? = model.overlays.last else { return "" }
            return String(confirm.choices.map(\.key))
        }
        model.answer { $0.ask(about: .exists, "rules.yaml already exists.") }
        #expect(choices() == "oan")
        #expect(model.press("o").words == ["save rules over"])
        model.answer { $0.ask(about: .changed, "rules.yaml was changed since it was read.") }
        #expect(choices() == "oarn")
        #expect(model.press("r").words == ["reload rules"])
        // What was made here can be had back.
        #expect(model.rules.past.count == 1)
        model.answer { $0.ask(about: .changed, "rules.yaml was changed since it was read.") }
        #expect(model.press("a").isEmpty)
        model.type("2")
        #expect(model.press("enter").words == ["save copy sluice-rules.yaml2"])
        model.answer { $0.ask(about: .exists, "rules.yaml already exists.") }
        #expect(model.press("n").isEmpty)
        #expect(model.overlays.isEmpty)
    }

    @Test func `a change of rules is told with the rule's name, or where it acts`() {
        var model = console()
        model.press("B")
        #expect(words(model.press("space")) == "block: trackers is off.")
        #expect(words(model.press("J")) == "block: trackers moved down.")
        let second = "advertisements with a rather long name that leaves little room"
        #expect(words(model.press("K")) == "block: \(second) moved up.")
        #expect(words(model.press("d")) == "block: trackers removed.")
        func open(_ text: String, replaces index: Int?) {
            let purpose = EditorState.Purpose.rule(.blockList, replaces: index)
            model.answer { $0.open(EditorState(purpose: purpose, title: "rule", area: TextArea(text))) }
        }
        open("at: example.com/*", replaces: nil)
        #expect(words(model.press("ctrl-s")) == "block: example.com/* added; it is active.")
        open("{ at: b.com, enabled: false }", replaces: 0)
        #expect(words(model.press("ctrl-s")) == "block: b.com changed; it is off.")
        #expect(words(model.perform(.preset, "3g")) == "throttle 3g is on.")
        #expect(model.perform(.preset, "off").isEmpty)
        #expect(model.told == "Throttling is off.")
        model.answer { $0.takeApplied($0.rules.texts, nil, "block: trackers is off.") }
        #expect(model.told == "block: trackers is off.")
    }

    @Test func `a rule is checked in the place that it is to have`() throws {
        let texts = [
            ProfileSource(file: "a.yaml", text: "version: 1\nblock:\n  - at: a.com\n  - at: b.com\n"),
            ProfileSource(file: "b.yaml", text: "version: 1\nblock:\n  - at: c.com\n"),
            ProfileSource(file: "c.yaml", text: "version: 1\n"),
        ]
        func issues(_ yaml: String, replacing index: Int?) -> [String] {
            let place = texts.place(of: .blockList, replacing: index)
            return RuleCheck.check(
                RuleText(yaml),
                of: Tool.blockList.section,
                in: place.profile,
                replacing: place.replaced
            )
            .map(\.message)
        }
        #expect(issues("at: b.com", replacing: 1).isEmpty)
        #expect(issues("at: a.com", replacing: 1).count > 0)
        #expect(issues("at: c.com", replacing: 2).isEmpty)
        #expect(texts.place(of: .blockList, replacing: nil).profile.file == "b.yaml")
    }

    @Test func `the end asks only where something would be lost`() {
        var model = console()
        #expect(model.press("q").words == ["quit"])
        model = console(isUnsaved: true)
        #expect(model.press("q").isEmpty)
        #expect(model.press("n").isEmpty)
        #expect(model.overlays.isEmpty)
        model.press("q")
        #expect(model.press("y").words == ["quit"])
    }

    @Test func `the end waits until the rules are in their files`() {
        var model = console(isUnsaved: true)
        model.press("q")
        #expect(model.press("s").words == ["save rules"])
        model.answer { $0.ask(about: .changed, "rules.yaml was changed since it was read.") }
        model.press("n")
        #expect(model.answer { $0.takeSaved(["rules.yaml"], [], nil) }.isEmpty)
        model = console(isUnsaved: true)
        model.press("q", "s")
        #expect(model.answer { $0.takeSaved(["rules.yaml"], [], nil) }.words == ["quit"])
        model = console(isUnsaved: true)
        model.press("q", "s")
        model.answer { $0.ask(about: .changed, "rules.yaml was changed since it was read.") }
        #expect(model.press("o").words == ["save rules over"])
        #expect(model.answer { $0.takeSaved(["rules.yaml"], [], nil) }.words == ["quit"])
        model = console(isUnsaved: true)
        model.press("q", "s")
        model.answer { $0.takeNotSaved("rules.yaml cannot be written.\nNo room.") }
        #expect(model.told == "rules.yaml cannot be written. No room.")
        #expect(model.answer { $0.takeSaved(["rules.yaml"], [], nil) }.isEmpty)
    }

    @Test func `a host is decrypted again by a key on its tunnel, or by its name`() {
        func press(_ record: ExchangeRecord) -> (words: [String], told: String) {
            var model = ModelFixture.listing([record], Size(width: 100, height: 30))
            return (model.press("ctrl-d").words, model.told)
        }
        let url = RequestURL(scheme: "tunnel", host: "h.example", port: 443, path: "")
        let tunnel = ModelFixture.record(1, "CONNECT") {
            $0.kind = .tunnel
            $0.url = url
        }
        var refused = tunnel
        refused.flags = [.tunnelledTLS, .certificateRefused]
        #expect(press(refused).words == ["decrypt h.example:443"])
        var failed = tunnel
        failed.kind = .failedHandshake
        #expect(press(failed).words == ["decrypt h.example:443"])
        #expect(press(tunnel).words.isEmpty)
        #expect(press(tunnel).told == "This tunnel has no TLS: there is nothing to decrypt.")
        func hint(_ record: ExchangeRecord) -> String? {
            FooterView.hints(ModelFixture.listing([record], Size(width: 100, height: 30))).first?.word
        }
        #expect(hint(refused) == "decrypt again")
        #expect(hint(tunnel) == "open")
        var model = console()
        #expect(model.perform(.decrypt, "other:8443").words == ["decrypt other:8443"])
        var view = console(.attached(canSteer: false))
        #expect(view.perform(.decrypt, "other").isEmpty)
    }

    @Test func `the row, the overview and the sentence of a tunnel say why it is not decrypted`() {
        let reasons: [(ExchangeRecord.Flags, row: String, sentence: String)] = [
            (.certificateRefused, "(certificate refused, not decrypted)", "not decrypted: certificate refused"),
            (.notIntercepted, "(not decrypted, passed through)", "not decrypted: passed through"),
        ]
        for reason in reasons {
            let record = ModelFixture.record(1, "CONNECT") {
                $0.kind = .tunnel
                $0.flags = reason.0
            }
            let model = ModelFixture.listing([record], Size(width: 140, height: 30))
            #expect(ConsoleView.draw(model).text.contains(reason.row))
            #expect(LinearSentence.text(record).contains(reason.sentence))
        }
    }

    @Test func `a recording and a view have no tools, and say why`() {
        var model = console(.recorded(name: "old.sluice"))
        #expect(model.press("b").isEmpty)
        #expect(model.told == "Not available: viewing a recording.")
        model = console(.attached(canSteer: false))
        #expect(model.press("b").isEmpty)
        #expect(model.told == "Not available: attached with --view.")
        #expect(model.press("B").isEmpty)
        #expect(model.overlays.count == 1)
        model.notices = []
        #expect(model.press("d").isEmpty)
        #expect(model.told == "Not available: attached with --view.")
        #expect(model.panelRules(.blockList).count == 2)
        model.press("esc")
        #expect(model.press("p").isEmpty)
        #expect(model.told == "Not available: attached with --view.")
    }

    @Test func `where the proxy has ended nothing of it is offered`() {
        var model = console(.attached(canSteer: true))
        _ = model.update(.proxyLost("The proxy has ended."))
        for command: Command in [.toggleTool, .panel, .ruleFromExchange, .repeatRequest, .holds, .abort, .saveProfile] {
            #expect(model.whyNot(command) == "The proxy has ended.")
        }
        #expect(StatusView.text(StatusView.items(model)).hasPrefix("The proxy has ended."))
        #expect(model.whyNot(.copy) == nil)
    }
}

struct HoldsUpdateTests {
    private func console() -> ConsoleModel {
        var model = ModelFixture.listing(ModelFixture.plain(9), Size(width: 100, height: 30))
        let holds = [ModelFixture.hold("7.1"), ModelFixture.hold("8.1")].compactMap { $0 }
        _ = model.update(.proxy(ModelFixture.status(), holds))
        return model
    }

    @Test func `a message that waits is told of once`() {
        var model = console()
        #expect(model.notices.filter { $0.text.hasPrefix("Held: PUT") }.count == 2)
        _ = model.update(.proxy(ModelFixture.status(), model.proxy.holds))
        #expect(model.notices.filter { $0.text.hasPrefix("Held: PUT") }.count == 2)
    }

    @Test func `messages that wait are decided one by one or all at once`() {
        var model = console()
        #expect(model.press("e").words == ["open hold 7.1"])
        #expect(model.press("ctrl-e").words == ["execute 7.1"])
        #expect(model.perform(.abort, "8").words == ["abort 8.1"])
        #expect(model.perform(.abort, "99").isEmpty)
        #expect(model.told == "No message '99' is held.")
        #expect(model.press("X").isEmpty)
        // A key that was typed before the question was read is no answer.
        #expect(model.press("y").isEmpty)
        _ = model.update(.tick(model.now + 300_000))
        #expect(model.press("y").words == ["execute 7.1 8.1"])
        model.press("H", "down")
        #expect(model.press("ctrl-x").words == ["cancel 8.1"])
        _ = model.update(.proxy(ModelFixture.status(), []))
        #expect(model.overlays.isEmpty)
        #expect(model.press("X").isEmpty)
        #expect(model.told == "No message is held.")
    }

    @Test func `on lines a decision names its message where several wait`() {
        var model = console()
        model.isLinear = true
        #expect(model.perform(.abort, nil).isEmpty)
        #expect(model.told == "Several messages are held, name one: 7.1, 8.1.")
        #expect(model.perform(.execute, "8").words == ["execute 8.1"])
        _ = model.update(.proxy(ModelFixture.status(), Array(model.proxy.holds.prefix(1))))
        #expect(model.perform(.abort, nil).words == ["abort 7.1"])
    }

    private func waiting(_ model: inout ConsoleModel, _ ids: String...) {
        _ = model.update(.proxy(ModelFixture.status(), ids.compactMap { ModelFixture.hold($0) }))
    }

    @Test func `a key decides about the message that was selected, and about no other in its place`() {
        var model = console()
        model.press("H")
        waiting(&model, "5.1", "7.1", "8.1")
        #expect(model.press("enter").words == ["open hold 7.1"])
        waiting(&model, "5.1", "8.1", "9.1")
        #expect(model.told == "The selected message is no longer held.")
        for key in ["ctrl-e", "ctrl-a", "ctrl-x", "enter", "e"] {
            #expect(model.press(key).isEmpty)
            #expect(model.told.hasPrefix("No message is selected"))
        }
        model.press("down")
        #expect(model.press("ctrl-e").words == ["execute 5.1"])
        // One's own decision goes on to the next.
        waiting(&model, "8.1", "9.1")
        #expect(model.press("ctrl-a").words == ["abort 8.1"])
        let told = model.told
        waiting(&model, "9.1")
        #expect(model.told == told)
        #expect(model.press("ctrl-x").words == ["cancel 9.1"])
        waiting(&model, "10.1")
        #expect(model.press("ctrl-e").isEmpty)
        model.press("up")
        #expect(model.press("ctrl-e").words == ["execute 10.1"])
    }

    @Test func `the list of those that wait closes by itself, and what lies over it stays`() {
        var model = console()
        model.press("H", "?")
        waiting(&model)
        #expect(model.overlays.count == 1)
        #expect(model.context == .report)
        waiting(&model, "7.1", "8.1")
        model.press("esc", "H", "X")
        _ = model.update(.tick(model.now + 400_000))
        model.press("y")
        let told = model.told
        waiting(&model)
        #expect(model.overlays.isEmpty)
        #expect(model.told == told)
    }

    @Test func `the end asks while messages are held`() {
        var model = console()
        #expect(model.press("q").isEmpty)
        guard case .confirm(let confirm)? = model.overlays.last else {
            Issue.record("no question")
            return
        }
        #expect(confirm.question == "2 messages are held.")
    }
}

struct SendingUpdateTests {
    private func console(_ url: String) -> ConsoleModel {
        ModelFixture.listing([ModelFixture.record(1, "GET", url)], Size(width: 100, height: 30))
    }

    @Test func `many requests to another machine are asked about`() {
        var model = console("https://api.example.com/")
        #expect(model.perform(.repeatAdvanced, "100 4 0").words == ["repeat 1 100 x 4"])
        #expect(model.perform(.repeatAdvanced, "101 4 0").isEmpty)
        _ = model.update(.tick(model.now + 400_000))
        #expect(model.press("y").words == ["repeat 1 101 x 4"])
        var local = console("http://localhost:3000/")
        #expect(local.perform(.repeatAdvanced, "5000 x 4, 2s").words == ["repeat 1 5000 x 4, 2000ms"])
    }

    @Test(arguments: ["", "0", "-1 1 0", "10 0 0", "10 300 0", "10 1 -5", "1 2 3 4", "x", "99999999999999999999"])
    func `numbers that make no sense are refused`(_ words: String) {
        var model = console("https://api.example.com/")
        #expect(model.perform(.repeatAdvanced, words).isEmpty)
        #expect(model.told.contains("For example: 100 x 10, 50ms"))
    }

    @Test func `keys copy, send again and say why`() {
        var model = console("https://api.example.com/")
        #expect(model.press("C").words == ["copy curl 1"])
        #expect(model.press("p").words == ["send 1"])
        #expect(model.press("P").words == ["open request 1"])
        #expect(model.press("y").words == ["why 1"])
        #expect(!model.proxy.address.isEmpty && model.press("!").words == ["trust \(model.proxy.address)"])
        // On lines there is no code for a phone to look at.
        model.isLinear = true
        #expect(!FirstSteps(model).lines(width: 80).contains { $0.plain.contains("▀") })
        model.isLinear = false
        model.press("c")
        model.type("url")
        #expect(model.press("enter").words == ["copy url 1"])
    }
}
