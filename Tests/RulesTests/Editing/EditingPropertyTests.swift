import ExchangeCore
import Foundation
import Rules
import Support
import Testing
import Tools

@testable import Rules
@testable import Tools

@Suite("Any edits of any profile")
struct EditingPropertyTests {
    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent().appending(path: "Profiles")

    /// The profiles that come with Sluice, as they are and as other systems write them.
    private static let texts: [String] = {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        let shipped = names.filter { $0.hasSuffix(".yaml") }.sorted().compactMap {
            try? String(contentsOf: folder.appending(path: $0), encoding: .utf8)
        }
        let generated = (0..<40).map { generate(seed: $0) }
        return shipped + shipped.map { $0.replacing("\n", with: "\r\n") } + generated
            + generated.map { "\u{FEFF}" + $0.trimmingSuffix { $0 == "\n" } }
    }()

    private static let rules = [
        "at: x.example", "# above\nat: \"*.x.example\"  # beside\n# between\naction: drop\n# below",
        "{ at: x.example, action: drop }", "{ at: [ a.example, # one\n  b.example ] }",
    ]

    /// A profile of block rules in a form that chance chooses.
    private static func generate(seed: Int) -> String {
        var random = SplitMix(UInt64(seed))
        let entries = (0..<Int.random(in: 1...5, using: &random)).map { number in
            let name = ["rule \(number)", "'it''s \(number)'", "\"q\\\"#\(number)\"", "ö #\(number)", "a #b"]
            return "name: \(name.randomElement(using: &random) ?? "n"), at: h\(number).example"
        }
        var text = ["# head\nversion: 1\n", "---\n# head\nversion: 1 # v\n\n"].randomElement(using: &random) ?? ""
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            text += "block: [ # open\n"
            for entry in entries where !entry.contains(" #") || entry.contains("\"") {
                text += "  { \(entry) }, # behind \(entry.count)\n  # between\n"
            }
            text += "] # close\n"
        case 1:
            text +=
                "block: [ " + entries.filter { !$0.contains(" #") }.map { "{ \($0) }" }.joined(separator: ", ") + " ]\n"
        default:
            let (indent, gap) = (Int.random(in: 0...4, using: &random), Int.random(in: 1...3, using: &random))
            let (outer, inner) = (String(repeating: " ", count: indent), String(repeating: " ", count: gap))
            text += "# section\nblock: # key\n"
            for entry in entries {
                if Bool.random(using: &random) { text += outer + "# above \(entry.count)\n" }
                let lines = entry.split(separator: ",").map { $0.drop { $0 == " " } }
                text += outer + "-" + inner + lines.joined(separator: " # beside\n" + outer + " " + inner) + "\n"
                if Bool.random(using: &random) { text += outer + inner + "  # below\n" }
                if Bool.random(using: &random) { text += "\n" }
            }
        }
        return text + (Bool.random(using: &random) ? "\n# next\nname: n # last\n" : "")
    }

    @Test("keep every comment but those of the rule, leave all other rules as they are, and can be undone")
    func edits() throws {
        var random = SplitMix(7)
        var (done, refused) = (0, 0)
        for text in EditingPropertyTests.texts {
            var profile = EditableProfile(text: text, file: EditingPropertyTests.folder.appending(path: "x.yaml").path)
            for _ in 0..<12 {
                let before = profile
                do {
                    try EditingPropertyTests.edit(&profile, &random)
                    done += 1
                    // The value before is the undo; what an edit makes can be edited again.
                    #expect(try before.rules().count >= 0 && profile.rules().count >= 0)
                } catch let error as ProfileError {
                    // A profile's own tests may name the rule.
                    #expect(error.description.contains("has no rule"), "\(error)\n\(before.text)")
                    #expect(profile == before)
                    refused += 1
                }
            }
        }
        #expect(done > 1_000 && refused < done / 10, "\(done) edits, \(refused) refused")
    }

    private static func edit(_ profile: inout EditableProfile, _ random: inout SplitMix) throws {
        let before = profile.text
        let rules = try profile.rules()
        guard let rule = rules.randomElement(using: &random) else {
            try profile.insert(RuleText(EditingPropertyTests.rules[0]), into: .tool(.blockList))
            return
        }
        let others = rules.filter { $0.id != rule.id }.map(\.yaml).sorted()
        let count = rules.count { $0.id.section == rule.id.section }
        var removed = 0
        switch Int.random(in: 0..<6, using: &random) {
        case 0:
            let new = EditingPropertyTests.rules.randomElement(using: &random) ?? ""
            try profile.insert(RuleText(new), into: .tool(.blockList), at: Int.random(in: 0...3, using: &random))
            let left = try profile.rules().map(\.yaml)
            #expect(rules.allSatisfy { rule in left.contains { same($0, rule.yaml) } }, "\(before)\n→\n\(profile.text)")
        case 1:
            try profile.remove(rule.id)
            removed = .max
            #expect(try equal(profile.rules().map(\.yaml).sorted(), others), "\(before)\n→\n\(profile.text)")
        case 2:
            try profile.move(rule.id, to: Int.random(in: 0..<count, using: &random))
            let all = rules.map(\.yaml).sorted()
            #expect(try equal(profile.rules().map(\.yaml).sorted(), all), "\(before)\n→\n\(profile.text)")
        case 3 where rule.id.section == .tool(.blockList):
            // In brackets a comment behind the comma goes with the rule too.
            removed = comments(rule.yaml).count + 1
            let new = EditingPropertyTests.rules.randomElement(using: &random) ?? ""
            try profile.replace(rule.id, with: RuleText(new))
            let left = try profile.rules().filter { $0.id != rule.id }.map(\.yaml).sorted()
            #expect(equal(left, others), "\(before)\n→\n\(profile.text)")
        default:
            try profile.setEnabled(rule.id, !rule.isEnabled)
            let left = try profile.rules().filter { $0.id != rule.id }.map(\.yaml).sorted()
            #expect(equal(left, others), "\(before)\n→\n\(profile.text)")
        }
        guard removed < .max else { return }
        let kept = comments(profile.text)
        let lost = comments(before).filter { !kept.contains($0) }
        #expect(lost.count <= removed, "lost \(lost) of\n\(before)\n→\n\(profile.text)")
    }

    private static func comments(_ text: String) -> [Substring] {
        text.split(whereSeparator: \.isNewline).compactMap { line in
            line.range(of: " #").map { line[$0.lowerBound...].drop { $0 == " " } }
                ?? (line.hasPrefix("#") ? line : nil)
        }
    }

    private static func equal(_ one: [String], _ other: [String]) -> Bool {
        one.count == other.count && zip(one, other).allSatisfy { same($0, $1) }
    }

    /// A comment behind a rule in brackets becomes the rule's own where the list is opened.
    private static func same(_ one: String, _ other: String) -> Bool {
        if one == other || one.hasPrefix(other + " #") || other.hasPrefix(one + " #") { return true }
        // `true` is written as a mapping where others join it, and a pair alone gets braces.
        return one.hasPrefix("enabled: true") && other.hasPrefix("true")
            || one.hasPrefix("{ ") && one.split(separator: "\n")[0].contains(other)
            || one.hasPrefix(other.split(separator: "\n").first.map(String.init) ?? other)
                && one.split(separator: "\n").map { $0.drop { $0 == " " } }
                    == other.split(separator: "\n").map { $0.drop { $0 == " " } }
    }
}

extension String {
    fileprivate func trimmingSuffix(_ drops: (Character) -> Bool) -> String {
        var text = self
        while let last = text.last, drops(last) { text.removeLast() }
        return text
    }
}
