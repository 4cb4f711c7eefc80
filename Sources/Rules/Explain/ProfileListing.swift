import ExchangeCore
import Foundation
import HTTPModel
import Text

/// A profile in effect: the tools in their fixed order and their rules.
extension RuleProfile {
    package var listing: String {
        var text = settings.name.isEmpty ? "" : "\(settings.name)\n"
        text += "read from \(sources.map(\.file).joined(separator: ", "))\n"
        text += "requests pass: \(way(.request, to: "server", from: "access"))\n"
        text += "responses pass: \(way(.response, to: "client", from: "server"))\n"
        func add(_ key: String, _ line: String?) { if let line { text += "\n\(key)\n      \(line)\n" } }
        func add(_ key: String, _ rules: [String]) {
            if !rules.isEmpty { text += "\n\(key)\n" + rules.enumerated().map { "  \($0 + 1). \($1)\n" }.joined() }
        }
        add("intercept", settings.intercept.text)
        add("record", settings.record.text)
        add("upstream", settings.upstream.texts)
        add("client-certificate", settings.clientCertificates.texts)
        add("replay", settings.replay.text)
        let access = settings.access.joined(separator: ", ")
        add("access", access.isEmpty ? nil : "this machine and \(access)")
        for tool in tools { text += "\n" + listing(of: tool) }
        let tests = [(settings.expectations.count, "expectation"), (settings.assertions.count, "assertion")]
            .filter { $0.0 > 0 }.map { "\($0.0) \($0.1)\($0.0 == 1 ? "" : "s")" }
        if !tests.isEmpty { text += "\n\(tests.joined(separator: ", "))\n" }
        return text
    }

    /// The tools that a message passes, in order.
    private func way(_ direction: FlowDirection, to end: String, from start: String) -> String {
        let tools = registry.inOrder.filter { $0.directions.contains(direction) }
        return ([start] + tools.map(\.key) + [end]).joined(separator: " → ")
    }

    private func listing(of tool: ToolOutline) -> String {
        let state = settings.off.contains(tool.tool.id) ? "  (switched off)" : ""
        let selection =
            tool.tool.selection == .first ? "the first rule that matches decides" : "all rules that match act"
        var text = "\(tool.tool.key)\(state)\n"
        if tool.rules.count > 1 { text += "      \(selection)\n" }
        if tool.rules.isEmpty { text += "      no rules\n" }
        for (number, rule) in tool.rules.enumerated() {
            let shadow = tool.shadows[number].map { "shadowed by '\(tool.rules[$0].name)'" }
            let marks = [rule.isEnabled ? nil : "disabled", shadow].compactMap { $0 }
            text += "  \(number + 1). \(rule.name)  (\(rule.place))"
            text += (marks.isEmpty ? "" : "  [\(marks.joined(separator: ", "))]") + "\n"
            text += "       \(rule.scope.text)\(rule.action.isEmpty ? "" : ": \(rule.action)")\n"
        }
        return text
    }

    package var listingJSON: String {
        let listing = Listing(
            name: settings.name,
            files: sources.map(\.file),
            order: registry.inOrder.map(\.key),
            access: settings.access,
            upstream: settings.upstream.texts,
            clientCertificates: settings.clientCertificates.texts,
            tools: tools.map { tool in
                Listing.Tool(
                    tool: tool.tool.key,
                    selection: tool.tool.selection == .first ? "first" : "all",
                    off: settings.off.contains(tool.tool.id),
                    rules: tool.rules.enumerated().map { number, rule in
                        Listing.Rule(
                            name: rule.name,
                            where: rule.scope.text,
                            what: rule.action,
                            file: rule.place.file,
                            line: rule.place.line,
                            column: rule.place.column,
                            enabled: rule.isEnabled,
                            shadowedBy: tool.shadows[number].map { tool.rules[$0].name }
                        )
                    }
                )
            },
            expectations: settings.expectations.map(\.name),
            assertions: settings.assertions.map(\.name)
        )
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        let data = (try? encoder.encode(listing)) ?? Data("{}".utf8)
        return VisibleText.json(String(decoding: data, as: UTF8.self)) + "\n"
    }

    private struct Listing: Encodable {
        struct Tool: Encodable {
            let tool: String
            let selection: String
            let off: Bool
            let rules: [Rule]
        }

        struct Rule: Encodable {
            let name: String
            let `where`: String
            let what: String
            let file: String
            let line: Int
            let column: Int
            let enabled: Bool
            let shadowedBy: String?
        }

        let name: String
        let files: [String]
        let order: [String]
        let access: [String]
        let upstream: [String]
        let clientCertificates: [String]
        let tools: [Tool]
        let expectations: [String]
        let assertions: [String]
    }
}
