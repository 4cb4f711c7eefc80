import CharlesFiles
import HTTPModel
import Rules
import Support
import Testing
import Tools

@testable import CharlesFiles
@testable import Rules
@testable import Tools

/// Makes settings by chance, of texts that XML, YAML and profiles have their trouble with.
private struct SettingsMaker {
    var random: SplitMix

    private static let pieces = [
        "a", "Example.COM", "*", "?", "[a-z]", "[", "]", "\\", "/", "//", " ", "&", "&amp;", "& b", "? ", "?[", "#",
        " #", ": ",
        "- ", "'", "\"", "\n", "\t", "{", "}", ",", "%", "$1", "${x}", "\\$", "|", ">", "!", "@", "`", "~", "null",
        "true", "on", "0",
        "443", "é", "\u{85}", "\u{2028}", "\u{FEFF}", "😀", "\u{E000}", "=", "+", "(x)", "\\d+", "\\Q", "<!--", "]]>",
        "---", "...",
    ]

    mutating func bool() -> Bool { Bool.random(using: &random) }

    mutating func text() -> String {
        (0..<Int.random(in: 0..<5, using: &random)).map { _ in SettingsMaker.pieces.randomElement(using: &random) ?? ""
        }.joined()
    }

    mutating func list<Element>(_ make: (inout SettingsMaker) -> Element) -> [Element] {
        (0..<Int.random(in: 0..<4, using: &random)).map { _ in make(&self) }
    }

    mutating func location() -> CharlesLocation {
        var location = CharlesLocation()
        if bool() { location.protocol = ["http", "https", "*", text()].randomElement(using: &random) ?? "" }
        if bool() { location.host = bool() ? "*.a.example" : text() }
        if bool() { location.port = bool() ? "443" : text() }
        if bool() { location.path = (bool() ? "/" : "") + text() }
        if bool() { location.query = text() }
        return location
    }

    mutating func place() -> CharlesPlace { CharlesPlace(location(), isEnabled: bool()) }

    mutating func locationTool(_ action: Int?) -> CharlesLocationTool {
        CharlesLocationTool(isEnabled: bool(), usesLocations: bool(), locations: list { $0.place() }, action: action)
    }

    mutating func rule() -> CharlesRewriteRule {
        var rule = CharlesRewriteRule(CharlesRewriteRule.Kind.allCases.randomElement(using: &random) ?? .body)
        (rule.isActive, rule.onRequest, rule.onResponse) = (bool(), bool(), bool())
        (rule.isValueExpression, rule.isCaseSensitive, rule.matchesWhole) = (bool(), bool(), bool())
        (rule.replacesFirst, rule.isNameExpression) = (bool(), bool())
        (rule.matchName, rule.matchValue, rule.newName, rule.newValue) = (text(), text(), text(), text())
        return rule
    }

    mutating func settings() -> CharlesSettings {
        var settings = CharlesSettings()
        settings.noCaching = locationTool(nil)
        settings.blockCookies = locationTool(nil)
        settings.mirror = locationTool(nil)
        settings.blockList = locationTool(0)
        settings.allowList = locationTool(1)
        settings.mapRemote = CharlesTool(
            isEnabled: bool(),
            list {
                CharlesRemoteMapping(
                    from: $0.location(),
                    to: $0.location(),
                    preservesHost: $0.bool(),
                    isEnabled: $0.bool()
                )
            }
        )
        settings.mapLocal = CharlesTool(
            isEnabled: bool(),
            list {
                CharlesLocalMapping(
                    from: $0.location(),
                    to: $0.text(),
                    isCaseSensitive: $0.bool(),
                    isEnabled: $0.bool()
                )
            }
        )
        settings.breakpoints = CharlesTool(
            isEnabled: bool(),
            list {
                CharlesBreakpoint(
                    location: $0.location(),
                    method: $0.text(),
                    onRequest: $0.bool(),
                    onResponse: $0.bool(),
                    isEnabled: $0.bool()
                )
            }
        )
        settings.dnsSpoofing = CharlesTool(
            isEnabled: bool(),
            list { CharlesSpoof(host: $0.text(), address: $0.text(), isEnabled: $0.bool()) }
        )
        settings.rewrite = CharlesTool(
            isEnabled: bool(),
            list {
                CharlesRewriteSet(
                    name: $0.text(),
                    isActive: $0.bool(),
                    locations: $0.list { $0.place() },
                    rules: $0.list { $0.rule() }
                )
            }
        )
        return settings
    }
}

@Suite("Whatever Charles' settings hold")
struct CharlesPropertyTests {
    private static let rounds = 40

    @Test("A profile comes out that loads, with every rule accounted for")
    func profile() throws {
        let seed: UInt64 = 0x510C_E005
        var maker = SettingsMaker(random: SplitMix(seed))
        for _ in 0..<CharlesPropertyTests.rounds {
            let settings = maker.settings()
            let imported = try CharlesImport(settings, source: maker.text(), file: "/p/p.yaml")
            _ = try RuleProfile(imported.text, file: "/p/p.yaml")
            let rewriteRules = settings.rewrite?.entries.flatMap(\.rules) ?? []
            let mappings = (settings.mapRemote?.entries.count ?? 0) + (settings.mapLocal?.entries.count ?? 0)
            let rules = imported.report.lines.map(\.rule)
            #expect(rules.count { $0.hasPrefix("Map ") } == mappings, "seed \(seed)")
            #expect(
                rules.count { $0.contains(": add ") || $0.contains(": modify ") || $0.contains(": remove ") }
                    >= rewriteRules.count
            )
        }
    }
}
