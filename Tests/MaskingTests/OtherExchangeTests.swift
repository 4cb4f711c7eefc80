import Content
import Foundation
import HTTPModel
import NIOCore
import Support
import Testing

@testable import Masking

@Suite("Secrets that other exchanges show")
struct OtherExchangeTests {
    /// A text of an export, masked where another exchange of the session has `others`.
    private func masked(_ text: String, others: [String]) -> (text: String, mask: TextMask) {
        let mask = TextMask()
        mask.expectOthers()
        _ = mask.masked(text, .text)
        mask.beginOthers()
        for other in others { _ = mask.masked(other, .text) }
        mask.endCollecting()
        return (mask.masked(text, .text) ?? text, mask)
    }

    @Test(
        "They are masked in any form in which they stand in what is exported",
        arguments: [
            { $0 }, { "x=\($0);" }, { Data($0.utf8).base64EncodedString() },
            { Data("a\($0)".utf8).base64EncodedString() },
            { Data("ab and more words \($0) behind".utf8).base64EncodedString() },
            { $0.utf8.map { "%" + String($0, radix: 16) }.joined() }, { $0.utf8.map { "&#\($0);" }.joined() },
            { $0.utf8.map { String($0, radix: 16) }.joined() }, { $0.replacing("/", with: "\\/") },
            { $0.replacing("/", with: "%2F").replacing("+", with: "%2B") },
        ] as [@Sendable (String) -> String]
    )
    func forms(form: @Sendable (String) -> String) {
        for secret in [chance, "a/b+c/\(chance)/d", "eyJhbGciOi.\(chance).x"] {
            for text in ["a text with \(form(secret)) in it", "at its end \(form(secret))"] {
                let (found, mask) = masked(text, others: [#"{"password":"\#(secret)"}"#])
                #expect(!found.contains(form(secret)) && found.contains("sluice-"), "\(found)")
                #expect(!mask.secrets.isEmpty && mask.secretCount == mask.secrets.count)
            }
        }
    }

    @Test("Compressed, too, and what is no text")
    func packed() throws {
        let packed = try ContentEncoder.encode(ByteBuffer(string: "a log with \(chance) in it"), codings: [.gzip])
        let text = "x \(Data(packed.readableBytesView).base64EncodedString()) y"
        #expect(masked(text, others: [#"{"password":"\#(chance)"}"#]).text.hasPrefix("x sluice-"))
    }

    @Test("Those of what is exported have the first numbers; those that stand nowhere in it have none")
    func numbers() {
        let others = (0..<3_000).map { #"{"token":"un-\#($0)-known-\#($0 * 7_919)","access":"x"}"# }
        let (text, mask) = masked(
            #"{"token":"own-1f5e9c27","log":"\#(chance)"}"#,
            others: others + [#"{"token":"\#(chance)"}"#]
        )
        #expect(text == #"{"token":"sluice-token-1","log":"sluice-token-2"}"#)
        #expect(mask.secrets.map(\.placeholder.number) == [1, 2] && mask.secretCount == 2)
        #expect(mask.book.entries.count < 10, "\(mask.book.entries.count) of 3,001 are remembered")
    }

    @Test("Texts in others that look like secrets are not listed")
    func suspects() {
        let mask = TextMask()
        mask.expectOthers()
        _ = mask.masked("nothing", .text)
        mask.beginOthers()
        _ = mask.masked("x q7Xv2LmN8rT4wZ1yB6cD9eF3 y", .text)
        mask.endCollecting()
        #expect(mask.suspects.isEmpty)
    }

    @Test("A line has none of the secrets that a head of its exchange names, nor have later lines")
    func heads() throws {
        let mask = RecordMask(MaskRules())
        let token = "Zq7Xv2LmN8rT4wZ1"
        func line(_ change: (inout ExchangeMessages) -> Void) throws -> String {
            let record = ExchangeRecord(
                id: ExchangeID(1),
                kind: .http,
                startedAt: 0,
                method: "GET",
                url: RequestURL(scheme: "http", host: "h", port: 80, path: "/of/\(token)", query: "x=\(chance)"),
                clientConnection: ConnectionID(1)
            )
            var messages = ExchangeMessages()
            change(&messages)
            return mask.masked(RecordedExchange(record: record, messages: messages)).url.description
        }
        #expect(try line { _ in }.contains(token))
        let requestHead = ByteBuffer(string: "GET / HTTP/1.1\r\nAuthorization: Bearer \(token)\r\n\r\n")
        #expect(try line { $0.requestHead = requestHead } == "http://h/of/sluice-token-1?x=\(chance)")
        let responseHead = ByteBuffer(string: "HTTP/1.1 200 OK\r\nX-Auth-Token: \(chance)\r\n\r\n")
        #expect(try line { $0.responseHead = responseHead } == "http://h/of/sluice-token-1?x=sluice-token-2")
        #expect(try line { _ in } == "http://h/of/sluice-token-1?x=sluice-token-2")
    }

    @Test(
        "What a failed replay says to try has no secrets",
        arguments: [
            (
                "GET http://h/a?token=hunter22abc&n=1: no answer.",
                "GET http://h/a?token=sluice-token-1&n=1: no answer."
            ),
            (
                #"The nearest is exchange 3: body $.token is "a1b2c3d4e5", recorded "hunter22abc"."#,
                #"The nearest is exchange 3: body $.token is "sluice-token-1", recorded "sluice-token-2"."#
            ),
            (
                #"It: query field 'api_key' is missing, recorded "hunter22abc"; body $.n and 2 more differ too."#,
                #"It: query field 'api_key' is missing, recorded "sluice-key-1"; body $.n and 2 more differ too."#
            ),
            (
                "It: body $.pin is 4711, recorded 9876.",
                "It: body $.pin is sluice-password-1, recorded sluice-password-2."
            ),
            (
                #"It: body $["my password"][0] is "hunter22abc", recorded without it."#,
                #"It: body $["my password"][0] is "sluice-password-1", recorded without it."#
            ),
            (
                #"It: body $.token is "hunter22abc…, recorded "x.y.z"."#,
                #"It: body $.token is "sluice-token-1, recorded "sluice-token-2"."#
            ),
            (
                #"It: query field 'code' is "9f3A7c21Bd08e6Qz", recorded "none"; query field 'key' is "name", recorded "id"."#,
                #"It: query field 'code' is "sluice-code-1", recorded "none"; query field 'key' is "name", recorded "id"."#
            ),
            (
                #"It: header 'authorization' is "Bearer a1b2c3d4e5", recorded "Bearer hunter22abc"."#,
                #"It: header 'authorization' is "Bearer sluice-credential-1", recorded "Bearer sluice-credential-2"."#
            ),
            (
                #"It: header 'cookie' is "a=hunter22abc; b=otter17", recorded without it."#,
                #"It: header 'cookie' is "a=sluice-cookie-1; b=sluice-cookie-2", recorded without it."#
            ),
            (
                #"It: header 'x-auth' is "hunter22abc", recorded "a1b2c3d4e5"."#,
                #"It: header 'x-auth' is "sluice-token-1", recorded "sluice-token-2"."#
            ),
            (
                #"It: query field 'user[password]' is "hunter22abc", recorded without it."#,
                #"It: query field 'user[password]' is "sluice-password-1", recorded without it."#
            ),
            (
                #"It: body $.dsn is "db://u:hunter22abc@h", recorded "x"; body $.signature is "of a method", recorded "x"."#,
                #"It: body $.dsn is "db://u:sluice-password-1@h", recorded "x"; body $.signature is "of a method", recorded "x"."#
            ),
            (#"It: body $.secret is "Show the secret.", recorded "Hide it!"."#, nil),
            (
                #"It: body $.password is "maple otter and…, recorded "none"."#,
                #"It: body $.password is "sluice-password-1, recorded "none"."#
            ),
            (#"It: body $.page is 3, recorded 2. What is that?"#, nil),
        ]
    )
    func hints(_ hint: String, _ expected: String?) {
        let mask = TextMask()
        _ = mask.masked(hint: hint)
        mask.endCollecting()
        #expect(mask.masked(hint: hint) == expected)
        var record = ExchangeRecord(
            id: ExchangeID(1),
            kind: .http,
            startedAt: 0,
            method: "GET",
            url: RequestURL(scheme: "http", host: "h", port: 80, path: "/", query: nil),
            clientConnection: ConnectionID(1)
        )
        record.failure = ExchangeFailure(.notRecorded, "Nothing", hint: hint)
        #expect(RecordMask(MaskRules()).masked(record).failure?.hint == expected ?? hint)
    }

    @Test("A line of what is listed has a secret nowhere, also before the place that names it, nor have later lines")
    func lines() throws {
        let mask = RecordMask(MaskRules())
        func line(_ path: String, _ query: String?, _ comment: String) -> String {
            var record = ExchangeRecord(
                id: ExchangeID(1),
                kind: .http,
                startedAt: 0,
                method: "GET",
                url: RequestURL(scheme: "http", host: "h", port: 80, path: path, query: query),
                clientConnection: ConnectionID(1)
            )
            record.extras.annotation.comment = comment
            let masked = mask.masked(record)
            return "\(masked.url) \(masked.extras.annotation.comment ?? "") \(masked.extras.masked)"
        }
        let comment = "look: token=\(chance) and \(chance)"
        #expect(
            line("/of/\(chance)/x", nil, comment)
                == #"http://h/of/sluice-token-1/x look: token=sluice-token-1 and sluice-token-1 ["URL", "comment"]"#
        )
        #expect(line("/\(chance)", nil, "") == #"http://h/sluice-token-1  ["URL"]"#)
        var record = ExchangeRecord(
            id: ExchangeID(2),
            kind: .http,
            startedAt: 0,
            method: chance,
            url: RequestURL(scheme: "http", host: "h", port: 80, path: "/"),
            clientConnection: ConnectionID(1)
        )
        let named = mask.masked(record)
        #expect(named.method == "sluice-token-1" && named.extras.masked == ["method"])
        record.method = "PROPFIND"
        #expect(mask.masked(record).method == "PROPFIND")
        // However many there are, the same line has none.
        for number in 0..<5_000 {
            let secret = "\(chance)\(number)"
            #expect(!line("/\(secret)", "token=\(secret)", "").contains(secret))
        }
    }
}
