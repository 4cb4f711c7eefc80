import Expressions
import NIOCore
import Rules
import Support
import Testing

@testable import Rules
@testable import Tools

@Suite("Regular expressions")
struct RegularExpressionTests {
    private func count(_ pattern: String, in text: String) throws -> Int {
        let expression = try RegularExpression(pattern, isCaseSensitive: true)
        var count = 0
        try Array(text.utf8).withUnsafeBytes { bytes in
            try expression.forEachMatch(in: bytes) { _ in
                count += 1
                return true
            }
        }
        return count
    }

    @Test(
        "A pattern that runs away on a megabyte is stopped soon",
        .timeLimit(.minutes(5)),
        arguments: [
            // Exponential, cubic, quadratic by a look-ahead at each place, and one that looks ahead in a loop.
            "(a+)+[cd]", "^(a+)+$", "(a|a)*b", "a.*a.*a.*[xy]", "(?=.*c)a", "(?=[^b]*+c)a", "(?:a(?=[^b]*+c)|a)*b",
            "(?<x>a+)\\k<x>c", "(.+)\\1c",
        ]
    )
    func runaway(pattern: String) throws {
        let text = String(repeating: "a", count: 1 << 20) + "!"
        let (_, time) = processorTime {
            #expect(throws: RegularExpression.MatchLimitError.self) { try count(pattern, in: text) }
        }
        // About 100 ms of work on an idle machine and with optimization; a thousand times that is what is prevented.
        #expect(time < .seconds(10), "\(time)")
    }

    @Test(
        "A pattern that runs away on a URL or a small body is stopped much sooner",
        arguments: [
            ("(a+)+[cd]", 40), ("^(a+)+$", 40), ("^(a+)+$", 4_096), ("a.*a.*a.*[xy]", 4_096), ("(?=.*c)a", 8_192),
        ]
    )
    func runawayOnLittle(pattern: String, size: Int) throws {
        let text = String(repeating: "a", count: size) + "!"
        let (_, time) = processorTime {
            #expect(throws: RegularExpression.MatchLimitError.self) { try count(pattern, in: text) }
        }
        // 3 to 5 ms with optimization; it was 20 times that.
        #expect(time < .milliseconds(400), "\(time)")
    }

    @Test("The expressions of one exchange share what may be spent beside the sizes of the texts")
    func allowance() throws {
        let allowance = MatchingAllowance()
        /// The number of matches in that exchange; `nil` where the expression was stopped.
        func found(_ pattern: String, _ text: String) -> Int? {
            MatchingAllowance.$current.withValue(allowance) { try? count(pattern, in: text) }
        }
        // Close to what one match may take.
        let text = String(repeating: "a", count: 16) + "!"
        for _ in 0..<4 { #expect(found("(a+)+[cd]", text) == 0) }
        #expect(found("(a+)+[cd]", text) == nil)
        // What the size allows is enough for an ordinary one.
        #expect(found("\\w+$", "some text") == 1)
        #expect(found("(\\w+)@(\\w+)", String(repeating: "a@b ", count: 100)) == 100)
        #expect(try count("(a+)+[cd]", in: text) == 0, "another exchange has its own")
    }

    @Test(
        "Ordinary expressions are not stopped, on a line or on many",
        arguments: [
            "[\\w.]+@[\\w.]+\\.com", "(\\w+)\\s+(\\w+)", "[^\"]*@[^\"]*", "\"(?:[^\"\\\\]|\\\\.)*\"", "\\w+ing\\b",
            "(\\w+\\s)+dog", ".+?:", "\\w*\\d\\w*x", "(?s)\\{.*?\\}", "https?://([^/\"]+)/v(\\d+)/", "(?m)^.*twice.*$",
        ]
    )
    func ordinary(pattern: String) throws {
        let line =
            "{\"id\":12345678,\"email\":\"some.person@example.com\",\"url\":\"https://api.example.com/v1/users?page=2\","
            + "\"text\":\"The quick brown fox jumps over the lazy dog, twice.\"}\n"
        for lines in [1, (128 << 10) / line.utf8.count] {
            _ = try count(pattern, in: String(repeating: line, count: lines))
        }
    }

    @Test(
        "What is large need not run away",
        arguments: [
            ("\"plan\":\"(\\w+)\"", 36_000, 36_000), ("\\d+@", 36_000, 0), ("(?=.*free).", 3_000, 30_000),
            ("(?s)^.*$", 36_000, 1), ("(?s)\\{.*?\\}", 36_000, 36_000), ("(?s)^.*?!", 36_000, 1),
            ("^(?:.|\\n)*?!", 3_000, 1),
            ("(?:[^x]|\\n)*!", 3_000, 1), ("(?i)PLAN", 36_000, 36_000),
        ]
    )
    func large(pattern: String, lines: Int, count: Int) throws {
        // 31 bytes a line, so about a megabyte at most.
        let text = String(repeating: "{\"plan\":\"free\",\"id\":12345678}\n", count: lines) + "!"
        #expect(try self.count(pattern, in: text) == count)
    }

    @Test("Matches are found one after the other, empty ones too")
    func matches() throws {
        #expect(try count("", in: "aé") == 3)
        #expect(try count("", in: "") == 1)
        #expect(try count("a*", in: "baac") == 4)
        #expect(try count("\\b", in: "ab cd") == 4)
        #expect(try count("$", in: "a\n") == 2)
        #expect(try count("(?=a)", in: "aa") == 2)
        #expect(try count("a\\K", in: "aa") == 2)
    }

    @Test(
        "A mistake has its place and a reason",
        arguments: [
            ("(a", 2, "missing closing parenthesis"), ("a)", 1, "unmatched closing parenthesis"),
            ("[a", 2, "missing terminating ] for character class"),
            ("é[z-a]", 5, "range out of order in character class"),
            ("a{2,1}", 5, "numbers out of order in {} quantifier"),
            ("*", 0, "quantifier does not follow a repeatable item"),
            ("\\C", 2, "using \\C is disabled by the application"),
        ]
    )
    func mistakes(pattern: String, offset: Int, message: String) {
        do throws(RegularExpression.SyntaxError) {
            _ = try RegularExpression(pattern, isCaseSensitive: true)
            Issue.record("'\(pattern)' compiled")
        } catch {
            #expect(error.offset == offset, "\(error.message)")
            #expect(error.message == message)
        }
        do throws(RegularExpression.SyntaxError) {
            _ = try TextPattern("/\(pattern)/", isCaseSensitive: true, isWhole: true)
        } catch {
            #expect(error.offset == offset + 1)
        }
    }

    @Test("A pattern that would take long to compile is refused")
    func longPatterns() {
        #expect(throws: RegularExpression.SyntaxError.self) {
            try RegularExpression(String(repeating: "a", count: 20_000), isCaseSensitive: true)
        }
        #expect(throws: RegularExpression.SyntaxError.self) {
            try RegularExpression("((((a{9999}){9999}){9999}){9999})", isCaseSensitive: true)
        }
        #expect(throws: RegularExpression.SyntaxError.self) {
            try RegularExpression(String(repeating: "(", count: 5_000), isCaseSensitive: true)
        }
    }

    @Test("Bytes that are no UTF-8 are refused, not matched")
    func invalid() throws {
        let expression = try RegularExpression("a", isCaseSensitive: true)
        #expect(throws: RegularExpression.MatchLimitError.self) {
            try [0x61, 0xFF as UInt8].withUnsafeBytes { bytes in try expression.forEachMatch(in: bytes) { _ in true } }
        }
    }
}
