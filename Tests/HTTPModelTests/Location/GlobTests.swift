import Support
import Testing

@testable import HTTPModel

@Suite("Wildcard patterns")
struct GlobTests {
    @Test(
        "match as a whole, `*` across slashes",
        arguments: [
            ("", "", true), ("", "a", false), ("*", "", true), ("*", "a/b", true), ("a", "a", true), ("a", "A", false),
            ("a*", "abc", true), ("a*", "ba", false), ("*c", "abc", true), ("*c", "cb", false), ("*b*", "abc", true),
            ("*b*", "ac", false), ("a*c", "ac", true), ("a*c", "a/b/c", true), ("a*c", "acb", false),
            ("a?c", "abc", true),
            ("a?c", "ac", false), ("?", "é", true), ("??", "é", false), ("a?c", "a€c", true), ("[a-c]x", "bx", true),
            ("[a-c]x", "dx", false), ("[!a-c]x", "dx", true), ("[^a-c]x", "ax", false), ("[!a]", "é", true),
            ("[]", "", false), ("\\*", "*", true), ("\\*", "a", false), ("\\?\\[\\\\", "?[\\", true),
            ("[\\]a]", "]", true),
            ("[a-]", "-", true), ("**a**", "bab", true), ("*ab*ab", "abab", true), ("*ab*ab", "ab", false),
            ("*a*b*c*", "xxaxxbxxcxx", true), ("a*b*", "ab", true), ("*?", "", false), ("?*", "x", true),
        ]
    )
    func matches(pattern: String, text: String, expected: Bool) throws {
        guard pattern != "[]" else {
            #expect(throws: GlobError.self) { try Glob(pattern) }
            return
        }
        #expect(try Glob(pattern).matches(text) == expected)
    }

    @Test("without regard to case, only ASCII letters are folded")
    func ignoresCase() throws {
        #expect(try Glob("*.EXAMPLE.com", ignoringCase: true).matches("API.example.COM"))
        #expect(try Glob("[A-C]*", ignoringCase: true).matches("bx"))
        #expect(try Glob("a?[x-z]", ignoringCase: true).matches("AÉY"))
        #expect(try !Glob("é", ignoringCase: true).matches("É"))
    }

    @Test(
        "that are malformed say where",
        arguments: [
            ("ab[c", 2, "'[' has no ']'"), ("[", 0, "'[' has no ']'"), ("a[]", 1, "the set is empty"),
            ("a\\", 1, "'\\' ends the pattern"), ("[z-a]", 2, "the range in the set runs backwards"),
            ("[é]", 1, "a set can only have ASCII characters"), ("[a-\\", 0, "'[' has no ']'"),
            ("[!]", 0, "the set is empty"),
            ("[a-", 0, "'[' has no ']'"),
        ]
    )
    func errors(pattern: String, offset: Int, message: String) {
        let error = #expect(throws: GlobError.self) { try Glob(pattern) }
        #expect(error?.offset == offset)
        #expect(error?.message == message)
    }

    @Test("are limited in length")
    func length() {
        #expect(throws: Never.self) { try Glob(String(repeating: "a", count: Glob.maximumLength)) }
        #expect(throws: GlobError.self) { try Glob(String(repeating: "a", count: Glob.maximumLength + 1)) }
    }

    @Test("tell what each star stood for")
    func captures() throws {
        #expect(try Glob("/a/*/c/*").captures(in: "/a/b/c/d/e") == ["b", "d/e"])
        #expect(try Glob("*-*").captures(in: "a-b-c") == ["a", "b-c"])
        #expect(try Glob("*.com").captures(in: "a.com.com") == ["a.com"])
        #expect(try Glob("**x**").captures(in: "axb") == ["a", "b"])
        #expect(try Glob("*").captures(in: "") == [""])
        #expect(try Glob("a").captures(in: "a") == [])
        #expect(try Glob("a*").captures(in: "b") == nil)
    }

