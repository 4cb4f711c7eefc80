import Formats
import Foundation
import HTTPModel
import Support
import Testing

@Suite("cURL commands read")
struct CurlReaderTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var name: String
        var command: String
        var method = "GET"
        var url = "https://h/a"
        var fields: [String] = []
        var body = ""
        var remarks: [String] = []

        var testDescription: String { name }
    }

    static let cases: [Case] = [
        Case(
            name: "Chrome's for bash",
            command: """
                curl 'https://h/a' \\
                  -X 'PUT' \\
                  -H 'accept: */*' \\
                  -b 'a=1; b=2' \\
                  -H 'content-type: application/json' \\
                  --data-raw $'{"it\\'s":"caf\\u00e9 \\u0021\\ud83d\\ude00\\r\\n"}' \\
                  --compressed --insecure
                """,
            method: "PUT",
            fields: [
                "accept: */*", "content-type: application/json", "Accept-Encoding: gzip, deflate, br, zstd",
                "Cookie: a=1; b=2",
            ],
            body: "{\"it's\":\"caf\u{E9} !\u{1F600}\r\n\"}",
            remarks: ["not taken over: --insecure"]
        ),
        Case(
            name: "Chrome's for cmd",
            command: "curl ^\"https://h/a?x=^%^41^&y=1^\" ^\r\n  -H ^\"accept: */*^\" ^\r\n"
                + "  --data-raw ^\"^{^\\^\"a^\\^\":^\\^\"b^\\^\\c^\n\nd^\\^\"^}^\"",
            method: "POST",
            url: "https://h/a?x=%41&y=1",
            fields: ["accept: */*", "Content-Type: application/x-www-form-urlencoded"],
            body: "{\"a\":\"b\\\\c\nd\"}"
        ),
        Case(
            name: "Firefox's for cmd",
            command: "curl \"https://h/a\" ^\n -X POST -H \"X: \\\"q\\\"\" --data-raw \"a \"\"b\"\" & c\"",
            method: "POST",
            fields: ["X: \"q\"", "Content-Type: application/x-www-form-urlencoded"],
            body: "a \"b\" & c"
        ),
        Case(
            name: "Postman's",
            command: """
                curl --location --request POST 'https://h/a' \\
                --header 'Authorization: Bearer x' \\
                --header 'Content-Type: application/json' \\
                --data '{
                    "a": 1
                }'
                """,
            method: "POST",
            fields: ["Authorization: Bearer x", "Content-Type: application/json"],
            body: "{\n    \"a\": 1\n}",
            remarks: ["not taken over: --location"]
        ),
        Case(
            name: "data is joined, url-encoded where asked",
            command:
                "curl https://h/a -d a=1 --data-urlencode 'b=c d&é' -da=2 --data-urlencode '=x y' -sSL -o /dev/null",
            method: "POST",
            fields: ["Content-Type: application/x-www-form-urlencoded"],
            body: "a=1&b=c%20d%26%C3%A9&a=2&x%20y",
            remarks: ["not taken over: --location"]
        ),
        Case(
            name: "data as a query",
            command: "curl -G 'https://h/a?z=0' -d q=1 --data-urlencode 'r=a b'",
            url: "https://h/a?z=0&q=1&r=a%20b"
        ),
        Case(
            name: "JSON",
            command: "curl https://h/a --json '{\"a\":' --json '1}'",
            method: "POST",
            fields: ["Content-Type: application/json", "Accept: application/json"],
            body: "{\"a\":1}"
        ),
        Case(
            name: "credentials, agent, referer, range",
            command: "curl -u user:pass -A me -e https://r/ -r 0-9 -I h/a",
            method: "HEAD",
            url: "http://h/a",
            fields: ["Authorization: Basic dXNlcjpwYXNz", "User-Agent: me", "Referer: https://r/", "Range: bytes=0-9"]
        ),
        Case(
            name: "credentials in the URL",
            command: "curl https://u%40x:p@h/a@b#frag",
            url: "https://h/a@b",
            fields: ["Authorization: Basic dUB4OnA="]
        ),
        Case(
            name: "an empty and a removed field",
            command: "curl -H 'X;' -H 'Accept:' -A '' https://h/a",
            fields: ["X: "]
        ),
        Case(
            name: "a pipe into it",
            command: "printf 'a\\r\\n\\000%%\\\\\\342\\200\\256' | curl --data-binary @- https://h/a",
            method: "POST",
            fields: ["Content-Type: application/x-www-form-urlencoded"],
            body: "a\r\n\0%\\\u{202E}"
        ),
        Case(
            name: "what is not known is named",
            command: "$ curl --frobnicate -x p:1 --cacert f https://h/a https://h/b | jq . > out; rm x",
            remarks: [
                "not taken over: --frobnicate, --proxy, --cacert, the URL https://h/b",
                "not taken over: the commands after '|'",
            ]
        ),
        Case(
            name: "the shell's variables stay as they are",
            command: "curl \"https://h/a\" -H \"Authorization: Bearer $TOKEN\" # a comment",
            fields: ["Authorization: Bearer $TOKEN"],
            remarks: ["not taken over: shell expansions, which stay as they are"]
        ),
        Case(
            name: "a command in a word",
            command: "curl https://h/a -H \"X: $(jq -r \".a b\" f) c\" -d $((1 + 2))",
            method: "POST",
            fields: ["X: $(jq -r \".a b\" f) c", "Content-Type: application/x-www-form-urlencoded"],
            body: "$((1 + 2))",
            remarks: ["not taken over: shell expansions, which stay as they are"]
        ),
        Case(
            name: "an ampersand without quotes",
            command: "curl https://h/a?x=1&y=2",
            url: "https://h/a?x=1",
            remarks: [
                "not taken over: what follows an '&' that is not in quotes",
                "not taken over: the commands after the first one",
            ]
        ),
        Case(
            name: "a user alone, an open range, a query as it is, a value with an at sign",
            command: "curl -u user -r 600 https://h/a --url-query a=b\\ c --url-query +d=e%20f --url-query @f "
                + "-G --data-urlencode '@at=x'",
            url: "https://h/a?@at=x&a=b%20c&d=e%20f",
            fields: ["Authorization: Basic dXNlcjo=", "Range: bytes=600-"],
            remarks: ["not taken over: --url-query @f"]
        ),
        Case(
            name: "credentials for a challenge",
            command: "curl --digest -u u:p https://h/a",
            remarks: ["not taken over: --digest"]
        ),
        Case(
            name: "an older Chrome's for cmd, in one line",
            command: #"curl "https://h/a" --data-binary "^{^\^"name^\^":^\^"a b^\^",^\^"n^\^":^[^]^}" --compressed"#,
            method: "POST",
            fields: [
                "Accept-Encoding: gzip, deflate, br, zstd", "Content-Type: application/x-www-form-urlencoded",
            ],
            body: #"{"name":"a b","n":[]}"#
        ),
        Case(
            name: "several requests",
            command: "curl https://h/a --next -X POST https://h/b",
            remarks: ["not taken over: what follows --next"]
        ),
    ]

    @Test("commands as programs write them", arguments: cases)
    func reads(_ one: Case) throws {
        let request = try CurlCommandReader.read(one.command)
        #expect(request.method == one.method)
        #expect(request.url == one.url)
        #expect(request.fields.map { "\($0.name): \($0.value)" } == one.fields)
        #expect(String(decoding: request.body { _ in [] }, as: UTF8.self) == one.body)
        #expect(request.remarks == one.remarks)
        #expect(CurlCommandReader.isCommand(one.command))
    }

    @Test("a form has its parts, its files are read by the caller")
    func form() throws {
        let command =
            "curl https://h/a -F a=1 -F 'f=@\"x;y.png\";type=image/x' -F 't=<notes.txt' --form-string 's=@n;type=x'"
        let request = try CurlCommandReader.read(command)
        let type = try #require(request.fields.first { $0.name == "Content-Type" }?.value)
        let boundary = try #require(type.split(separator: "boundary=").last)
        #expect(request.files == ["x;y.png", "notes.txt"])
        let body = String(decoding: request.body { Array("<\($0)>".utf8) }, as: UTF8.self)
        let disposition = "Content-Disposition: form-data; name="
        #expect(
            body == "--\(boundary)\r\n\(disposition)\"a\"\r\n\r\n1\r\n"
                + "--\(boundary)\r\n\(disposition)\"f\"; filename=\"x;y.png\"\r\nContent-Type: image/x\r\n\r\n<x;y.png>\r\n"
                + "--\(boundary)\r\n\(disposition)\"t\"\r\n\r\n<notes.txt>\r\n"
                + "--\(boundary)\r\n\(disposition)\"s\"\r\n\r\n@n;type=x\r\n--\(boundary)--\r\n"
        )
    }

    @Test("a boundary is appended to the type that a command has")
    func boundary() throws {
        let request = try CurlCommandReader.read("curl https://h/a -H 'Content-Type: multipart/form-data' -F a=1")
        #expect(request.fields.count == 1)
        let boundary = try #require(request.fields[0].value.split(separator: "multipart/form-data; boundary=").first)
        #expect(String(decoding: request.body { _ in [] }, as: UTF8.self).hasPrefix("--\(boundary)\r\n"))
    }

    @Test("files of data are changed as curl changes them")
    func files() throws {
        let read = { (_: String) in Array("a\r\nb\0 &".utf8) }
        let body = { (command: String) in
            String(decoding: try CurlCommandReader.read(command).body(read), as: UTF8.self)
        }
        #expect(try body("curl h -d @f") == "ab &")
        #expect(try body("curl h --data-binary @f") == "a\r\nb\0 &")
        #expect(try body("curl h --data-raw @f") == "@f")
        #expect(try body("curl h --data-urlencode n@f") == "n=a%0D%0Ab%00%20%26")
        let upload = try CurlCommandReader.read("curl -T dir/f http://h/d/")
        #expect(upload.method == "PUT" && upload.url == "http://h/d/f" && upload.files == ["dir/f"])
        #expect(try CurlCommandReader.read("curl -T dir/f http://h").url == "http://h/f")
    }

    @Test("a mark of the letter before it hides no slash, no hash and no question mark of a URL")
    func marks() throws {
        #expect(try CurlCommandReader.read("curl 'http://h/\u{301}@e/x'").url == "http://h/\u{301}@e/x")
        #expect(try CurlCommandReader.read("curl 'http://h?\u{301}@e' --url-query a=b").url == "http://h?\u{301}@e&a=b")
        #expect(try CurlCommandReader.read("curl 'http://h/a#\u{301}b'").url == "http://h/a")
        let credentials = try CurlCommandReader.read("curl 'http://u:p@\u{301}h/'")
        #expect(credentials.url == "http://\u{301}h/" && credentials.fields.map(\.name) == ["Authorization"])
    }

    @Test(
        "what is no command says why",
        arguments: [
            ("", "no words"), ("wget http://h/", "begins with 'wget'"),
            ("curl 'http://h/", "character 6 is not closed"),
            ("curl -H", "-H has no value"), ("curl -s", "no URL"), ("curl ftp://h/", "scheme is 'ftp'"),
            ("curl ^\"http://h/", "is not closed"), ("curl \"$(printf 'a", "is not closed"),
            ("curl h -F x", "NAME=VALUE"),
        ]
    )
    func refuses(_ command: String, _ reason: String) {
        #expect { try CurlCommandReader.read(command) } throws: { "\($0)".contains(reason) }
    }

    @Test(
        "our own commands come back as they were",
        arguments: CurlCase.all.filter { ($0.expectedTarget ?? $0.target) != [0x2A] }
    )
    func returns(_ one: CurlCase) throws {
        let folder = try TemporaryFolder()
        let source = MemorySource()
        let exchange = try source.add(one, port: 8080)
        let export = try folder.export([exchange], source)
        let request = try CurlCommandReader.read(bytes: export.bytes)
        #expect(request.method == one.method)
        let host = "127.0.0.1:8080"
        #expect(request.url == "http://\(host)" + (one.expectedTarget ?? one.target).filling(host).text)
        let hasFile = export.text.contains("-H '@") || export.text.contains("-H @")
        let expected = (one.expectedFields ?? one.fields).map { $0.filling(host).text }
        let isCompared = { (line: String) in
            !["content-length", "host"].contains(String(line.prefix { $0 != ":" }).lowercased())
        }
        if !hasFile {
            let fields = request.fields.map { "\($0.name): \($0.value)" }
            let normal = expected.map { line in
                let colon = line.firstIndex(of: ":") ?? line.startIndex
                let value = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                return "\(line[..<colon]): \(value)"
            }
            #expect(fields.filter(isCompared) == normal.filter(isCompared))
        }
        let body = try request.body { Array(try Data(contentsOf: URL(filePath: "\(folder.path)/\($0)"))) }
        #expect(body == one.body)
    }

    @Test("no input of the fuzzer fails", arguments: try FuzzReplay.all("Commands", seeds: CommandSeeds.all))
    func fuzz(_ input: FuzzReplay) throws {
        try CommandProbe.run(input.bytes)
    }

    @Test("hostile words and bodies come back, and no text makes it trap")
    func property() throws {
        var random = SplitMix(13)
        let pieces = [
            "'", "\"", "\\", "$'", "$(", "`", "^", "\n", "\r\n", "curl ", "-d", "@", "%", "|", "&", " ", "\0", "é",
            "\u{202E}", "\\u", "--", "x",
        ]
        for _ in 0..<2000 {
            let text = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                pieces.randomElement(using: &random) ?? ""
            }
            _ = try? CurlCommandReader.read(text.joined())
            _ = try? CurlCommandReader.read("curl h " + text.joined())
            let source = MemorySource()
            let body =
                Array(text.joined().utf8)
                + (Bool.random(using: &random) ? [UInt8.random(in: 0...255, using: &random)] : [])
            let head = "POST /x HTTP/1.1\r\nHost: h\r\nContent-Type: a/b\r\nContent-Length: \(body.count)\r\n\r\n"
            let exchange = try source.add("http://h/x", request: head, requestBody: body)
            let command = try CurlExport.command(for: exchange, source: source)
            let request = try CurlCommandReader.read(command)
            #expect(request.body { _ in [] } == body, "\(command)")
        }
    }
}
