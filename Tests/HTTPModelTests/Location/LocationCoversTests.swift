import HTTPModel
import Support
import Testing

@Suite("Locations that cover others")
struct LocationCoversTests {
    /// Texts that patterns can have in common, or not.
    private static let texts = [
        "", "a", "b", "ab", "ba", "aa", "abc", "aab", "abab", "xaby", "/", "a/b", "ü", "aü", "?", "*",
    ]

    @Test("A pattern that covers another one matches whatever that one matches")
    func sound() throws {
        var generator = SplitMix(4_711)
        let pieces = ["a", "b", "ab", "*", "*", "?", "[ab]", "[!a]", "[a-c]", "ü", "/"]
        var covering = 0
        for _ in 0..<20_000 {
            func pattern() -> String {
                (0..<Int.random(in: 1...4, using: &generator)).map { _ in
                    pieces.randomElement(using: &generator) ?? "a"
                }.joined()
            }
            let (wide, narrow) = (try Glob(pattern()), try Glob(pattern()))
            guard wide.covers(narrow) else { continue }
            covering += 1
            for text in LocationCoversTests.texts where narrow.matches(text) {
                #expect(wide.matches(text), "\(wide) does not cover \(narrow): \(text)")
            }
        }
        #expect(covering > 1_000, "seed 4711")
    }

    @Test("Every pattern covers itself")
    func reflexive() throws {
        for text in ["a", "*", "a*", "*a*b?", "[ab]*", "[!x]y", "ü*"] {
            #expect(try Glob(text).covers(Glob(text)), "\(text)")
        }
    }

    @Test(
        "All fields count",
        arguments: [
            ("*", "http://a.example:81/x?y", true), ("a.example", "http://a.example:81/x?y", true),
            ("http://a.example", "a.example", false), ("a.example:80", "a.example", false),
            ("a.example:8*", "a.example:81", true), ("a.example:8*", "a.example:91", false),
            ("*.example", "a.b.example", true), ("*.b.example", "*.example", false),
            ("A.example", "a.EXAMPLE", true), ("a.example/X", "a.example/x", false),
            ("a.example/*", "a.example", false), ("a.example", "a.example/*", true),
            ("a.example/x?*", "a.example/x", true), ("a.example/x", "a.example/x?*", true),
            ("a.example/x?a=*", "a.example/x?a=1", true), ("a.example/x?a=1", "a.example/x", false),
        ]
    )
    func fields(wide: String, narrow: String, covers: Bool) throws {
        #expect(try Location(wide).covers(Location(narrow)) == covers, "\(wide) \(narrow)")
    }

    @Test(
        "Hosts that no URL can have in common",
        arguments: [
            ("a.example", "b.example", true), ("a.example", "*.example", false), ("*.a.example", "*.b.example", true),
            ("*.example", "*.b.example", false), ("*a*", "b.example", false), ("*.example", "a.test", true),
            ("a.example/x", "a.example/y", false),
        ]
    )
    func disjoint(one: String, other: String, isDisjoint: Bool) throws {
        #expect(try Location(one).hasDisjointHost(from: Location(other)) == isDisjoint)
        #expect(try Location(other).hasDisjointHost(from: Location(one)) == isDisjoint)
    }
}
