import Guide
import HTTPModel
import Rules
import Terminal
import Testing
import Tools

@testable import Console
@testable import Description

@Suite("The guide in the console")
struct GuideViewTests {
    private func console() -> ConsoleModel {
        ModelFixture.listing(ModelFixture.plain(9), Size(width: 80, height: 24))
    }

    private func report(_ model: ConsoleModel) -> ReportState? {
        if case .report(let report)? = model.overlays.last { report } else { nil }
    }

    @Test("Help, asked for help, opens the guide's page about where one is; Esc leads back step by step")
    func byPlace() throws {
        func topic(_ keys: String...) throws -> String {
            var model = console()
            for key in keys { model.press(key) }
            let depth = model.overlays.count
            let topic = model.guideTopic
            model.press("f1")
            #expect(report(model)?.title == "Help" && FooterView.hints(model).isEmpty == false)
            model.press("?")
            guard case .page(let page) = Guide().find(topic) else {
                Issue.record("The guide has no page '\(topic)'.")
                return topic
            }
            #expect(report(model)?.title == "Guide: \(page.title)")
            #expect(report(model)?.document.lines.isEmpty == false)
            model.press("esc", "esc")
            #expect(model.overlays.count == depth)
            return topic
        }
        #expect(try topic() == "console")
        #expect(try topic("enter") == "console")
        #expect(try topic("/") == "filters")
        #expect(try topic(":") == "keys")
        #expect(try topic("A") == "repeat-and-compare")
        for about in ["why", "trust", "sessions", "repeat-and-compare"] {
            var model = console()
            model.answer { $0.report("A report", DetailDocument("A line."), topic: about) }
            model.press("?")
            #expect(report(model)?.title == "Help")
            model.press("?")
            guard case .page(let page) = Guide().find(about) else {
                Issue.record("The guide has no page about \(about).")
                continue
            }
            #expect(report(model)?.title == "Guide: \(page.title)")
        }
        for tool in Tool.all {
            var model = console()
            _ = model.perform(.panel, tool.key)
            #expect(model.guideTopic == tool.key)
            let rule = EditorState(purpose: .rule(tool, replaces: nil), title: "New", area: TextArea("at: a\n"))
            model.answer { $0.open(rule) }
            #expect(model.guideTopic == tool.key)
            guard case .page = Guide().find(tool.key) else {
                Issue.record("The guide has no page about \(tool.key).")
                continue
            }
        }
    }

    @Test("A page is opened by its topic or the beginning of one; a wrong one is refused with those that there are")
    func byTopic() {
        var model = console()
        _ = model.perform(.guide, "filt")
        #expect(report(model)?.title == "Guide: Filters")
        _ = model.perform(.guide, "no such page")
        #expect(model.notices.last?.text.contains("There is no topic 'no such page'") == true)
        _ = model.perform(.guide, "map")
        #expect(model.notices.last?.text.hasSuffix("it has map-remote, map-local.") == true)
    }

    @Test("Lines have the width of the screen, and tables are those of the program")
    func layout() {
        var model = console()
        let table = "| term | what |\n| --- | --- |\n| `host:x` | a host |"
        model.makeGuide = { Guide { $0 == "filter-words" ? table : nil } }
        _ = model.perform(.guide, "filters")
        let lines = report(model)?.document.lines ?? []
        #expect(lines.contains { $0.plain.hasPrefix("host:x") })
        #expect(lines.contains { $0.spans.contains { $0.role == .key } })
        for line in lines where !line.plain.hasPrefix("    ") { #expect(line.plain.count <= 76, "\(line.plain)") }
    }

    @Test("On lines, guide lists the pages, and reads one")
    func onLines() {
        var model = console()
        model.isLinear = true
        _ = model.perform(.guide, nil)
        #expect(report(model)?.document.lines.contains { $0.plain == "filters: Filters" } == true)
        _ = model.perform(.guide, "throttle")
        #expect(report(model)?.title == "Guide: Throttling")
    }
}
