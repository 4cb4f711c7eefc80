import Content
import ExchangeCore
import Foundation
import HTTPModel
import NIOCore
import Testing

@testable import Runner

@Suite("A held message as text in an editor")
struct HoldDraftTests {
    private func request(_ body: String = "a=1&b=2") throws -> HeldMessage {
        try Held.request(
            "POST",
            "https://api.example.com:8443/login?x=1",
            fields: [("Accept", "*/*"), ("Content-Length", "\(body.utf8.count)"), ("X-Last", "z")],
            body: ByteBuffer(string: body)
        )
    }

    private func edited(_ message: HeldMessage, _ old: String, _ new: String) throws -> HeldMessage {
        let draft = HoldDraft(message)
        let text = draft.text.replacing(old, with: new)
        #expect(!text.utf8.elementsEqual(draft.text.utf8), "nothing was replaced")
        return try draft.apply(text)
    }

    @Test("has the absolute URL, the fields but for lengths, and the decoded body")
    func text() throws {
        #expect(
            HoldDraft(try request()).text == """
                POST https://api.example.com:8443/login?x=1 HTTP/1.1
                Host: api.example.com:8443
                Accept: */*
                X-Last: z

                a=1&b=2

                """
        )
        let coded = try ContentEncoder.encode(ByteBuffer(string: "hello\n"), coding: .gzip)
        let response = try Held.response(404, "Not Here", fields: [("Content-Encoding", "gzip")], body: coded)
        #expect(HoldDraft(response).text == "HTTP/1.1 404 Not Here\nContent-Encoding: gzip\n\nhello\n")
        #expect(HoldDraft(try Held.response()).text == "HTTP/1.1 200 OK\n\n")
    }

    @Test("that comes back as it was changes nothing, with or without the lines above it")
    func unchanged() throws {
        for message in [
            try request(), try request("ends\n"), try request(""), try Held.response(), try Held.request(body: nil),
        ] {
            let draft = HoldDraft(message)
            for text in [draft.text, "# a line\n#\n" + draft.text, "\u{FEFF}" + draft.text] {
                #expect(try draft.apply(text).isSame(as: message))
            }
            // CRLF in the head is what some editors make of it.
            let head = draft.text.components(separatedBy: "\n\n")[0]
            let text = draft.text.replacing(head + "\n\n", with: head.replacing("\n", with: "\r\n") + "\r\n\r\n")
            #expect(try draft.apply(text).isSame(as: message))
        }
    }

    @Test("says where a request goes: scheme, host, port, path and query, and Host follows")
    func place() throws {
        let message = try edited(request(), "https://api.example.com:8443/login?x=1", "http://localhost:3000/in?y=2")
        #expect(message.place == Destination(scheme: "http", host: "localhost", port: 3000))
        #expect(message.requestHead?.target == "/in?y=2")
        #expect(message.requestHead?.fields.value(of: .host) == "localhost:3000")
        #expect(message.bodyText == "a=1&b=2")
    }

    @Test("keeps a Host field that was edited with the URL, and one that was edited alone")
    func host() throws {
        let draft = HoldDraft(try request())
        let both = draft.text.replacing("api.example.com:8443/", with: "other/")
            .replacing("Host: api.example.com:8443", with: "Host: chosen")
        #expect(try draft.apply(both).requestHead?.fields.value(of: .host) == "chosen")
        let alone = try edited(request(), "Host: api.example.com:8443", "Host: alone")
        #expect(alone.requestHead?.fields.value(of: .host) == "alone")
        #expect(alone.place?.host == "api.example.com")
    }

    @Test("follows the URL with Host also where other fields were edited")
    func hostAndFields() throws {
        let draft = HoldDraft(try request())
        let text = draft.text.replacing("api.example.com:8443/", with: "other/").replacing("X-Last: z\n", with: "")
        let message = try draft.apply(text)
        #expect(
            message.headText == "POST /login?x=1 HTTP/1.1\r\nHost: other\r\nAccept: */*\r\nContent-Length: 7\r\n\r\n"
        )
    }

    @Test("takes fields in, out and about; the others keep their bytes, lengths too")
    func fields() throws {
        let latin = ByteBuffer(
            bytes: Array("GET / HTTP/1.1\r\nHost: h\r\nX-Latin: ".utf8) + [0xE9]
                + Array("\r\nContent-Length: 0\r\n\r\n".utf8)
        )
        let head = try #require(StoredHead.request(latin))
        let message = HeldMessage.request(
            head,
            body: ByteBuffer(),
            destination: Destination(scheme: "http", host: "h", port: 80)
        )
        let result = try edited(message, "Host: h\n", "X-New: ünï\nHost: h\n")
        guard case .request(let new, _, _) = result else { return }
        let expected =
            Array("GET / HTTP/1.1\r\nX-New: ünï\r\nHost: h\r\nContent-Length: 0\r\nX-Latin: ".utf8) + [0xE9]
            + Array("\r\n\r\n".utf8)
        #expect(Array(new.serialized().readableBytesView) == expected)
        #expect(new.isChanged)
        #expect(try edited(message, "Host: h\n", "").headText.hasPrefix("GET / HTTP/1.1\r\nX-Latin"))
    }

    @Test("does not mind what is odd and was there before")
    func odd() throws {
        let message = try Held.response(200, "OK", fields: [("Odd Name ", "a"), ("X", "c\u{1}")])
        let result = try edited(message, "X: c", "New: d\nX: c")
        #expect(result.headText == "HTTP/1.1 200 OK\r\nOdd Name : a\r\nNew: d\r\nX: c\u{1}\r\n\r\n")
        #expect(failure { try edited(message, "X: c", "Y: c") } != nil)
    }

    @Test("edits status and reason; a reason that nobody edited follows the status")
    func status() throws {
        let response = try Held.response(200, "OK", fields: [("A", "b")])
        #expect(try edited(response, "200 OK", "503 OK").headText == "HTTP/1.1 503 Service Unavailable\r\nA: b\r\n\r\n")
        #expect(try edited(response, "200 OK", "503 Busy").responseHead?.reason == "Busy")
        #expect(try edited(response, "200 OK", "418").responseHead?.reason == "")
    }

    @Test("edits the body, and does not mind that editors end the last line")
    func body() throws {
        #expect(try edited(request(), "a=1", "a=7").bodyText == "a=7&b=2")
        #expect(try edited(request(), "b=2\n", "b=3").bodyText == "a=1&b=3")
        #expect(try edited(request(), "b=2\n", "b=2\n\n").bodyText == "a=1&b=2\n")
        #expect(try edited(request("line\n"), "line\n", "other\n").bodyText == "other\n")
        #expect(try edited(request("line\n"), "line\n", "other").bodyText == "other")
        #expect(try edited(request("one\r\ntwo\r\n"), "one", "1").bodyText == "1\r\ntwo\r\n")
        #expect(try edited(request(), "a=1&b=2\n", "").bodyText == "")
        // To == both are the same.
        let accent = try edited(request("caf\u{E9}"), "\u{E9}", "e\u{301}")
        #expect(accent.bodyText.map { Array($0.utf8) } == Array("cafe\u{301}".utf8))
    }

    @Test(
        "keeps the bytes of a body, whatever ends its lines, where the head alone is edited",
        arguments: [
            "one\r\ntwo", "one\r\ntwo\r\n", "one\rtwo\r", "one\ntwo\r", "\r\n", "\n", "a\u{2028}b\u{85}c\u{B}\u{C}",
            "\u{FEFF}{}", "# no remark\r\n\r\n",
        ]
    )
    func ends(body: String) throws {
        for coding in [nil, ContentCoding.gzip] {
            let plain = ByteBuffer(string: body)
            let sent = try coding.map { try ContentEncoder.encode(plain, coding: $0) } ?? plain
            let fields = coding == nil ? [] : [("Content-Encoding", "gzip")]
            let message = try Held.response(200, "OK", fields: fields + [("A", "b")], body: sent)
            let kept = try edited(message, "A: b\n", "A: b\nX-Added: 1\n")
            #expect(kept.headText.contains("X-Added: 1\r\n"))
            guard case .response(_, let bytes) = kept else { return }
            #expect(bytes == sent)
        }
    }

    @Test("a line that is added at the end of a body ends as its other lines do")
    func lastLine() throws {
        let draft = HoldDraft(try request("one\r\ntwo"))
        #expect(try draft.apply(draft.text + "three\r\n").bodyText == "one\r\ntwo\r\nthree")
        #expect(try draft.apply(draft.text + "three\n").bodyText == "one\r\ntwo\r\nthree")
        #expect(try draft.apply(draft.text + "\r\n").bodyText == "one\r\ntwo\r\n")
    }

    @Test("does not break where head and body are without a line between")
    func noBody() throws {
        let draft = HoldDraft(try request())
        let message = try draft.apply("GET https://h/")
        #expect(message.headText == "GET / HTTP/1.1\r\nContent-Length: 7\r\n\r\n")
        #expect(message.bodyText == "")
    }

    @Test("keeps a body that is no text, unless its line is replaced")
    func binary() throws {
        let bytes = ByteBuffer(bytes: [0xFF, 0, 1, 2])
        let message = try Held.response(200, "OK", body: bytes)
        guard case .response(_, let kept) = try edited(message, "200 OK", "201 OK") else { return }
        #expect(kept == bytes)
        let draft = HoldDraft(message)
        #expect(draft.text.contains("<<a body of 4 bytes that is not UTF-8 text"))
        #expect(try draft.apply("HTTP/1.1 200 OK\n\ntext").bodyText == "text")
        #expect(try draft.apply("HTTP/1.1 200 OK\n\n").bodyText == "")
    }

    @Test(
        "refuses a line for a body that is no text where it is neither whole nor gone",
        arguments: [
            ("keep it>>", "keep it>>x"), ("<<a body", "x<<a body"), ("of 4 bytes", "of 5 bytes"), ("keep it>>", ""),
            ("<<a body of 4 bytes that", "that"), ("<<a body", "{}\n<<a body"), ("keep it>>", "keep it>>\n{}"),
        ]
    )
    func halfReplaced(old: String, new: String) throws {
        // Latin-1: what the charset says is not asked, since the bytes are to stay.
        let bytes = ByteBuffer(bytes: [0x63, 0x61, 0x66, 0xE9])
        let message = try Held.response(
            200,
            "OK",
            fields: [("Content-Type", "text/plain; charset=iso-8859-1")],
            body: bytes
        )
        #expect(failure { try edited(message, old, new) }?.message.contains("in place of the body") == true)
        guard case .response(_, let kept) = try edited(message, "200 OK", "201 OK") else { return }
        #expect(kept == bytes)
    }

    @Test("of a head alone refuses a body")
    func headAlone() throws {
        let message = try Held.request(body: nil)
        let draft = HoldDraft(message)
        #expect(draft.text.hasSuffix("\n\n<<the body is not held>>\n"))
        #expect(
            try draft.apply(draft.text.replacing("<<the body is not held>>\n", with: "")).bodyText == nil
        )
        #expect(
            failure { try draft.apply(draft.text.replacing("is not held>>", with: "x")) }?.message
                .contains("cannot be edited") == true
        )
    }

    @Test(
        "that is no message is refused with the line and what is wrong",
        arguments: [
            ("", "line 1"), ("\n\n", "line 1"), ("# only\n", "line 2"),
            ("GET\n\n", "line 1: the first line of a request"),
            ("GET https://a b/ HTTP/1.1\n", "line 1: the first line of a request"),
            ("GET /relative HTTP/1.1\n", "line 1: '/relative' is not an absolute URL"),
            ("# x\nG:T https://h/ HTTP/1.1\n", "line 2: 'G:T' is not a method"),
            ("GET https://h/\nHost: h\nno colon\n", "line 3: a header field needs a colon: 'no colon'"),
            ("GET https://h/\nBad Name: x\n", "line 2: 'Bad Name' is not a header field name"),
            ("GET https://h/\n folded\n", "line 2"),
            ("GET https://h/\nX: \u{1}\n", "line 2: The value of X"),
            ("GET https://h/\nContent-Length: 3\n", "line 2: Content-Length follows from the body"),
        ]
    )
    func wrong(text: String, message: String) throws {
        let error = failure { try HoldDraft(request()).apply(text) }
        #expect(error?.message.contains(message) == true, "\(error?.message ?? "no error")")
    }

    @Test(
        "of a response that is none is refused too",
        arguments: [
            "200 OK\n", "HTTP/1.1\n", "HTTP/1.1 x\n", "HTTP/1.1 99 Low\n", "HTTP/1.1 100 Continue\n",
            "HTTP/1.1 99999999999999999999 X\n", "HTTP/1.1 200 a\u{7}b\n",
        ]
    )
    func wrongResponse(text: String) throws {
        #expect(failure { try HoldDraft(Held.response()).apply(text) }?.message.contains("line 1") == true)
    }

    @Test("an asterisk target survives the journey")
    func asterisk() throws {
        let head = RequestHead(method: "OPTIONS", target: "*", fields: [("Host", "h")])
        let message = HeldMessage.request(
            head,
            body: ByteBuffer(),
            destination: Destination(scheme: "http", host: "h", port: 80)
        )
        #expect(try edited(message, "Host: h\n", "Host: h\nA: b\n").requestHead?.target == "*")
    }
}
