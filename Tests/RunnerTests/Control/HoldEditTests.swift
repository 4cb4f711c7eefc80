import Content
import ExchangeCore
import Foundation
import HTTPModel
import NIOCore
import Testing

@testable import Runner

@Suite("Edits of held messages")
struct HoldEditTests {
    private func edited(_ message: HeldMessage, _ change: (inout HoldEdit) -> Void) throws -> HeldMessage {
        try HoldEdit(change).sent().apply(to: message)
    }

    @Test("--method changes the method alone")
    func method() throws {
        let message = try edited(Held.request(fields: [("X-Odd  ", "kept ")])) { $0.method = "PATCH" }
        #expect(
            message.headText.hasPrefix(
                "PATCH /v1/users?page=1&size=20 HTTP/1.1\r\nHost: api.example.com\r\nX-Odd  : kept \r\n"
            )
        )
        for bad in ["", "TWO WORDS", "G\u{E9}T", "CONNECT"] {
            #expect(failure { try edited(Held.request()) { $0.method = bad } } != nil, "\(bad)")
        }
    }

    @Test("--url sends the request elsewhere, and Host follows")
    func url() throws {
        let message = try edited(Held.request()) { $0.url = "http://localhost:3000/other?x=%20#part" }
        #expect(message.place == Destination(scheme: "http", host: "localhost", port: 3000))
        #expect(message.requestHead?.target == "/other?x=%20")
        #expect(message.requestHead?.fields.value(of: .host) == "localhost:3000")
        let sixth = try edited(Held.request()) { $0.url = "https://[::1]/" }
        #expect(sixth.place?.host == "::1" && sixth.place?.port == 443)
        #expect(sixth.requestHead?.fields.value(of: .host) == "[::1]")
        let socket = try edited(Held.request()) { $0.url = "wss://chat.example/ws" }
        #expect(socket.place?.scheme == "https")
    }

    @Test("--url within the same place keeps what was decided about the place, and the Host field")
    func urlSamePlace() throws {
        guard case .request(let head, let body, _) = try Held.request() else { return }
        let spoofed = Destination(
            scheme: "https",
            host: "api.example.com",
            port: 443,
            serverName: "sni.example",
            address: "127.0.0.1"
        )
        let message = try edited(.request(head, body: body, destination: spoofed)) {
            $0.url = "https://api.example.com/v2"
        }
        #expect(message.place == spoofed)
        #expect(message.headText == "POST /v2 HTTP/1.1\r\nHost: api.example.com\r\n\r\n")
    }

    @Test("--url leaves a Host field alone that did not name the place, and one that is set too")
    func urlHost() throws {
        guard case .request(var head, let body, let place) = try Held.request() else { return }
        head.fields.set("Host", "kept.example")
        let preserved = try edited(.request(head, body: body, destination: place)) { $0.url = "http://other/" }
        #expect(preserved.requestHead?.fields.value(of: .host) == "kept.example")
        let both = try edited(Held.request()) {
            $0.url = "http://other/"
            $0.headers = [.init("Host", "chosen.example")]
        }
        #expect(both.requestHead?.fields.value(of: .host) == "chosen.example")
    }

    @Test(
        "--url takes what is no plain ASCII, and refuses what is no URL",
        arguments: [
            "ftp://host/", "/only/path", "https://", "https://ho st/", "https://host:99999/", "https://host/\u{7}", "",
        ]
    )
    func urlForms(bad: String) throws {
        let message = try edited(Held.request()) { $0.url = "https://host/ü b" }
        #expect(message.requestHead?.target == "/%C3%BC%20b")
        #expect(
            failure { try edited(Held.request()) { $0.url = bad } }?.message.contains("not an absolute URL") == true
        )
    }

    @Test("--path keeps the query, or brings its own")
    func path() throws {
        #expect(try edited(Held.request()) { $0.path = "/v2/ü" }.requestHead?.target == "/v2/%C3%BC?page=1&size=20")
        #expect(try edited(Held.request()) { $0.path = "/v2?a=b" }.requestHead?.target == "/v2?a=b")
        #expect(failure { try edited(Held.request()) { $0.path = "v2" } } != nil)
        #expect(failure { try edited(Held.request()) { $0.path = "/a#b" } } != nil)
    }

    @Test("Values at places are set and removed in their order, in head and body")
    func values() throws {
        let message = try Held.request(
            "GET",
            "https://h/?q=a+b%2fc&page=1",
            fields: [("Cookie", "a=1; b=2"), ("Content-Type", "application/json")],
            body: ByteBuffer(string: #"{ "user": {"id": 1.50e3}, "tags": [ ] }"#)
        )
        let result = try edited(message) {
            $0.values = [
                .init(place: "query.page", value: "2"), .init(place: "req.query.q"), .init(place: "cookie.b"),
                .init(place: "header.x-a", value: "x"), .init(place: "json.user.name", value: "Ada"),
                .init(place: "json.tags[0]", value: "7"), .init(place: "json.user.id"),
            ]
        }
        #expect(result.requestHead?.target == "/?page=2")
        #expect(result.requestHead?.fields.value(of: .cookie) == "a=1")
        #expect(result.requestHead?.fields.value(of: "x-a") == "x")
        #expect(result.bodyText == #"{ "user": {"name":"Ada"}, "tags": [7 ] }"#)
        let none = try edited(Held.request("GET", "https://h/p?a=1")) { $0.values = [.init(place: "query.a")] }
        #expect(none.requestHead?.target == "/p")
        let response = try edited(Held.response(fields: [("Set-Cookie", "a=1; Path=/")])) {
            $0.values = [.init(place: "cookie.a", value: "2")]
        }
        #expect(response.responseHead?.fields.value(of: .setCookie) == "a=2; Path=/")
    }

    @Test(
        "Places that the held message does not have are refused in words",
        arguments: [
            ("res.json.a", "The held message is a request and has no res.json.a."),
            ("status", "'status' is not a place: req has no 'status'"),
            ("header.content-length", "Content-Length follows from the body; Sluice sets it."),
            ("header.\"a b\"", "'a b' is not a header field name."),
            ("json.a", "The message cannot be edited: the body is"),
            ("cookie.a", "The value of Cookie has control characters"),
            ("path", "The message cannot be edited: req.path"),
            ("query.page[5]", "The message cannot be edited: there is no req.query.page[5]."),
        ]
    )
    func missing(place: String, words: String) throws {
        let error = failure { try edited(Held.request()) { $0.values = [.init(place: place, value: "1\n")] } }
        #expect(error?.message.lowercased().hasPrefix(words.lowercased()) == true, "\(error?.message ?? "")")
    }

    @Test("--header sets, --add-header adds, --remove-header removes")
    func headers() throws {
        let message = try Held.request(fields: [("Accept", "a"), ("X-One", "1"), ("accept", "b")])
        let set = try edited(message) { $0.headers = [.init("ACCEPT", "c"), .init("X-New", "n")] }
        #expect(set.requestHead?.fields.values(of: "accept") == ["c"])
        #expect(set.requestHead?.fields.value(of: "x-new") == "n")
        let added = try edited(message) { $0.addHeaders = [.init("Accept", "c")] }
        #expect(added.requestHead?.fields.values(of: "accept") == ["a", "b", "c"])
        let removed = try edited(message) { $0.removeHeaders = ["Accept"] }
        #expect(removed.headText.hasSuffix("\r\nHost: api.example.com\r\nX-One: 1\r\n\r\n"))
        let response = try edited(Held.response()) { $0.headers = [.init("Set-Cookie", "a=b")] }
        #expect(response.responseHead?.fields.value(of: .setCookie) == "a=b")
    }

    @Test(
        "No header can end its line, or say how long the body is",
        arguments: [
            ("X\r\nY", "a"), ("X", "a\r\nY: b"), ("X", "a\nb"), ("X", "\0"), ("", "a"), ("X Y", "a"), ("X:", "a"),
            ("Content-Length", "5"), ("transfer-encoding", "chunked"),
        ]
    )
    func badHeaders(name: String, value: String) throws {
        #expect(failure { try edited(Held.request()) { $0.headers = [.init(name, value)] } } != nil)
        #expect(failure { try edited(Held.request()) { $0.addHeaders = [.init(name, value)] } } != nil)
        #expect(failure { try edited(Held.request()) { $0.removeHeaders = [name] } } != nil)
    }

    @Test("--status changes the status and its reason phrase")
    func status() throws {
        let message = try edited(Held.response(200, "Fine")) { $0.status = 404 }
        #expect(message.headText == "HTTP/1.1 404 Not Found\r\n\r\n")
        #expect(try edited(Held.response(200, "Fine")) { $0.status = 200 }.responseHead?.reason == "Fine")
        #expect(failure { try edited(Held.response()) { $0.status = 101 } } != nil)
        #expect(failure { try edited(Held.response()) { $0.status = 1_000 } } != nil)
    }

    @Test("A request has no status, a response neither method nor URL")
    func wrongSide() throws {
        #expect(failure { try edited(Held.request()) { $0.status = 404 } }?.message.contains("request") == true)
        let edits: [(inout HoldEdit) -> Void] = [
            { $0.method = "GET" }, { $0.url = "http://h/" }, { $0.path = "/" },
        ]
        for edit in edits {
            #expect(failure { try edited(Held.response(), edit) }?.message.contains("response") == true)
        }
    }

    @Test("--body replaces the body, text or bytes")
    func body() throws {
        let text = try edited(Held.request()) { $0.body = .init(Data("héllo\r\n".utf8)) }
        #expect(text.bodyText == "héllo\r\n")
        let bytes = Data([0xFF, 0x00, 0xFE])
        guard case .request(_, let body, _) = try edited(Held.request(), { $0.body = .init(bytes) }) else { return }
        #expect(body == ByteBuffer(bytes: bytes))
        let empty = try edited(Held.request(body: ByteBuffer(string: "x"))) { $0.body = .init(Data()) }
        #expect(empty.bodyText == "")
    }

    @Test("A content coding is put on again")
    func coding() throws {
        let plain = ByteBuffer(string: #"{"plan": "free"}"#)
        let coded = try ContentEncoder.encode(plain, coding: .gzip)
        let message = try Held.response(
            fields: [("Content-Encoding", "gzip"), ("Content-Type", "application/json")],
            body: coded
        )
        let result = try edited(message) { $0.values = [.init(place: "json.plan", value: "pro")] }
        guard case .response(let head, let body?) = result else { return }
        #expect(head.fields.value(of: .contentEncoding) == "gzip")
        let decoded = ContentDecoder.decode(body, codings: [.gzip], limit: 1_000)
        #expect(String(buffer: decoded.bytes) == #"{"plan": "pro"}"#)
        let broken = try Held.response(fields: [("Content-Encoding", "gzip")], body: ByteBuffer(string: "no gzip"))
        #expect(
            failure { try edited(broken) { $0.values = [.init(place: "json.a", value: "1")] } }?.hint
                .contains("as a whole") == true
        )
        let replaced = try edited(broken) { $0.body = .init(Data("new".utf8)) }
        #expect(replaced.bodyText == "new")
    }

    @Test("A body that is not held cannot be edited, its head can")
    func streaming() throws {
        let message = try Held.request(fields: [("Content-Type", "application/x-www-form-urlencoded")], body: nil)
        let edits: [(inout HoldEdit) -> Void] = [
            { $0.body = .init(Data("x".utf8)) }, { $0.values = [.init(place: "json.a", value: "1")] },
            { $0.values = [.init(place: "form.a", value: "b")] },
        ]
        for edit in edits {
            #expect(failure { try edited(message, edit) }?.message.contains("cannot be edited") == true)
        }
        let head = try edited(message) { $0.method = "PUT" }
        #expect(head.requestHead?.method == "PUT" && head.bodyText == nil)
    }

    @Test("Forms, queries and --path leave the bytes of what they do not set, UTF-8 or not")
    func otherBytes() throws {
        let bytes = Array("a=".utf8) + [0xE9] + Array("&b=1".utf8)
        guard case .request(var head, _, let place) = try Held.form("") else { return }
        head.setTarget(Array("/".utf8) + [0xE8] + Array("?".utf8) + bytes)
        let message = try edited(.request(head, body: ByteBuffer(bytes: bytes), destination: place)) {
            $0.values = [.init(place: "form.b", value: "2"), .init(place: "query.b", value: "2")]
        }
        let after = bytes.dropLast() + Array("2".utf8)
        guard case .request(let sent, let body?, _) = message else { return }
        #expect(Array(body.readableBytesView) == Array(after))
        #expect(Array(sent.targetBytes) == Array("/".utf8) + [0xE8] + Array("?".utf8) + after)
        let moved = try edited(message) {
            $0.path = "/p"
            $0.values = [.init(place: "query.b")]
        }
        #expect(moved.requestHead.map { Array($0.targetBytes) } == Array("/p?a=".utf8) + [0xE9])
    }

    @Test("--raw excludes the others")
    func raw() throws {
        let raw = "GET https://h/ HTTP/1.1\n\n"
        let message = try edited(Held.request()) { $0.raw = raw }
        #expect(message.headText == "GET / HTTP/1.1\r\n\r\n")
        #expect(failure { try edited(Held.request()) { ($0.raw, $0.method) = (raw, "GET") } } != nil)
    }

    @Test("An edit that comes to nothing lets the message go on as it is")
    func nothing() throws {
        let message = try Held.request(fields: [("Accept", "*/*")], body: ByteBuffer(string: "x"))
        for edit in [
            HoldEdit(), HoldEdit { $0.method = "POST" }, HoldEdit { $0.headers = [.init("Accept", "*/*")] },
            HoldEdit { $0.body = .init(Data("x".utf8)) },
        ] {
            guard case .execute(nil) = try edit.resolution(for: message) else {
                Issue.record("\(edit) is no edit")
                continue
            }
        }
        guard case .execute(.some) = try HoldEdit({ $0.method = "PUT" }).resolution(for: message) else {
            Issue.record("it is an edit")
            return
        }
    }

    @Test("A misspelt member of an edit is an error, not silence")
    func misspelt() throws {
        let line = Data(#"{"command":"hold.edit","id":"1.1","edit":{"heders":[]}}"#.utf8)
        let error = failure { try ControlLine.decode(StrictRequest.self, line) }
        #expect(error?.message == "There is no member 'heders'.")
        #expect(error?.hint.contains("headers") == true)
    }

    @Test("Words of a command line are read, or refused with an example")
    func words() throws {
        #expect(try HoldEdit.header("X-A:  b: c ") == .init("X-A", "b: c"))
        #expect(try HoldEdit.header("X-A:") == .init("X-A", ""))
        #expect(failure { try HoldEdit.header("X-A b") }?.message.contains("colon") == true)
        #expect(failure { try HoldEdit.header("Content-Length: 3") } != nil)
        #expect(try HoldEdit.pair(.form, "a.b=b=c") == .init(place: "req.form.\"a.b\"", value: "b=c"))
        #expect(failure { try HoldEdit.pair(.query, "=b") } != nil)
        #expect(failure { try HoldEdit.pair(.query, "ab") } != nil)
        #expect(try HoldEdit.value("json.a.b=1=2") == .init(place: "json.a.b", value: "1=2"))
        #expect(try HoldEdit.value("json.\"a=b\"=1") == .init(place: "json.\"a=b\"", value: "1"))
        #expect(try HoldEdit.value("status=1") == .init(place: "status", value: "1"))
        #expect(failure { try HoldEdit.value("/a/0=1") }?.message.contains("write req.json.a[0]") == true)
        #expect(failure { try HoldEdit.value("jsn.a=1") }?.message.contains("did you mean 'json'?") == true)
        #expect(failure { try HoldEdit.value("json.a") }?.hint.contains("json.user.name=Ada") == true)
        #expect(try HoldEdit.content("text") == Data("text".utf8))
        #expect(try HoldEdit.content("@@text") == Data("@text".utf8))
        let missing = failure { try HoldEdit.content("@/no/such/file") }
        #expect(missing?.message == "/no/such/file cannot be read: No such file or directory.")
        let path = NSTemporaryDirectory() + "/sluice-\(UUID().uuidString)"
        try Data([0, 255]).write(to: URL(filePath: path))
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(try HoldEdit.content("@\(path)") == Data([0, 255]))
        #expect(failure { try HoldEdit.message("@\(path)") }?.message == "The message is not UTF-8 text.")
        #expect(try HoldEdit.message("GET http://h/\r\n\n\r\n") == "GET http://h/\r\n\n\r\n")
    }
}
