import Description
import Rules
import Terminal
import Testing
import Tools

@testable import Console

struct CommandTableTests {
    @Test func `every command has one entry with a title`() {
        for command in Command.allCases {
            let entries = CommandTable.entries.filter { $0.command == command }
            #expect(entries.count == 1, "\(command)")
            #expect(entries.allSatisfy { !$0.title.isEmpty && ($0.form == .lines) == $0.contexts.isEmpty })
        }
        #expect(CommandTable.entries.count == Command.allCases.count)
    }

    @Test func `titles are told apart`() {
        let titles = CommandTable.entries.map(\.title)
        #expect(Set(titles).count == titles.count)
    }

    @Test(arguments: Context.allCases)
    func `no key means two commands in one place`(_ context: Context) {
        var owners: [String: Command] = [:]
        for entry in CommandTable.entries {
            for key in entry.keys where entry.contexts(of: key).contains(context) {
                let owner = owners.updateValue(entry.command, forKey: key)
                #expect(owner == nil, "\(key) in \(context) is \(entry.command) and \(owner.map { "\($0)" } ?? "")")
            }
        }
        // The first of two keys means nothing by itself.
        let prefixes = Set(
            owners.keys.filter { $0.contains(" ") && $0 != " " }.compactMap { $0.split(separator: " ").first }
        )
        for prefix in prefixes { #expect(owners[String(prefix)] == nil, "\(prefix) in \(context)") }
    }

    /// Whether a command sends, lets go or switches something; a new one of these groups does, until it is named here.
    private static func acts(_ entry: CommandEntry) -> Bool {
        let looking: Set<Command> = [.holds, .panel, .ruleFromExchange, .apply, .discard]
        return [.tools, .holds, .send].contains(entry.group) && !looking.contains(entry.command)
    }

    @Test func `no letter sends, lets go or switches anything in the detail or a report, where one reads`() {
        // Taking the last change back is one key everywhere.
        for entry in CommandTable.entries where Self.acts(entry) && entry.command != .undo {
            for key in entry.keys where key.count == 1 {
                #expect(entry.contexts(of: key).isDisjoint(with: [.detail, .report]), "\(key) \(entry.command)")
            }
        }
    }

    @Test func `no key that only looks in one place acts in another`() {
        var looking: [String: Command] = [:]
        for entry in CommandTable.entries where !Self.acts(entry) {
            for key in entry.keys where !entry.contexts(of: key).isEmpty { looking[key] = entry.command }
        }
        for entry in CommandTable.entries where Self.acts(entry) {
            for key in entry.keys {
                #expect(looking[key] == nil, "\(key) is \(entry.command) and \(looking[key].map { "\($0)" } ?? "")")
            }
        }
    }

    @Test func `a key of the list says in the detail how to do it there`() {
        var model = ModelFixture.listing(ModelFixture.plain(3), Size(width: 80, height: 24))
        model.press("enter")
        for key in ["p", "P", "A", "X", "U", "e", "t", "m", "b", "w", "r"] {
            model.notices = []
            #expect(model.press(key).isEmpty && model.overlays.isEmpty, "\(key)")
            #expect(model.told.hasPrefix("\(key) works only in the list ("), "\(model.told)")
        }
        model.press("t")
        #expect(model.told.hasSuffix("use x t."))
        model.press("p")
        #expect(model.told.hasSuffix("use :repeat."))
        #expect(model.perform(.repeatRequest, nil).words == ["send 3"])
    }

    @Test func `every key can be read and is spelled as it is written`() {
        for entry in CommandTable.entries {
            for key in entry.keys.flatMap({ $0.split(separator: " ") }) {
                #expect(Key(spelling: String(key))?.spelling == String(key), "\(key)")
            }
        }
    }

    @Test func `every tool has its letter, its panel and its rule by keys`() {
        let map = Keymap.standard
        #expect(Set(Tool.all.map(\.letter)).count == Tool.all.count)
        for tool in Tool.all {
            for command in [Command.toggleTool, .panel, .ruleFromExchange] {
                #expect(!map.keys(for: command, argument: tool.key, in: .list).isEmpty, "\(command) \(tool)")
            }
        }
    }

    @Test func `help lists every command`() {
        let model = ModelFixture.listing(ModelFixture.plain(2), Size(width: 80, height: 24))
        let lines = HelpDocument.pages(model, for: .list).flatMap(\.lines).map(\.plain)
        // A long title goes on in the next line.
        let text = lines.flatMap { $0.split(separator: " ") }.joined(separator: " ")
        for entry in CommandTable.entries where entry.form != .lines {
            #expect(text.contains(entry.title), "\(entry.command)")
        }
    }

    @Test func `every command works on lines, or says what does it there`() throws {
        for entry in CommandTable.entries {
            let word = entry.command.rawValue
            if entry.form == .screen {
                #expect(entry.instead.hasSuffix("."), "\(word) is for the screen and has no word in Command.instead")
                let error = #expect(throws: ConsoleError.self) { try CommandCall(word) }
                #expect(error?.description.contains(entry.instead) == true)
                // What a sentence names in quotes is a line that works.
                for quoted in entry.instead.split(separator: "'", omittingEmptySubsequences: false).enumerated().filter(
                    { $0.offset % 2 == 1 })
                {
                    #expect(try CommandCall(String(quoted.element)) != nil, "\(word): \(quoted.element)")
                }
            } else {
                #expect(try CommandCall(word)?.command == entry.command)
                #expect(entry.instead.isEmpty)
            }
        }
    }

    @Test func `the palette has every command and says why one cannot be done`() throws {
        var model = ModelFixture.started(Size(width: 80, height: 24))
        model.press(":")
        guard case .picker(let picker)? = model.overlays.last else {
            Issue.record("no palette")
            return
        }
        let commands = CommandTable.entries.filter { $0.form != .lines }.map(\.command)
        #expect(Set(picker.items.map(\.value)).isSuperset(of: commands.map(\.rawValue)))
        model.type("copy as curl")
        #expect(model.press("enter").isEmpty)
        guard case .picker(let refused)? = model.overlays.last else {
            Issue.record("no palette")
            return
        }
        #expect(refused.problem == "No exchanges yet.")
    }

    @Test func `a tool is meant by its key, its letter or the beginning of its name`() {
        #expect(Tool(word: "block") == .blockList)
        #expect(Tool(word: "K") == .breakpoints)
        #expect(Tool(word: "map l") == .mapLocal)
        #expect(Tool(word: "dns") == .dnsSpoofing)
        #expect(Tool(word: "") == nil)
        #expect(Tool(word: "nothing") == nil)
    }
}

struct KeymapTests {
    private let up = Key(.up)

