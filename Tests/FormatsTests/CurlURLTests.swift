import Foundation
import Support
import Testing

@testable import Formats

@Suite("A URL of a cURL command is the one that curl asks for", .serialized)
struct CurlURLTests {
    /// What follows the host, and options.
    private static let cases: [(url: String, options: [String])] = [
        ("/a?b\\[\\]=1&c=\\{x\\}", []), ("/a\\{b,c\\}/\\[1-3\\]", []), ("/a\\b?c=\\d", []), ("/a?b\\[\\]=1", ["-g"]),
        ("/a[1-3]{b,c}", ["--globoff"]), ("/a/../b", []), ("/a/b/./../c/.", []), ("/..", []), ("/a/..?x=/../y", []),
        ("/a//../b", []), ("/a/.../b/..c", []), ("/a/../b", ["--path-as-is"]), ("?x=/../y", []), ("/a/../b#c/../d", []),
    ]

    @Test(arguments: 0..<cases.count)
    func `as curl itself sends it`(_ number: Int) async throws {
        try await blocking {
            let one = Self.cases[number]
            let server = try EchoServer()
            let folder = try TemporaryFolder()
            let url = "http://127.0.0.1:\(server.port)\(one.url)"
            let child = try folder.run("curl", ["-s"] + one.options + [url])
            let received = try server.receive()
            _ = child.wait()
            let words = (["curl"] + one.options + ["'\(url)'"]).joined(separator: " ")
            let request = try CurlCommandReader.read(words)
            let target = String(request.url.dropFirst("http://127.0.0.1:\(server.port)".count))
            let sent = received.requestLine.text.split(separator: " ")[1]
            #expect(String(sent) == (target.hasPrefix("/") ? target : "/" + target), "\(words)")
            #expect(request.remarks.isEmpty)
        }
    }

    @Test(
        "Patterns, for which curl asks for several URLs, are named and stay",
        arguments: [
            ("http://h/{a,b}", ["{a,b}"]), ("http://h/[1-3]", ["[1-3]"]), ("http://h/[a-z:2]/{x}", ["[a-z:2]", "{x}"]),
            ("http://[::1]/a", []), ("http://h/a?b[]=1&c[d]=2", []), ("http://h/a?b[c-d-e]=1&d[10]=3", []),
            ("http://h/[1-3", []), ("http://h/a]{}", []),
        ]
    )
    func patterns(_ url: String, _ expected: [String]) throws {
        let request = try CurlCommandReader.read("curl '\(url)'")
        let named = expected.map { "the pattern \($0) of the URL" }.joined(separator: ", ")
        #expect(request.url == url)
        #expect(request.remarks == (expected.isEmpty ? [] : ["not taken over: \(named)"]))
        #expect(try CurlCommandReader.read("curl -g '\(url)'").remarks.isEmpty)
    }

    @Test(
        "The command's own Accept-Encoding wins over --compressed, wherever that stands",
        arguments: ["--compressed -H 'Accept-Encoding: x'", "-H 'Accept-Encoding: x' --compressed"]
    )
    func compressed(options: String) throws {
        let request = try CurlCommandReader.read("curl \(options) http://h/")
        #expect(request.fields.map { "\($0.name): \($0.value)" } == ["Accept-Encoding: x"])
        let without = try CurlCommandReader.read("curl --compressed -H 'Accept-Encoding:' http://h/")
        #expect(without.fields.isEmpty)
    }
}
