import Foundation
import HTTPModel
import Rules
import Support
import Testing
import Tools

/// A text that is out to harm, under a name.
struct HostileText: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let text: String

    init(_ name: String, _ text: String) {
        testDescription = name
        self.text = text
    }
}

@Suite("Hostile profiles", .serialized)
struct HostileProfileTests {
    private static let head = "version: 1\nblock: "

    private static func nested(_ open: String, _ inner: String, _ close: String, _ count: Int) -> String {
        String(repeating: open, count: count) + inner + String(repeating: close, count: count)
    }

    /// So many as are too many, or nearly; fewer in the build for debugging, whose YAML parser takes its time.
    private static func many(_ count: Int) -> Int {
        #if DEBUG
        count / 16
        #else
        count
        #endif
    }

    private static let refusedTexts = [
        HostileText("10 MB of one word", String(repeating: "a", count: 10 << 20)),
        HostileText("10 MB of rules", head + "\n" + String(repeating: "- at: a.example\n", count: 700_000)),
        HostileText("open lists", head + String(repeating: "[", count: many(1 << 21))),
        HostileText("open mappings", head + String(repeating: "{", count: many(1 << 21))),
        HostileText("open mappings with keys", head + String(repeating: "{a: ", count: many(1 << 19))),
        HostileText("lists in lists by dashes", "version: 1\nblock:\n" + String(repeating: "- ", count: many(1 << 20))),
        HostileText(
            "mappings by indentation",
            (0..<1_500).map { String(repeating: " ", count: $0) + "a:" }.joined(separator: "\n")
        ),
        HostileText("as many closed lists as the parser takes", head + nested("[", "", "]", 990)),
        HostileText("as many closed mappings as the parser takes", head + nested("{a: ", "1", "}", 990)),
        HostileText(
            "mappings as keys",
            String(repeating: "{", count: 400) + "a" + String(repeating: ": 1}", count: 400)
        ),
        HostileText(
            "question marks",
            nested("{? ", "[" + String(repeating: "a,", count: many(400_000)) + "]", "}", 900)
        ),
        HostileText("open question marks", String(repeating: "{? ", count: many(1 << 20))),
        HostileText(
            "aliases of aliases",
            "a: &a [x]\n" + (0..<30).map { "b\($0): &b\($0) [*a, *a]" }.joined(separator: "\n")
        ),
        HostileText("an alias behind a quote", "? [\"\"&a x, *a]\n: 1"),
        HostileText("unknown keys", "version: 1\n" + (0..<many(200_000)).map { "k\($0): 1" }.joined(separator: "\n")),
        HostileText("equal keys", "version: 1\n" + String(repeating: "k: 1\n", count: many(500_000))),
        HostileText("broken flow", "version: 1\nblock:\n" + String(repeating: "- {at: [}\n", count: many(100_000))),
        HostileText("a NUL in a name", "version: 1\nname: \"\u{0}\""),
        HostileText("a NUL at the end", "version: 1\n\u{0}block: ["),
        HostileText("tabs as indentation", "version: 1\nblock:\n\t- at: a.example"),
        HostileText("two documents", "version: 1\n---\nversion: 1"),
        HostileText("directives", "%YAML 9.9\n%TAG ! !\n--- !x\nversion: 1\n  - x"),
        HostileText(
            "a rule of each wrong kind",
            "version: 1\n" + "block: [a, 1, ~, [], {a: b}, {at: {a: b}}, {at: [[a]]}]"
        ),
        HostileText("bad patterns", "version: 1\nblock:\n" + String(repeating: "- at: \"[\"\n", count: many(100_000))),
        HostileText(
            "patterns of the greatest length",
            "version: 1\nblock:\n"
                + String(repeating: "- at: \"\(String(repeating: "*a", count: 1_000))[\"\n", count: many(1_900))
        ),
    ]

    @Test("Are refused within a second", arguments: refusedTexts)
    func refused(_ hostile: HostileText) {
        let (_, spent) = processorTime {
            #expect(throws: ProfileError.self) { try RuleProfile(hostile.text, file: "p.yaml") }
        }
        #expect(spent < HostileProfileTests.limit, "\(hostile.testDescription): \(spent)")
    }

    private static let takenTexts = [
        HostileText(
            "10,000 rules",
            "version: 1\nblock:\n" + (0..<many(10_000)).map { "- { at: h\($0).example }\n" }.joined()
        ),
        HostileText(
            "10,000 rules for one host",
            "version: 1\nblock:\n" + (0..<many(10_000)).map { "- { at: a.example/\($0) }\n" }.joined()
        ),
        HostileText(
            "10,000 equal rules",
            "version: 1\nblock:\n" + String(repeating: "- { at: a.example }\n", count: many(10_000))
        ),
        HostileText(
            "10,000 wildcards",
            "version: 1\nblock:\n" + (0..<many(10_000)).map { "- { at: \"*a*\($0)*\" }\n" }.joined()
        ),
        HostileText(
            "one rule for 50,000 locations",
            "version: 1\nblock: { at: [" + (0..<many(50_000)).map { "h\($0).example" }.joined(separator: ",") + "] }"
        ),
        HostileText("a huge scalar", "version: 1\nname: \"" + String(repeating: "a", count: 1_000_000) + "\""),
        HostileText("a byte order mark", "\u{FEFF}version: 1\nname: x\n"),
        HostileText("CRLF", "version: 1\r\nblock:\r\n  - at: a.example\r\n"),
        HostileText("comments", "version: 1\n" + String(repeating: "# x\n", count: many(250_000))),
        HostileText("a literal block", "version: 1\nname: |\n" + String(repeating: "  x\n", count: many(250_000))),
    ]

    @Test("Or taken within a second", arguments: takenTexts)
    func taken(_ hostile: HostileText) throws {
        let (_, spent) = try processorTime { try RuleProfile(hostile.text, file: "p.yaml") }
        #expect(spent < HostileProfileTests.limit, "\(hostile.testDescription): \(spent)")
    }

    @Test(
        "Nesting does not overflow the small stack of a thread",
        arguments: [
            nested("[", "", "]", 990), nested("{a: ", "1", "}", 990), String(repeating: "- ", count: 990) + "a",
        ]
    )
    func smallStack(text: String) async {
        let isRefused = await withCheckedContinuation { continuation in
            let thread = Thread {
                let result = Result { try RuleProfile("version: 1\nblock: \n " + text, file: "p.yaml") }
                let isRefused = if case .failure = result { true } else { false }
                continuation.resume(returning: isRefused)
            }
            // What threads but the first have on macOS.
            thread.stackSize = 512 << 10
            thread.start()
        }
        #expect(isRefused)
    }

    @Test("Bytes that are no text are refused")
    func bytes() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "sluice-\(UUID().uuidString).yaml").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        for bytes in [[0xFF, 0xFE, 0x41, 0x00], [0x76, 0xC0, 0x80], [0xED, 0xA0, 0x80]] as [[UInt8]] {
            try Data(bytes).write(to: URL(filePath: path))
            #expect(throws: ProfileError.self) { try RuleProfile.load(paths: [path]) }
        }
    }

    /// A second for the build that users run on a machine that is not busy; one for debugging is several times slower,
    /// the YAML parser most of all.
    #if DEBUG
    private static let limit = Duration.seconds(20)
    #else
    private static let limit = Duration.seconds(2)
    #endif
}
