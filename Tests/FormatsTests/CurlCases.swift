import Content
import HTTPModel
import Testing

@testable import Formats

extension CurlExport {
    static func command(for exchange: RecordedExchange, source: any ExchangeSource) throws -> String {
        try CopyForm.curl.text(exchange, source: source, files: nil) ?? ""
    }
}

/// A request that a cURL command has to repeat.
struct CurlCase: Sendable, CustomTestStringConvertible {
    var name: String
    var method = "GET"
    var target: [UInt8] = Array("/".utf8)
    var version = "HTTP/1.1"
    /// The field lines; `nil` in place of the value of `Host` in the first one is filled with the server's.
    var fields: [[UInt8]]
    var body: [UInt8] = []
    /// The target that must arrive where it is not `target`.
    var expectedTarget: [UInt8]?
    /// What the arriving fields must be where they are not `fields`.
    var expectedFields: [[UInt8]]?

    var testDescription: String { name }

    init(
        _ name: String,
        _ method: String = "GET",
        _ target: String = "/",
        _ fields: [String] = CurlCase.plain,
        body: String = ""
    ) {
        self.name = name
        self.method = method
        self.target = Array(target.utf8)
        self.fields = fields.map { Array($0.utf8) }
        self.body = Array(body.utf8)
        if !body.isEmpty { self.fields.append(Array("Content-Length: \(self.body.count)".utf8)) }
    }

    func with(_ edit: (inout CurlCase) -> Void) -> CurlCase {
        var copy = self
        edit(&copy)
        return copy
    }

    /// `HOST` stands for the server's address and port.
    static let plain = ["Host: HOST", "User-Agent: t/1", "Accept: */*"]
    static let form = plain + ["Content-Type: application/x-www-form-urlencoded"]
    static let json = plain + ["Content-Type: application/json"]

    static let all: [CurlCase] = targets + methods + headers + bodies

    static let targets: [CurlCase] = [
        CurlCase("a plain path", "GET", "/a/b"),
        CurlCase("a query", "GET", "/a?b=c&d=e%20f"),
        CurlCase("an empty query", "GET", "/a?"),
        CurlCase("a query without a path's end", "GET", "/?x"),
        CurlCase("dot segments", "GET", "/a/../b/./c"),
        CurlCase("encoded dot segments", "GET", "/a/%2e%2e/b/%2E/c"),
        CurlCase("dot segments at the end", "GET", "/a/.."),
        CurlCase("double slashes", "GET", "//a//b"),
        CurlCase("brackets", "GET", "/a[1-3]?x[]=1&y[0]=2"),
        CurlCase("braces", "GET", "/{a,b}/c?{}"),
        CurlCase("unbalanced brackets", "GET", "/a]b[c}d{"),
        CurlCase("single quotes", "GET", "/it's?q='x'"),
        CurlCase("double quotes", "GET", "/\"a\"?\"b\""),
        CurlCase("dollars and backticks", "GET", "/$HOME/`id`?$(id)"),
        CurlCase("backslashes", "GET", "/a\\b\\n?c\\"),
        CurlCase("shell operators", "GET", "/a;b&c|d<e>f?!x*~"),
        CurlCase("a hash", "GET", "/a#b?c"),
        CurlCase("percent signs that encode nothing", "GET", "/100%?a=%zz&b=%"),
        CurlCase("an at sign and a colon", "GET", "/user:pw@host/x"),
        CurlCase("a target like an option", "GET", "/-X/--help"),
        CurlCase("caret and pipe", "GET", "/a^b|c`d"),
        CurlCase("UTF-8 in the path", "GET", "/caf\u{E9}/\u{1F600}"),
        CurlCase("hidden characters in the path", "GET", "/\u{9B}31m'\u{202E}?\u{200B}"),
        CurlCase("Latin-1 in the path", "GET").with { $0.target = [0x2F, 0x63, 0xE9, 0x27, 0x25] },
        CurlCase("the asterisk form", "OPTIONS", "*"),
        CurlCase("the absolute form", "GET", "http://HOST/a/b?c").with { $0.expectedTarget = Array("/a/b?c".utf8) },
        CurlCase("the absolute form without a path", "GET", "http://HOST").with { $0.expectedTarget = Array("/".utf8) },
        CurlCase("the absolute form with a query only", "GET", "http://HOST?q").with {
            $0.expectedTarget = Array("/?q".utf8)
        },
        CurlCase("the absolute form of the whole server", "OPTIONS", "http://HOST").with {
            $0.expectedTarget = Array("*".utf8)
        },
        CurlCase("the absolute form with a hash", "GET", "http://HOST/a%23x?b#c").with {
            $0.expectedTarget = Array("/a%23x?b#c".utf8)
        },
        CurlCase("a URL in the query", "GET", "/p?u=http://a/b/../c#frag"),
        CurlCase("a long path", "GET", "/" + String(repeating: "x", count: 20_000)),
    ]

