import Description
import HTTPModel
import Rules
import Terminal
import Testing

@testable import Console
@testable import Runner

/// What the model does where commands come as lines, and nothing but messages changes it.
struct LinesUpdateTests {
    private func console() -> ConsoleModel {
        var model = ModelFixture.listing(ModelFixture.plain(9), Size(width: 100, height: 30))
        model.isLinear = true
        model.answer { $0.takeOver([.init(file: "rules.yaml", text: ModelFixture.rules, isUnsaved: false)], nil) }
        let tools = [ToolState(name: "block", isOn: true, rules: 2, enabled: 1)]
        _ = model.update(.proxy(ModelFixture.status(tools), []))
        return model
    }

    private func says(_ model: inout ConsoleModel, _ command: Command, _ argument: String? = nil) -> [String] {
        model.perform(command, argument).words
    }

    private func applied(_ effects: [Effect]) -> String? {
        effects.lazy.compactMap { if case .applyRules(let texts, _, _) = $0 { texts.first?.text } else { nil } }.first
    }

    @Test func `what was written is closed, but a question stays until it is answered`() {
        var model = console()
        #expect(says(&model, .toggleTool) == [])
        _ = says(&model, .help)
        _ = says(&model, .switchView)
        #expect(model.overlays.count == 2 && model.view == .structure)
        _ = model.update(.written)
        #expect(model.overlays.isEmpty && model.view == .sequence)
        model.answer { $0.ask(about: .changed, "rules.yaml was changed.") }
        _ = model.update(.written)
        guard case .confirm(let question)? = model.overlays.last, let overwrite = question.choices.first else {
            Issue.record("the question is gone")
            return
        }
        #expect(model.choose(overwrite).words == ["save rules over"])
        #expect(model.overlays.isEmpty)
        #expect(model.choose(overwrite).isEmpty, "nothing is asked any more")
    }

