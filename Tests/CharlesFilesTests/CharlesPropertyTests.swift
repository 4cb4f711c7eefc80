import CharlesFiles
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

    @Test("Writing and reading them gives the same")
    func xml() throws {
        let seed: UInt64 = 0x510C_E005
        var maker = SettingsMaker(random: SplitMix(seed))
        for _ in 0..<CharlesPropertyTests.rounds {
            let settings = maker.settings()
            let (read, unread) = try CharlesSettings.read(Array(settings.xml.utf8))
            #expect(read == settings, "seed \(seed)")
            #expect(unread.lines == [], "seed \(seed)")
        }
    }

    @Test("A profile comes out that loads, with every rule accounted for, and goes back to Charles")
    func profile() throws {
        let seed: UInt64 = 0x510C_E005
        var maker = SettingsMaker(random: SplitMix(seed))
        for _ in 0..<CharlesPropertyTests.rounds {
            let settings = maker.settings()
            let imported = try CharlesImport(settings, source: maker.text(), file: "/p/p.yaml")
            let profile = try RuleProfile(imported.text, file: "/p/p.yaml")
            let rewriteRules = settings.rewrite?.entries.flatMap(\.rules) ?? []
            let mappings = (settings.mapRemote?.entries.count ?? 0) + (settings.mapLocal?.entries.count ?? 0)
            let rules = imported.report.lines.map(\.rule)
            #expect(rules.count { $0.hasPrefix("Map ") } == mappings, "seed \(seed)")
            #expect(
                rules.count { $0.contains(": add ") || $0.contains(": modify ") || $0.contains(": remove ") }
                    >= rewriteRules.count
            )
            let export = try CharlesExport(profile)
            #expect(try CharlesSettings.read(Array(export.xml.utf8)).settings == export.settings, "seed \(seed)")
        }
    }

    @Test("What went through a profile once goes through it again unchanged, rule by rule")
    func stable() throws {
        func passed(_ settings: CharlesSettings) throws -> CharlesSettings {
            let text = try CharlesImport(settings, source: "x", file: "/p/p.yaml").text
            return try CharlesExport(try RuleProfile(text, file: "/p/p.yaml")).settings
        }
        let seed: UInt64 = 0x510C_E005
        var maker = SettingsMaker(random: SplitMix(seed))
        for _ in 0..<CharlesPropertyTests.rounds {
            // The first pass leaves out what profiles do not take, the second what Charles' lack of escapes spoils.
            let first = try passed(passed(maker.settings()))
            let second = try passed(first)
            #expect(second.mapRemote?.entries == first.mapRemote?.entries, "seed \(seed)")
            #expect(second.mapLocal?.entries == first.mapLocal?.entries, "seed \(seed)")
            #expect(second.breakpoints?.entries == first.breakpoints?.entries, "seed \(seed)")
            #expect(second.dnsSpoofing?.entries == first.dnsSpoofing?.entries, "seed \(seed)")
            #expect(second.blockList?.locations == first.blockList?.locations, "seed \(seed)")
            #expect(second.rewrite?.entries.map(\.rules) == first.rewrite?.entries.map(\.rules), "seed \(seed)")
        }
    }
}