    static let methods: [CurlCase] = [
        CurlCase("HEAD", "HEAD"),
        CurlCase("DELETE", "DELETE"),
        CurlCase("OPTIONS", "OPTIONS", "/x"),
        CurlCase("an unknown method", "M-SEARCH"),
        CurlCase("a method in lower case", "get"),
        CurlCase("a method of every odd character", "A!#$%&'*+-.^_`|~9"),
        CurlCase("POST without a body or a length", "POST"),
        CurlCase("POST with length 0", "POST", "/", plain + ["Content-Length: 0"]),
        CurlCase("PUT with length 0", "PUT", "/", plain + ["Content-Length: 0"]),
        CurlCase("GET with length 0", "GET", "/", plain + ["Content-Length: 0", "X: y"]),
        CurlCase("GET with a body", "GET", "/", json, body: "{}"),
        CurlCase("HEAD with a body", "HEAD", "/", json, body: "xyz"),
        CurlCase("DELETE with a body", "DELETE", "/", json, body: "[1]"),
        CurlCase("PATCH with a body", "PATCH", "/", json, body: "{\"a\":1}"),
        CurlCase("HTTP/1.0", "GET", "/old").with { $0.version = "HTTP/1.0" },
        CurlCase("HTTP/1.0 without Host", "GET", "/old", ["User-Agent: x"]).with { $0.version = "HTTP/1.0" },
    ]

    static let headers: [CurlCase] = [
        CurlCase("nothing but Host", "GET", "/", ["Host: HOST"]),
        CurlCase("Host last", "GET", "/", ["Accept: a", "User-Agent: b", "X: c", "Host: HOST"]),
        CurlCase("another Host", "GET", "/", ["Host: other.example:99", "Accept: */*"]),
        CurlCase("an empty Host", "GET", "/", ["Host:", "Accept: */*"]),
        CurlCase(
            "fields in an unusual order",
            "GET",
            "/",
            ["Host: HOST", "X-B: 1", "accept: x", "X-A: 2", "user-agent: y"]
        ),
        CurlCase("repeated fields", "GET", "/", plain + ["X: 1", "x: 2", "X: 1", "Cookie: a=1", "Cookie: b=2"]),
        CurlCase("empty fields", "GET", "/", ["Host: HOST", "User-Agent:", "Accept:", "X-Empty:", "X: y"]),
        CurlCase("quotes in a value", "GET", "/", plain + ["X: it's \"quoted\" ''"]),
        CurlCase("shell characters in a value", "GET", "/", plain + ["X: $HOME `id` $(id) !! \\n \\ ; & | *"]),
        CurlCase("an at sign in front", "GET", "/", plain + ["X: @file", "Y: @"]),
        CurlCase("semicolons and colons", "GET", "/", plain + ["X: a;b;", "Y: a:b:", "Z: ;", "W: :"]),
        CurlCase("spaces around a value", "GET", "/", plain + ["X:  two  spaces \t", "Y:none"]),
        CurlCase("a tab in a value", "GET", "/", plain + ["X: a\tb"]),
        CurlCase("UTF-8 in a value", "GET", "/", plain + ["X: caf\u{E9} \u{1F600}"]),
        CurlCase("Latin-1 in a value", "GET").with {
            $0.fields.append(Array("X: a%b\\c'd".utf8) + [0xE9, 0x21, 0xFF])
        },
        CurlCase("hidden characters in a value", "GET", "/", plain + ["X: it's\u{202E}\u{9B}31m\u{E0041}\u{FEFF}"]),
        CurlCase("a name of every odd character", "GET", "/", plain + ["X!#$%&'*+-.^_`|~: y"]),
        CurlCase(
            "Accept-Encoding",
            "GET",
            "/",
            ["Host: HOST", "Accept-Encoding: gzip, br;q=0.5", "Accept: a", "User-Agent: b"]
        ),
        CurlCase(
            "Connection and TE",
            "GET",
            "/",
            plain + ["Connection: keep-alive, TE", "TE: trailers", "Keep-Alive: 5"]
        ),
        CurlCase("authorization", "GET", "/", plain + ["Authorization: Basic dTpw", "Cookie: s=1; t=\"2\""]),
        CurlCase(
            "a range and conditions",
            "GET",
            "/",
            plain + ["Range: bytes=0-1", "If-None-Match: W/\"a'b\"", "Referer: x"]
        ),
        CurlCase(
            "proxy fields",
            "GET",
            "/",
            ["Host: HOST", "Proxy-Connection: x", "Accept: a", "Proxy-Authorization: b"]
        ).with {
            $0.expectedFields = ["Host: HOST", "Accept: a"].map { Array($0.utf8) }
        },
        CurlCase("a repeated Content-Length", "POST", "/", form + ["Content-Length: 1"], body: "x").with {
            $0.expectedFields = (form + ["Content-Length: 1"]).map { Array($0.utf8) }
        },
        CurlCase("a long value", "GET", "/", plain + ["X: " + String(repeating: "v", count: 50_000)]),
        CurlCase(
            "a value no argument can carry",
            "GET",
            "/",
            plain + ["X: " + String(repeating: "v", count: 150_000), "Y: z"]
        ),
        CurlCase(
            "an upgrade",
            "GET",
            "/",
            plain + ["Connection: Upgrade", "Upgrade: h2c", "HTTP2-Settings: AAMAAABk"]
        ),
    ]