    @Test func `a rule is drafted from an exchange or written out, kept, and put in force or thrown away`() throws {
        var model = console()
        #expect(says(&model, .apply) == [])
        #expect(model.told == "There is no draft; rule TOOL or compose makes one.")
        #expect(says(&model, .ruleFromExchange, "block") == ["draft block 9 0"])
        #expect(says(&model, .ruleFromExchange, "block #3") == ["draft block 3 0"])
        #expect(says(&model, .ruleFromExchange, "nothing") == [])
        #expect(model.told.hasPrefix("There is no tool 'nothing'; there are "))
        for _ in 0..<2 {
            #expect(says(&model, .ruleFromExchange, #"block at: "*/new""#) == ["check block new"])
            _ = model.update(.written)
            #expect(says(&model, .discard) == [])
            #expect(model.draft == nil && model.told == "Draft discarded.")
        }
        _ = says(&model, .ruleFromExchange, #"block at: "*/new""#)
        _ = model.update(.written)
        let text = applied(model.perform(.apply, nil))
        #expect(try #require(text).contains("*/new") && model.overlays.isEmpty && model.draft == nil)
        // One with a mistake is kept, to be written again with what is wrong.
        _ = says(&model, .ruleFromExchange, "block at: [")
        _ = model.update(.written)
        #expect(says(&model, .apply) == [])
        guard case .editor(let editor)? = model.overlays.last else {
            Issue.record("the draft is gone")
            return
        }
        #expect(editor.isWrong)
        _ = model.update(.written)
        #expect(model.draft != nil)
    }

    @Test func `a written rule needs no exchange, a drafted one does`() {
        var model = ModelFixture.started(Size(width: 100, height: 30))
        model.isLinear = true
        #expect(says(&model, .ruleFromExchange, "block") == [])
        #expect(model.told == "No exchanges yet.")
        #expect(says(&model, .ruleFromExchange, "block at: a.example") == ["check block new"])
    }

    @Test func `a rule is switched and removed by its tool and its number`() throws {
        var model = console()
        let switched = try #require(applied(model.perform(.switchRule, "block 2")))
        #expect(!switched.contains("enabled: false"))
        let removed = try #require(applied(model.perform(.removeRule, "b 1")))
        #expect(!removed.contains("trackers") && removed.contains("ads.example.com"))
        for (words, told) in [
            ("block 3", "Block list has no rule 3."), ("block 0", "Block list has no rule 0."),
            ("block", "A rule is named by its tool and its number, for example: block 1"),
        ] {
            #expect(says(&model, .removeRule, words) == [])
            #expect(model.told == told)
        }
        let rules = model.panelRules(try #require(Tool(word: "block"))).map(\.yaml)
        _ = says(&model, .editRule, "block 2")
        _ = model.update(.written)
        #expect(model.draft?.area.text == rules[1])
        #expect(says(&model, .wider) == [])
        #expect(model.told == "The draft was not made from an exchange, so it has no wider scope.")
        _ = says(&model, .draft, "name mine")
        _ = model.update(.written)
        let edited = try #require(applied(model.perform(.apply, nil)))
        #expect(edited.contains("name: mine") && edited.contains("trackers"))
        let moved = try #require(applied(model.perform(.moveRule, "block 2 up")))
        #expect(moved.split(separator: "trackers")[0].contains("ads.example.com"))
        _ = model.update(.written)
        #expect(says(&model, .moveRule, "block 1 up") == [])
        #expect(model.told == "It is already the first rule of its list.")
        #expect(says(&model, .moveRule, "block 2") == [])
        #expect(model.told.hasPrefix("move-rule takes a tool"))
        #expect(says(&model, .switchRule) == [])
        #expect(model.told.hasPrefix("switch-rule needs TOOL NUMBER"))
        var view = ModelFixture.listing(
            ModelFixture.plain(1),
            Size(width: 100, height: 30),
            source: .attached(canSteer: false)
        )
        #expect(says(&view, .removeRule, "block 1") == [])
        #expect(view.told == "Not available: attached with --view.")
    }

    @Test func `a line that lacks something or has too much is refused, and opens nothing`() {
        var model = console()
        for (command, argument, told) in [
            (.next, "3", "next takes no argument, but got '3'."),
            (.goTo, nil, "go needs ID: Number of the exchange"),
            (.filter, nil, "filter needs EXPRESSION"), (.export, "har", "export needs FORMAT [SCOPE] [secrets] FILE"),
            (.list, "x", "list takes a number"), (.saveBody, "1 a b", "A file name is one word"),
            (.show, "1 nothing", "No page 'nothing' here"), (.help, "nothing", "Unknown command 'nothing'"),
        ] as [(Command, String?, String)] {
            #expect(says(&model, command, argument) == [], "\(command)")
            #expect(model.told.hasPrefix(told), "\(command): \(model.told)")
            #expect(model.overlays.isEmpty && !model.filter.isEditing, "\(command)")
        }
        #expect(says(&model, .highlight) == [])
        #expect(model.told == "All highlights are removed.")
        #expect(says(&model, .list, "4") == ["load 0..<4 #0"])
        #expect(says(&model, .saveBody, "3 \"the body\"") == ["save body 3 the body"])
    }

    @Test func `marks and messages that wait are told, since nothing shows them`() throws {
        var model = console()
        #expect(says(&model, .mark, "2") == [])
        #expect(model.told == "2 is marked.")
        #expect(says(&model, .mark) == [])
        #expect(model.told == "9 is marked." && model.selectedID == ExchangeID(9))
        let hold = try #require(ModelFixture.hold("7.1"))
        _ = model.update(.proxy(ModelFixture.status(), [hold]))
        #expect(model.told == "Held 7.1, request PUT https://api.example.com/held; execute, edit, cancel, abort")
        #expect(says(&model, .editHold, "7 method=GET") == ["edit 7.1 method=GET"])
        #expect(says(&model, .cancel, "7") == ["cancel 7.1"])
        #expect(says(&model, .status) == [])
        guard case .report(let report)? = model.overlays.last else {
            Issue.record("no status")
            return
        }
        #expect(report.document.lines.map(\.plain).contains("Marked: 2, 9."))
    }

    @Test func `a page that an exchange does not have is refused`() {
        var model = console()
        #expect(says(&model, .show, "9 messages").contains { $0.hasPrefix("detail 9 messages") })
        model.answer {
            $0.show(ModelFixture.document, [.overview, .request], of: ExchangeID(9), $0.detail.generation)
        }
        #expect(model.told == "Exchange 9 has no page 'messages'. There are: overview, request.")
        #expect(model.detail.options.page == .overview)
    }
}
