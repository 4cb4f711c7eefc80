import Description
import HTTPModel
import Support
import Terminal
import Testing

@testable import Console
@testable import Runner

struct StatusTests {
    private func model(_ width: Int) -> ConsoleModel {
        var model = ModelFixture.listing(ModelFixture.plain(9), Size(width: width, height: 24))
        let tools = ["block", "map-remote", "rewrite"].map { ToolState(name: $0, isOn: true, rules: 1, enabled: 1) }
        let off = ToolState(name: "breakpoints", isOn: false, rules: 1, enabled: 1)
        var status = ModelFixture.status(tools + [off], address: "127.0.0.1:17800")
        status.recordingProblem = nil
        _ = model.update(.proxy(status, []))
        model.proxy.preset = "3g"
        model.proxy.errors = 7
        model.proxy.rates = Array(repeating: 3, count: 30)
        model.marks = [1, 2, 3].map { .init($0) }
        model.press("up")
        model.notices = []
        return model
    }

    private func line(_ model: ConsoleModel) -> String { ConsoleView.draw(model).row(Layout(model).status.y) }

    @Test func `at 80 columns it says all that is on, and no words run together`() {
        var model = model(80)
        let line = line(model)
        for word in ["3g", "on: b m r", "off", "not following", "marked 3", "errors 7", "17800"] {
            #expect(line.contains(word), "\(word): \(line)")
        }
        #expect(!line.contains("▃") && !line.contains("…"))
        _ = model.update(.resized(Size(width: 200, height: 24)))
        let long = self.line(model)
        for word in ["throttle 3g", "on: block map-remote rewrite", "off: breakpoints", "127.0.0.1:17800 · recording"] {
            #expect(long.contains(word), "\(word): \(long)")
        }
        #expect(long.contains("█"))
    }

    @Test func `what is wrong has a colour, and a notice gives way at the next key`() throws {
        var model = model(120)
        let line = line(model)
        let place = try #require(line.firstRange(of: "errors 7"), "\(line)").lowerBound
        let column = line.distance(from: line.startIndex, to: place)
        let screen = ConsoleView.draw(model)
        let y = Layout(model).status.y
        #expect(screen[column, y].style.foreground == model.look.theme.style(.serverError).foreground)
        #expect(screen[column - 3, y].style == model.look.theme.bar)
        model.proxy.recording = RecordingState(isOn: false, passed: 3)
        #expect(StatusView.items(model).filter(\.isAlarming).map(\.forms) == [["NOT RECORDING"], ["errors 7"]])
        _ = model.update(.said("Copied.", .info))
        #expect(self.line(model).contains("Copied."))
        model.press("down")
        #expect(!self.line(model).contains("Copied.") && model.told == "Copied.")
        model.press("f6")
        #expect(self.line(model).contains("f6 does nothing"))
    }

    @Test func `a preset is said only while its tool is on, on the screen and on lines`() {
        func words(isOn: Bool) -> [String] {
            var model = model(200)
            let throttle = ToolState(name: "throttle", isOn: isOn, rules: 1, enabled: 1)
            _ = model.update(.proxy(ModelFixture.status([throttle]), []))
            model.isLinear = true
            _ = model.perform(.status, nil)
            guard case .report(let report)? = model.overlays.last else { return [] }
            return StatusView.items(model).flatMap(\.forms) + report.document.lines.map(\.plain)
        }
        #expect(words(isOn: true).contains("throttle 3g") && words(isOn: true).contains("Network: 3g."))
        let off = words(isOn: false)
        #expect(!off.contains("throttle 3g") && !off.contains { $0.hasPrefix("Network") })
        #expect(off.contains("off: throttle"))
    }

    @Test(arguments: 20...200)
    func `at every width the most important items are whole`(_ width: Int) {
        let items = StatusView.items(model(width))
        let fitting = StatusView.fitting(items, width: width)
        let text = fitting.compactMap(\.forms.first).joined(separator: " · ")
        // Between the two sides are two spaces, not a sign.
        #expect(text.count + 1 <= width || fitting.count == 1)
        // What is left out matters less than all that is there.
        let ranks = Set(fitting.map(\.rank))
        let gone = items.map(\.rank).filter { !ranks.contains($0) }
        #expect((gone.min() ?? .max) >= (ranks.max() ?? 0))
    }

    @Test(arguments: [30, 40, 60, 80])
    func `how a job is stopped is never cut`(_ width: Int) {
        var model = model(width)
        let title = "sent 11 of 60, and a title that goes on"
        model.answer { $0.start(Job(id: .repeating, title: title, progress: 0.42, startedAt: $0.now - 500_000)) }
        #expect(line(model).contains("42 %, ctrl-g stops"), "\(line(model))")
    }

    @Test func `listeners say what they are, and are counted where there is no room`() {
        var model = model(260)
        let regular = ListenerState(mode: "regular", address: "127.0.0.1:17800")
        let reverse = ListenerState(mode: "reverse:https://api.example.com", address: "127.0.0.1:8443")
        model.proxy.listeners = [regular, reverse, ListenerState(mode: "socks5", address: "127.0.0.1:1080")]
        let all = "127.0.0.1:17800, :8443 reverse:https://api.example.com, :1080 socks5 · recording"
        #expect(line(model).contains(all), "\(line(model))")
        model.proxy.listeners[2].address = "[::1]:1080"
        #expect(line(model).contains("com, [::1]:1080 socks5 · "), "\(line(model))")
        model.proxy.listeners.removeFirst()
        model.proxy.address = reverse.address
        let none = "127.0.0.1:8443 reverse:https://api.example.com, [::1]:1080 socks5 · recording"
        #expect(line(model).contains(none), "\(line(model))")
        (model.proxy.address, model.proxy.listeners) = (regular.address, [regular] + model.proxy.listeners)
        _ = model.update(.resized(Size(width: 80, height: 24)))
        #expect(line(model).contains(":17800 +2"), "\(line(model))")
        _ = model.update(.resized(Size(width: 200, height: 24)))
        model.proxy.address = reverse.address
        model.proxy.listeners = [reverse]
        #expect(line(model).contains("127.0.0.1:8443 reverse:https://api.example.com"), "\(line(model))")
        model.proxy.listeners = [regular]
        #expect(!line(model).contains("+"), "\(line(model))")
    }

    @Test func `a throttle without a preset is shown too`() {
        var model = model(80)
        model.proxy.preset = nil
        model.proxy.tools = [ToolState(name: "throttle", isOn: true, rules: 1, enabled: 1)]
        #expect(line(model).contains("on: throttle"))
    }
}
