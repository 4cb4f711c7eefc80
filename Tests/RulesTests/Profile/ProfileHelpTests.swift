import ExchangeCore
import HTTPModel
import Rules
import Testing
import Tools

@testable import Rules
@testable import Tools

@Suite("Help on profiles")
struct ProfileHelpTests {
    @Test("Lists every key and topic")
    func overview() throws {
        let text = try ProfileHelp.text(of: .standard)
        for key in ProfileGrammar.allKeys(.standard) { #expect(text.contains("\n  \(key.name) "), "\(key.name)") }
        #expect(text.contains("  locations "))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 102 })
    }

    @Test("Explains tools, keys within them, and topics")
    func keys() throws {
        #expect(try ProfileHelp.text(for: "block", of: .standard).contains("action"))
        let action = try ProfileHelp.text(for: "block.action", of: .standard)
        #expect(action.contains("default") && action.contains("action: drop"))
        #expect(try ProfileHelp.text(for: "rewrite.rules", of: .standard).contains("For example:"))
        #expect(try ProfileHelp.text(for: "expect.sends.headers", of: .standard).contains("~"))
        #expect(
            try ProfileHelp.text(for: "locations", of: .standard).contains("[protocol://]host[:port][/path][?query]")
        )
        #expect(try ProfileHelp.text(for: "order", of: .standard).contains("allow → block"))
    }

    @Test(
        "What is unknown is answered with what was meant",
        arguments: [
            ("blok", "a profile has no key 'blok' (did you mean 'block'?)"),
            ("block.acton", "'block' has no key 'acton' (did you mean 'action'?)"),
            ("block.action.x", "'block.action' has no key 'x'"),
            ("location s", "a profile has no key 'location s' (did you mean 'locations'?)"),
        ]
    )
    func unknown(key: String, message: String) {
        do {
            _ = try ProfileHelp.text(for: key, of: .standard)
            Issue.record("\(key) is explained")
        } catch {
            #expect(error.description == message)
        }
    }

    @Test("Every key has a summary and an example that begins with it")
    func complete() {
        func check(_ keys: [GrammarKey], _ path: String) {
            for key in keys {
                let name = path + key.name
                #expect(key.summary.hasSuffix("."), "\(name): \(key.summary)")
                // A whole entry will do, where the key says little without its neighbours.
                let isEntry = key.example.hasPrefix("{") && key.example.contains("\(key.name): ")
                #expect(key.example.hasPrefix(key.name + ":") || isEntry, "\(name): \(key.example)")
                check(key.value.keys, name + ".")
            }
        }
        check(ProfileGrammar.allKeys(.standard), "")
    }

    @Test("Every example of the table is accepted")
    func examples() {
        for key in ProfileGrammar.allKeys(.standard) {
            let path = [key.name]
            let version = key.name == "version" ? "" : "version: 1\n"
            #expect(accepts(version + key.example), "\(key.name): \(problem(version + key.example))")
            check(key.value.keys, path)
        }
    }

    /// Each key of a mapping is tried with as few of its neighbours' examples as will do.
    private func check(_ keys: [GrammarKey], _ path: [String]) {
        for key in keys {
            let others = keys.filter { $0.name != key.name }
            let isAccepted = (0...3).contains { count in
                subsets(of: others, count).contains { accepts(profile([key] + $0, at: path)) }
            }
            let text = profile([key], at: path)
            #expect(isAccepted, "\(path.joined(separator: ".")).\(key.name): \(problem(text))\n\(text)")
            check(key.value.keys, path + [key.name])
        }
    }

    /// A profile in which the mapping at `path` has these keys, and those around it what they need.
    private func profile(_ keys: [GrammarKey], at path: [String]) -> String {
        var lines: [String] = []
        for entry in keys.flatMap({ entries($0.example) }) {
            // Where two examples have the same key, the first one counts.
            let name = entry[0].prefix { $0 != ":" }
            if !lines.contains(where: { $0.hasPrefix(name + ":") }) { lines += entry }
        }
        for (depth, name) in path.enumerated().reversed() {
            var parents = ProfileGrammar.allKeys(.standard)
            for step in path[..<depth] { parents = parents.first { $0.name == step }?.value.keys ?? [] }
            let key = parents.first { $0.name == name }
            lines = lines.map { "  " + $0 }
            if case .names? = key?.value { lines = ["  x:"] + lines.map { "  " + $0 } }
            lines = ["\(name):"] + lines
            // What a mapping that surrounds this one cannot do without.
            if depth > 0 {
                lines =
                    parents.filter { $0.name != name && needed.contains("\(path[depth - 1]).\($0.name)") }
                    .flatMap { entries($0.example).flatMap { $0 } } + lines
            }
        }
        return (path.first == "version" ? "" : "version: 1\n") + lines.joined(separator: "\n")
    }

    /// What an entry needs before a mapping within it can be tried.
    private let needed: Set<String> = [
        "rewrite.at", "rules.add", "expect.request", "expect.fires", "throttle.down", "map-remote.from",
        "map-local.from",
    ]

    /// The entries of an example, each with its lines; those of a mapping in braces one by one.
    private func entries(_ example: String) -> [[String]] {
        guard example.hasPrefix("{"), example.hasSuffix("}") else {
            return [example.split(separator: "\n").map(String.init)]
        }
        var entries = [""]
        var depth = 0
        var quote: Character?
        for character in example.dropFirst().dropLast() {
            if let open = quote {
                if character == open { quote = nil }
            } else if "\"'".contains(character) {
                quote = character
            } else if "[{".contains(character) {
                depth += 1
            } else if "]}".contains(character) {
                depth -= 1
            } else if character == ",", depth == 0 {
                entries.append("")
                continue
            }
            entries[entries.count - 1].append(character)
        }
        return entries.map { [String($0.drop { $0 == " " })] }
    }

    private func subsets(of keys: [GrammarKey], _ count: Int) -> [[GrammarKey]] {
        guard count > 0 else { return [[]] }
        return keys.indices.flatMap { index in
            subsets(of: Array(keys[(index + 1)...]), count - 1).map { [keys[index]] + $0 }
        }
    }

    private func accepts(_ text: String) -> Bool { problem(text).isEmpty }

    private func problem(_ text: String) -> String {
        do throws(ProfileError) {
            _ = try RuleProfile(text, file: "p.yaml")
            return ""
        } catch {
            return error.issues.filter { $0.severity == .error }.map(\.description).joined(separator: "; ")
        }
    }
}
