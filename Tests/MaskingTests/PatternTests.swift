import Testing

@testable import Masking

@Suite("E-mail addresses and cards, however their signs are written")
struct PatternTests {
    private let rules = Masked.rules(patterns: [.email, .card])

    private func masked(_ text: String, _ syntax: ScanSyntax = .text) -> String { Masked.text(text, syntax, rules) }

    @Test(
        "The sign of an address is escaped",
        arguments: [
            "me%40example.com", "me%2540example.com", "me@example.com", #"me\u0040example.com"#, "me&#64;example.com",
        ]
    )
    func escapedSign(address: String) {
        #expect(masked("a=1&q=\(address)&b=2", .form) == "a=1&q=sluice-email-1&b=2")
        #expect(masked("/users/\(address)/x", .field) == "/users/sluice-email-1/x")
        #expect(masked(#"{"q":"\#(address)","r":"me@example.com"}"#) == #"{"q":"sluice-email-1","r":"sluice-email-1"}"#)
        #expect(masked("<a>\(address)</a>", .markup) == "<a>sluice-email-1</a>")
    }

    @Test("An address is whole where other signs of it are escaped, or an escape stands before it")
    func escapesAround() {
        #expect(masked("q=first%2Blast%40example.com&b", .form) == "q=sluice-email-1&b")
        #expect(masked("q=%20me@example.com", .form) == "q=%20sluice-email-1")
        #expect(masked(#"{"q":"to:\nme@example.com"}"#) == #"{"q":"to:\nsluice-email-1"}"#)
        #expect(masked(#"{"q":"to:\u000ame@example.com\u002c"}"#) == #"{"q":"to:\u000asluice-email-1\u002c"}"#)
    }

    @Test("Numbers are those of the places where addresses begin")
    func order() {
        #expect(masked("a@example.com b%40example.com") == "sluice-email-1 sluice-email-2")
    }

    @Test(
        "What has the sign of an address and is none",
        arguments: [
            "lodash@4.17.21", "logo@2x.png", "logo@3x.png 2x", "a@b", "@example.com", "50%40 off", "me@example", "x%40",
            #"\u0040"#, "@media.x",
        ]
    )
    func noAddress(text: String) { #expect(masked(text) == text) }

    @Test(
        "Groups of a card's digits",
        arguments: [
            "4111+1111+1111+1111", "4111%201111%201111%201111", "4111%2D1111%2D1111%2D1111",
            "4111&#32;1111&#32;1111&#32;1111",
            "4111 1111 1111 1111",
        ]
    )
    func groups(number: String) { #expect(masked("a=1&n=\(number)&b=2", .form) == "a=1&n=sluice-card-1&b=2") }

    @Test("A card of American Express has other groups")
    func otherGroups() {
        #expect(masked("n=3782+822463+10005", .form) == "n=sluice-card-1")
        #expect(masked("n=3782%20822463%2010005&m=3782 822463 10005", .form) == "n=sluice-card-1&m=sluice-card-1")
    }

    @Test("Cards beside other numbers")
    func beside() {
        for (text, masked) in [
            ("4111111111111111 4111-1111-1111-1111 7", "sluice-card-1 sluice-card-2 7"),
            ("12 4111111111111111", "12 sluice-card-1"), ("4111 1111 1111 1111 12", "sluice-card-1 12"),
            ("1 2 3 4111 1111 1111 1111", "1 2 3 sluice-card-1"), ("x4111111111111111", "x4111111111111111"),
            ("41111111111111114111111111111111", "41111111111111114111111111111111"),
            ("2026-11-27 11:08:41 1111", "2026-11-27 11:08:41 1111"),
        ] { #expect(self.masked(text) == masked) }
    }

    @Test("A sum is no card", arguments: ["41+11111111+111111", "4111+1111+1111+1112", "4111+11111111+1111"])
    func sums(text: String) { #expect(masked(text) == text) }
}
