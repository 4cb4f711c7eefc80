import Testing

@testable import HTTPModel

@Suite("Hosts of URLs")
struct RequestURLTests {
    @Test(
        "A name with the root's dot at its end is the same name without it; empty labels are none",
        arguments: [
            ("a.example", "a.example"), ("A.Example.", "a.example"), ("localhost.:80", "localhost 80"),
            ("127.0.0.1.", "127.0.0.1"), ("[::1]:443", "::1 443"), ("_a-b.c%2e~", "_a-b.c%2e~"), ("", nil), (".", nil),
            ("..", nil), ("..:80", nil), ("a..", nil), (".a", nil), ("a..b:1", nil), (":80", nil), ("a.:", "a"),
            ("a.example:", "a.example"), ("[::1]:", "::1"), ("a::", nil), (":", nil), ("[::1]x", nil), ("a:0", nil),
            ("É.example:1", "é.example 1"), ("\u{212A}.example", "k.example"),
            ("a b", nil), ("[.]", nil), ("[.]:80", nil), ("[a]", nil), ("[::1.]", nil),
            // A dot, a colon or a bracket is one whatever character it is a part of.
            ("\u{600}.", "\u{600}"), ("a.\u{600}.:1", "a.\u{600} 1"), ("a:\u{301}80", nil),
            ("[::1]\u{301}:80", nil), ("[\u{301}::1]:80", nil),
        ]
    )
    func authority(text: String, expected: String?) {
        let found = RequestURL.splitAuthority(text).map { $0.host + ($0.port.map { " \($0)" } ?? "") }
        #expect(found == expected)
    }

    @Test(
        "An address has one text, however it is spelt; what no resolver reads as one is a name",
        arguments: [
            ("127.1", "127.0.0.1"), ("127.0.1:80", "127.0.0.1 80"), ("0x7f.0.0.1", "127.0.0.1"),
            ("0X7F000001", "127.0.0.1"), ("2130706433", "127.0.0.1"), ("0177.0.0.1", "127.0.0.1"),
            ("017700000001", "127.0.0.1"), ("127.000.000.001", "127.0.0.1"), ("127.1.", "127.0.0.1"),
            ("[::ffff:127.0.0.1]", "127.0.0.1"), ("[::FFFF:7f00:1]:8", "127.0.0.1 8"), ("0", "0.0.0.0"),
            ("[0:0:0:0:0:0:0:1]", "::1"), ("[::0001]", "::1"), ("[0::1]", "::1"), ("[::0.0.0.1]", "::1"),
            ("[::1%0]", "::1"), ("[::1%25lo]", "::1"), ("[FE80::0:1%eth0]", "fe80::1%eth0"),
            ("[2001:DB8:0:0::1]", "2001:db8::1"), ("127.0.0.256", "127.0.0.256"), ("127.0.0.1.1", "127.0.0.1.1"),
            ("4294967296", "4294967296"), ("0x", "0x"), ("08.0.0.1", "08.0.0.1"), ("1e100.net", "1e100.net"),
            ("127.0.0.1.example", "127.0.0.1.example"), ("[1:2]", "1:2"), ("[::ffff:1.2.3]", "::ffff:1.2.3"),
        ]
    )
    func addresses(text: String, expected: String) {
        let found = RequestURL.splitAuthority(text).map { $0.host + ($0.port.map { " \($0)" } ?? "") }
        #expect(found == expected)
    }

    @Test(
        "What resolvers are asked for has the root's dot where the authority has it",
        arguments: [
            ("A.example.", "a.example."), ("a.example.:443", "a.example."), ("u:p@a.example.:443", "a.example."),
            ("u.:p@a.example", nil), ("u.@a.example", nil), ("a.example:443", nil), ("[::1]:443", nil), ("", nil),
            ("127.0.0.1.", nil), ("127.1.:80", nil), ("127.0.0.1.example.", "127.0.0.1.example."),
        ]
    )
    func rootedName(text: String, expected: String?) {
        #expect(RequestURL.rootedName(of: text.utf8) == expected)
    }

    @Test("A URL is read without the root's dot")
    func url() {
        #expect(RequestURL("http://X.tracker.test./a")?.description == "http://x.tracker.test/a")
        #expect(RequestURL("http://../") == nil)
        // RFC 3986 §6.2.3: a colon without a port.
        #expect(RequestURL("https://x.test:/a")?.description == "https://x.test/a")
        #expect(RequestURL("http://a@b@x.test/a")?.description == "http://x.test/a")
        #expect(RequestURL("http://x.test:?a")?.description == "http://x.test/?a")
    }
}
