import CharlesFiles
import Testing

@testable import CharlesFiles
@testable import Rules
@testable import Tools

/// The pattern for PCRE2 with its notes, or why there is none.
private func carried(_ pattern: String) -> String {
    do {
        let result = try JavaExpression.pattern(pattern, isCaseSensitive: true)
        return ([result.text] + result.notes).joined(separator: " | ")
    } catch {
        return "refused: \(error.reason)"
    }
}

private func replaced(_ pattern: String, _ replacement: String) -> String {
    guard let pattern = try? JavaExpression.pattern(pattern, isCaseSensitive: true) else { return "no pattern" }
    do {
        let result = try JavaExpression.replacement(replacement, for: pattern)
        return ([result.text] + result.notes).joined(separator: " | ")
    } catch {
        return "refused: \(error.reason)"
    }
}

@Suite("Regular expressions are carried over between Java and PCRE2")
struct JavaExpressionTests {
    @Test(
        "What both have stays as it is",
        arguments: [
            "a+?b*+", "(?i)x", "(?<=a)b(?!c)", "\\Qa.b\\E+", "(?<name>x)\\k<name>", "[^a-z\\d]", "\\p{Lu}", "(?>a|b)",
            "\\bx\\b",
            "[]x]", "\"plan\":\"(\\w+)\"", "(?s:.*)", "\\Q[[\\E",
        ]
    )
    func same(pattern: String) {
        #expect(carried(pattern) == pattern)
    }

    @Test(
        "What PCRE2 writes otherwise is rewritten, what it reads otherwise is told or refused",
        arguments: [
            ("\\u00e9", "\\x{e9}"), ("\\uD83D\\uDE00", "\\x{1f600}"), ("[\\u0041-\\u005A]", "[\\x{41}-\\x{5a}]"),
            ("\\0101x", "\\x{41}x"), ("(?u)a", "a"), ("(?iu)a", "(?i)a"), ("(?u:a)", "(?:a)"),
            ("(?x) a b # [c", "(?x) a b # [c | in sets, blanks count even under the flag x"),
            ("(?U)\\w", "\\w | the flag U, for Unicode's character classes, is left out"),
            ("(?d).", ". | the flag d, for Unix lines, is left out"),
            ("[a-z&&[^b]]", "refused: the regular expression has sets within a set, or &&, which PCRE2 does not have"),
            ("[a[b]]", "refused: the regular expression has sets within a set, or &&, which PCRE2 does not have"),
            ("\\uD83D", "refused: the regular expression has half a surrogate pair"),
            ("\\N{DIGIT ONE}", "refused: the regular expression has \\N{…}, which PCRE2 does not have"),
            ("(", "refused: bad regular expression at character 2: missing closing parenthesis"),
            (
                "\\p{javaLowerCase}",
                "refused: bad regular expression at character 18: unknown property after \\P or \\p"
            ),
            ("(?<=a+)b", "refused: bad regular expression at character 1: lookbehind assertion is not fixed length"),
        ]
    )
    func rewritten(pattern: String, expected: String) {
        #expect(carried(pattern) == expected)
    }

    @Test("Groups in a replacement are those of the pattern")
    func replacements() {
        #expect(replaced("(a)(b)", "$2-$1-$0") == "$2-$1-$0")
        #expect(replaced("(?<x>a)(?:b)(c)", "${x}$2") == "$1$2")
        #expect(replaced("(a)", "$12") == "$12")
        #expect(
            replaced("(a)", "\\$1 \\\\")
                == "$$1 \\ | a backslash in the new value is taken as Java does: it makes the next character plain"
        )
        #expect(replaced("(a)", "$2") == "refused: the new value refers to group 2, which is not there")
        #expect(replaced("(a)", "${y}") == "refused: the new value refers to the group 'y', which is not there")
        #expect(
            replaced("a", "5$") == "refused: a dollar sign in the new value refers to no group; Java does not take it"
        )
        let ten = String(repeating: "(a)", count: 10)
        #expect(replaced(ten, "$10") == "refused: the new value refers to group 10; profiles have $0 to $9")
    }
}
