import HTTPModel
import Terminal
import Testing
import Tools

@testable import Console
@testable import Description
@testable import Runner

/// Every screen that there is, made by the messages and keys that lead to it.
struct Screens: Sendable, CustomTestStringConvertible {
    var name: String
    var make: @Sendable (Size, Look) -> ConsoleModel

    init(_ name: String, _ make: @escaping @Sendable (Size, Look) -> ConsoleModel) {
        self.name = name
        self.make = make
    }

    var testDescription: String { name }

    private static func mixed(_ size: Size, _ look: Look) -> ConsoleModel {
        ModelFixture.listing(ModelFixture.mixed, size, look: look)
    }

    private static func after(_ name: String, _ change: @escaping @Sendable (inout ConsoleModel) -> Void) -> Screens {
        Screens(name) { size, look in
            var model = mixed(size, look)
            change(&model)
            return model
        }
    }

    private static func rules(_ model: inout ConsoleModel) {
        model.answer {
            $0.takeOver([ProfileSource(file: "rules.yaml", text: ModelFixture.rules, isUnsaved: true)], nil)
        }
        let tools = [
            ToolState(name: "block", isOn: true, rules: 2, enabled: 1),
            ToolState(name: "rewrite", isOn: false, rules: 3, enabled: 3),
        ]
        _ = model.update(.proxy(ModelFixture.status(tools), []))
    }

    private static func holds(_ model: inout ConsoleModel) {
        let holds = [ModelFixture.hold("7.1"), ModelFixture.hold("12.2", "response")].compactMap { $0 }
        _ = model.update(.proxy(ModelFixture.status(), holds))
    }

    private static func opened(_ model: inout ConsoleModel) {
        model.press("enter")
        guard let id = model.detail.id else { return }
        let generation = model.detail.generation
        let pages: [DetailPage] = [.overview, .request, .response, .messages]
        model.answer { $0.show(ModelFixture.document, pages, of: id, generation) }
    }

    private static func ruleEditor(_ model: inout ConsoleModel, _ words: String, isWrong: Bool) {
        let text = "match: {host: api.example.com}\naction: deny"
        let editor = EditorState(
            purpose: .rule(.blockList, replaces: nil),
            title: "Block list: new rule",
            area: TextArea(text)
        )
        model.answer { $0.open(editor) }
        model.answer { $0.remark(words, isWrong: isWrong) { $0.area.text == text } }
    }

    private static func structure(_ model: inout ConsoleModel) {
        model.press("tab")
        let generation = model.list.generation
        let site = StructureNode(site: "https://api.example.com")
        let top = [
            StructureChild(
                name: "https://api.example.com",
                node: site,
                isLeaf: false,
                newest: ExchangeID(9),
                count: 1_200,
                errors: 3
            ),
            StructureChild(
                name: "https://wide.example.com/日本語",
                node: StructureNode(site: "https://wide.example.com"),
                isLeaf: true,
                newest: ExchangeID(1),
                count: 1
            ),
        ]
        let paths = ["v1", "a-very-long-segment-of-a-path-that-goes-on-and-on-until-nothing-has-room"].map {
            let node = StructureNode(site: site.site, segments: [$0])
            return StructureChild(name: $0, node: node, isLeaf: true, newest: ExchangeID(8), count: 600)
        }
        let root = StructureNode()
        _ = model.update(.query(.structure(StructureLevel(node: root, generation: generation, children: top))))
        model.press("enter")
        _ = model.update(.query(.structure(StructureLevel(node: site, generation: generation, children: paths))))
    }

    static let all: [Screens] = [
        Screens("empty-live") { ModelFixture.started($0, look: $1) },
        Screens("empty-live-network") { size, look in
            var model = ModelFixture.started(size, look: look)
            _ = model.update(.proxy(ModelFixture.status(address: "192.168.1.20:8080"), []))
            return model
        },
        Screens("starting") { ConsoleModel(source: .live, size: $0, look: $1) },
        Screens("recorded-empty") { ConsoleModel(source: .recorded(name: "old.sluice"), size: $0, look: $1) },
        after("empty-result") { model in
            model.press("/")
            model.type("host:nobody status:200")
            model.press("enter")
            let generation = model.list.generation
            let status = ListStatus(generation: generation, total: 0, sessionTotal: 14, excludedBy: "host:nobody")
            _ = model.update(.query(.list(status)))
        },
        after("sequence") { _ in },
        after("sequence-marked") { model in
            model.press("up", "space", "up", "up")
            _ = model.perform(.highlight, "status:4xx")
            _ = model.perform(.sort, "size")
            ModelFixture.answer(&model, ModelFixture.mixed)
        },
        after("not-following") { $0.press("up") },
        after("detail") { opened(&$0) },
        after("structure") { structure(&$0) },
        after("filter-typing") { model in
            model.press("/")
            model.type("host:api")
        },
        after("filter-error") { model in
            model.press("/")
            model.type("host:api statsu:404")
        },
        after("palette") { model in
            model.press(":")
            model.type("copy")
        },
        after("tool-choice") { model in
            rules(&model)
            _ = model.perform(.panel, nil)
        },
        after("prompt") { $0.press("S") },
        after("confirm-quit") { model in
            rules(&model)
            model.press("q")
        },
        after("help") { $0.press("?") },
        after("messages") { model in
            model.press("]", "@")
        },
        after("rule-editor") { ruleEditor(&$0, "It matches 3 of 14 recorded exchanges.", isWrong: false) },
        after("rule-editor-wrong") { model in
            let words =
                "line 2: 'action' has to be one of: deny, drop, reset; a suggestion follows that takes some room."
            ruleEditor(&model, words, isWrong: true)
        },
        after("message-editor") { model in
            let text = (1...60).map { "line \($0): 値 and some text" }.joined(separator: "\n")
            let editor = EditorState(purpose: .hold("7.1"), title: "Held request", area: TextArea(text))
            model.answer { $0.open(editor) }
            model.press("ctrl-end")
        },
        after("panel") { model in
            rules(&model)
            model.press("B")
        },
        after("panel-empty") { $0.press("M") },
        after("held") { holds(&$0) },
        after("holds") { model in
            holds(&model)
            model.press("H", "down")
        },
        after("job") { model in
            let job = Job(id: .repeating, title: "sending 100 requests", progress: 0.42, startedAt: model.now - 500_000)
            model.answer { $0.start(job) }
            rules(&model)
        },
        after("notice") { _ = $0.update(.said("Copied.", .info)) },
        after("notice-long") { model in
            _ = model.update(.said("The file could not be written: " + String(repeating: "very ", count: 60), .error))
        },
        after("two-keys") { $0.press("a") },
    ]
}
