import ExchangeCore
import HTTPModel
import Rules
import Support
import Testing
import Tools

@Suite("The registry of tools")
struct ToolRegistryTests {
    private let tools = ToolRegistry.standard.tools

    @Test("has a key, a letter and a place for each tool that no other tool has")
    func distinct() {
        #expect(Set(tools.map(\.key)).count == tools.count)
        #expect(Set(tools.map(\.letter)).count == tools.count)
        #expect(Set(tools.map(\.id.order)).count == tools.count)
        #expect(Set(tools.map(\.title)).count == tools.count)
    }

    @Test("puts messages through the tools in the documented order")
    func order() {
        #expect(
            ToolRegistry.standard.inOrder.map(\.id) == [
                .allowList, .blockList, .noCaching, .blockCookies, .rewrite, .mapRemote, .mapLocal, .mirror,
                .breakpoints,
                .dnsSpoofing, .throttle,
            ]
        )
    }

    @Test("has an example of each tool that can be read and begins a rule", arguments: ToolRegistry.standard.tools)
    func example(_ tool: Tool) throws {
        let profile = try RuleProfile("version: 1\n\(tool.example)", file: "p.yaml")
        #expect(profile.tools.map(\.tool) == [tool])
        var begun = EditableProfile(text: "", file: nil)
        let rule = RuleFromExchange.example(of: tool)
        #expect(!rule.yaml.hasPrefix("{"))
        try begun.insert(rule, into: .tool(tool))
        #expect(try begun.rules(of: .tool(tool)).map(\.problem) == [nil])
    }

    @Test(
        "drafts a rule from a tunnel for the tools that take one, and for no other",
        arguments: ToolRegistry.standard.tools
    )
    func tunnels(_ tool: Tool) throws {
        let record = ExchangeRecord(
            id: ExchangeID(1),
            kind: .tunnel,
            startedAt: 0,
            method: "CONNECT",
            url: RequestURL(scheme: "tunnel", host: "a.example", port: 443, path: ""),
            clientConnection: ConnectionID(1)
        )
        let rule = RuleFromExchange.rule(for: .tool(tool), from: RuleSource(record))
        #expect((rule != nil) == tool.takesTunnels)
        guard let rule else { return }
        let empty = EditableProfile(text: "", file: nil)
        #expect(try RuleMatcher(rule, of: .tool(tool), in: empty).matches(record))
    }
}