    @Test("tell their literal parts")
    func literals() throws {
        #expect(try Glob("a\\*b").literal == "a*b")
        #expect(try Glob("[x]y").literal == "xy")
        #expect(try Glob("a*").literal == nil)
        #expect(try Glob("*.Example.com", ignoringCase: true).literalSuffix == ".example.com")
        #expect(try Glob("a*").literalSuffix == "")
        #expect(Glob.escaping("a*[?\\]") == "a\\*\\[\\?\\\\]")
        #expect(try Glob(Glob.escaping("a*[?\\]")).literal == "a*[?\\]")
    }

    @Test("made to be slow take a bounded number of steps")
    func pathological() throws {
        for pattern in ["*a*a*a*a*b", "*a*a*a*a*b*", "*?a?*?a?*b?", "*[ab]*[ab]*c[ab]*"] {
            let glob = try Glob(pattern)
            let text = String(repeating: "a", count: 50_000)
            var trace = Glob.Trace()
            #expect(!text.withUTF8Bytes { glob.walk($0, &trace) })
            #expect(trace.steps <= (glob.elements.count + 1) * (text.utf8.count + 1))
            #expect(!glob.matches(text))
        }
    }

    /// One element as the reference matcher has it.
    private enum Piece: CaseIterable {
        case a
        case b
        case accent
        case one
        case many
        case aToB
        case notA
        case star

        var text: String {
            switch self {
            case .a: "a"
            case .b: "b"
            case .accent: "é"
            case .one: "?"
            case .many: "*"
            case .aToB: "[a-b]"
            case .notA: "[!a]"
            case .star: "\\*"
            }
        }

        func matches(_ character: Character) -> Bool {
            switch self {
            case .a: character == "a"
            case .b: character == "b"
            case .accent: character == "é"
            case .one: true
            case .many: false
            case .aToB: character == "a" || character == "b"
            case .notA: character != "a"
            case .star: character == "*"
            }
        }
    }

    private func reference(_ pieces: ArraySlice<Piece>, _ text: ArraySlice<Character>) -> Bool {
        guard let piece = pieces.first else { return text.isEmpty }
        if piece == .many {
            return (text.startIndex...text.endIndex).contains { reference(pieces.dropFirst(), text[$0...]) }
        }
        guard let character = text.first, piece.matches(character) else { return false }
        return reference(pieces.dropFirst(), text.dropFirst())
    }

    @Test("agree with a matcher that tries everything")
    func agreesWithReference() throws {
        let seed: UInt64 = 0x510C_E001
        var random = SplitMix(seed)
        var matched = 0
        for _ in 0..<30_000 {
            let pieces = (0..<random.number(below: 8)).map { _ in
                Piece.allCases[random.number(below: Piece.allCases.count)]
            }
            let pattern = pieces.map(\.text).joined()
            let text = random.text(of: ["a", "b", "é", "*"], upTo: 8)
            let expected = reference(pieces[...], Array(text)[...])
            let glob = try Glob(pattern)
            matched += expected ? 1 : 0
            var trace = Glob.Trace()
            let walked = text.withUTF8Bytes { glob.walk($0, &trace) }
            guard glob.matches(text) == expected, walked == expected, try Glob(glob.description) == glob else {
                Issue.record("seed \(seed): \(pattern) on \(text), expected \(expected)")
                return
            }
            if let captures = glob.captures(in: text) {
                var filled = ""
                var rest = captures[...]
                var index = text.startIndex
                // With every other element of one character, captures put back in place must give the text.
                for piece in glob.elements {
                    if piece == .many {
                        let star = rest.removeFirst()
                        filled += star
                        index = text.index(index, offsetBy: star.count)
                    }
                    if piece != .many, index < text.endIndex, text.utf8.index(index, offsetBy: 0) < text.endIndex {
                        if case .byte(let byte) = piece, byte >= 0x80, byte < 0xC0 { continue }
                        filled.append(text[index])
                        index = text.index(after: index)
                    }
                }
                #expect(filled == text, "seed \(seed): \(pattern) on \(text)")
            }
        }
        #expect(matched > 1_000)
    }
}