    @Test func `a key that is bound again means the newer command, and none once it is freed`() throws {
        var map = Keymap.standard
        #expect(map.bind("ctrl-v", to: .init(.quit), in: .list) == true)
        let key = try #require(Key(spelling: "ctrl-v"))
        #expect(map.lookUp(key, after: nil, in: .list) == .binding(.init(.quit)))
        #expect(map.lookUp(key, after: nil, in: .detail) == .unknown)
        #expect(map.bind("ctrl-v", to: nil, in: .list) == true)
        #expect(map.lookUp(key, after: nil, in: .list) == .unknown)
    }

    @Test(arguments: ["", "a b c", "ctrl-", "nokey", "a nokey"])
    func `what is no key is refused`(_ keys: String) {
        var map = Keymap()
        #expect(map.bind(keys, to: .init(.quit), in: .list) == false)
        #expect(map == Keymap())
    }

    @Test func `the first of two keys waits, and says what may follow`() throws {
        let map = Keymap.standard
        let a = Key(.character("a"))
        #expect(map.lookUp(a, after: nil, in: .list) == .prefix(a))
        #expect(map.continuations(of: a, in: .list).count == Tool.all.count)
        let block = Key(.character("b"))
        #expect(map.lookUp(block, after: a, in: .list) == .binding(.init(.ruleFromExchange, "block")))
        #expect(map.lookUp(up, after: a, in: .list) == .unknown)
    }

    @Test func `the shortest key of a command is named first`() {
        #expect(Keymap.standard.keys(for: .up, in: .list) == ["k", "up"])
        #expect(Keymap.standard.keys(for: .toggleTool, argument: "throttle", in: .list) == ["t", "x t"])
        #expect(Keymap.standard.keys(for: .quit, in: .editor).isEmpty)
    }
}

struct FuzzySearchTests {
    private func found(_ query: String, _ items: [String]) -> [String] {
        FuzzySearch.sorted(items, by: query) { $0 }
    }

    @Test func `nothing typed leaves all in their order`() {
        #expect(found("", ["b", "a"]) == ["b", "a"])
        #expect(found("  ", ["b", "a"]) == ["b", "a"])
    }

    @Test func `letters in their order are found, whatever their case`() {
        #expect(found("CPC", ["Copy as cURL", "Compare", "copy the cookie"]).contains("copy the cookie"))
        #expect(found("xyz", ["Copy"]).isEmpty)
        #expect(found("yx", ["xy"]).isEmpty)
    }

    @Test func `the beginning of a word goes before letters far from each other`() {
        #expect(found("rep", ["The end of a reply", "Replay", "are we open"]).last == "are we open")
    }

    @Test func `among equals the earlier one stays first`() {
        #expect(found("ab", ["ab 1", "ab 2", "ab 3"]) == ["ab 1", "ab 2", "ab 3"])
    }

    @Test func `a long query ends`() {
        let text = String(repeating: "a", count: 2_000)
        #expect(found(String(repeating: "a", count: 5_000) + "b", [text]).count <= 1)
    }
}