    static let bodies: [CurlCase] = [
        CurlCase("a form", "POST", "/", form, body: "a=1&b=2"),
        CurlCase("no Content-Type", "POST", "/", plain, body: "plain"),
        CurlCase("an empty Content-Type", "POST", "/", plain + ["Content-Type:"], body: "plain"),
        CurlCase("a body that begins with @", "POST", "/", form, body: "@/etc/passwd"),
        CurlCase("a body that is @", "POST", "/", form, body: "@"),
        CurlCase("a body that is a hyphen", "POST", "/", form, body: "-"),
        CurlCase("quotes in the body", "POST", "/", json, body: "{\"it's\": \"'\\\"'\"}"),
        CurlCase("shell characters in the body", "POST", "/", json, body: "$HOME `id` $(id) !! \\n %s ~ * ; & |"),
        CurlCase("line breaks in the body", "POST", "/", json, body: "\n{\n\t\"a\": 1\n}\n\n"),
        CurlCase("carriage returns in the body", "POST", "/", json, body: "a\r\nb\r\n"),
        CurlCase("an ampersand and equals signs", "POST", "/", form, body: "&&==&a=%41+b"),
        CurlCase("UTF-8 in the body", "POST", "/", json, body: "{\"x\":\"caf\u{E9} \u{1F600}\"}"),
        CurlCase("hidden characters in the body", "POST", "/", json, body: "\u{FEFF}'a'\n\t\u{202E}\u{9B}\n\n"),
        CurlCase("escape characters in the body", "POST", "/", form, body: "a\u{1B}[31mb"),
        binary("a NUL in the body", [0x61, 0x00, 0x62]),
        binary("bytes of every value", (0...255).map { UInt8($0) }),
        binary("Latin-1 in the body", [0x63, 0xE9]),
        binary("a body of 100 KiB", Array(repeating: 0x61, count: 102_400)),
        binary("a body of more than 100 KiB", Array(repeating: 0x62, count: 102_401)),
        binary("a body above 1 MiB", Array(repeating: 0x63, count: 1_100_000)),
        CurlCase(
            "Content-Length before other fields",
            "POST",
            "/",
            ["Host: HOST", "Content-Length: 3", "Accept: a", "X: y"]
        ).with {
            $0.fields.append(Array("User-Agent: b".utf8))
            $0.body = Array("abc".utf8)
        },
        CurlCase("content-length in lower case", "POST", "/", form + ["content-length: 3"]).with {
            $0.body = Array("abc".utf8)
        },
        chunked("chunked", Array("hello".utf8)),
        chunked("chunked and empty", []),
        chunked("chunked and binary", [0, 1, 2, 0xFF]),
        chunked("chunked and long", Array(repeating: 0x7A, count: 200_000)),
        CurlCase("Expect", "POST", "/", form + ["Expect: 100-continue"], body: "abc"),
        CurlCase("a body above 1 KiB without Expect", "POST", "/", form, body: String(repeating: "e", count: 2000)),
        CurlCase("a PUT to a directory", "PUT", "/dir/", json, body: "{}"),
    ]

    private static func binary(_ name: String, _ bytes: [UInt8]) -> CurlCase {
        CurlCase(
            name,
            "POST",
            "/up",
            plain + ["Content-Type: application/octet-stream", "Content-Length: \(bytes.count)"]
        )
        .with { $0.body = bytes }
    }

    private static func chunked(_ name: String, _ bytes: [UInt8]) -> CurlCase {
        CurlCase(name, "POST", "/up", plain + ["Transfer-Encoding: chunked", "Content-Type: a/b"]).with {
            $0.body = bytes
        }
    }
}
