import HTTPModel
import NIOCore
import Testing

@testable import Masking

@Suite("What was masked is masked again")
struct MaskedAgainTests {
    private static let record = ExchangeRecord(
        id: ExchangeID(1),
        kind: .http,
        startedAt: 0,
        method: "GET",
        url: RequestURL(scheme: "http", host: "h", port: 80, path: "/"),
        clientConnection: ConnectionID(1)
    )

    /// Texts masked together; `parts` says which of an exchange an earlier export masked.
    private func masked(_ texts: [String], _ syntax: ScanSyntax, parts: [String]) -> [String] {
        var record = MaskedAgainTests.record
        record.extras.masked = parts
        let mask = TextMask()
        mask.begin(record)
        for text in texts { _ = mask.masked(text, syntax) }
        mask.endCollecting()
        return texts.map { mask.masked($0, syntax) ?? $0 }
    }

    @Test("A number that stands for a secret stays, and new ones come after it")
    func numbers() {
        let text = #"{"pin":4711,"cvv":[123,456],"other":{"pin":4712},"token":"\#(chance)"}"#
        let once = masked([text], .text, parts: [])
        #expect(once != [text])
        #expect(masked(once, .text, parts: ["response body"]) == once)
        let more = masked(once + [#"{"pin":9915}"#], .text, parts: ["response body"])
        #expect(Array(more.dropLast()) == once && more.last == #"{"pin":900000005}"#)
    }

    @Test("A number of that form that no export gave is a secret")
    func otherNumbers() {
        #expect(masked([#"{"pin":900000007}"#], .text, parts: []) == [#"{"pin":900000001}"#])
        for number in ["913000001", "900065537", "90000001", "9000000011"] {
            #expect(masked(["{\"pin\":\(number)}"], .text, parts: ["URL"]) != ["{\"pin\":\(number)}"])
        }
    }

    @Test(
        "A placeholder that was cut to the length of its secret stays in bytes",
        arguments: ["hunter2", "hunter2word", "pw"]
    )
    func cut(secret: String) {
        let bytes = [0, 1, 2] + Array(#"{"password":"\#(secret)"}"#.utf8) + [0, 7, 0xFF]
        var record = MaskedAgainTests.record
        func again(_ bytes: [UInt8]) -> (bytes: [UInt8], secrets: Int) {
            let mask = TextMask()
            mask.begin(record)
            func pass() -> [UInt8] {
                bytes.withUnsafeBytes {
                    Mark.replaced(mask.marks(in: $0, .text, isBinary: true), in: $0[...], keepsLength: true, mask.book)
                }
            }
            _ = pass()
            mask.endCollecting()
            return (pass(), mask.secretCount)
        }
        let once = again(bytes)
        #expect(once.secrets == 1 && once.bytes != bytes)
        record.extras.masked = ["response body"]
        #expect(again(once.bytes) == (once.bytes, 0))
    }
}

@Suite("A list whose session was read for its secrets")
struct KnownSessionTests {
    @Test("All of its secrets are looked for, however many there are")
    func many() {
        let mask = TextMask()
        let secrets = (0..<5_000).map { "Maple-Otter-\($0 + 10_000)" }
        for secret in secrets { _ = mask.masked(#"{"token":"\#(secret)"}"#, .text) }
        mask.endCollecting()
        let record = RecordMask(mask)
        for (place, secret) in [(1, secrets[0]), (5_000, secrets[4_999])] {
            let exchange = ExchangeRecord(
                id: ExchangeID(1),
                kind: .http,
                startedAt: 0,
                method: "GET",
                url: RequestURL(scheme: "http", host: "h", port: 80, path: "/a/\(secret)"),
                clientConnection: ConnectionID(1)
            )
            #expect(record.masked(exchange).url.path == "/a/sluice-token-\(place)")
        }
    }

    @Test("The name of a secret that has another one in it is masked")
    func names() {
        let mask = TextMask()
        _ = mask.masked(#"{"token":"Maple-Otter-17"}"#, .text)
        let head = ByteBuffer(string: "GET / HTTP/1.1\r\nCookie: Maple-Otter-17=Maple-Otter-18\r\n\r\n")
        _ = HeadMask(mask: mask).masked(head, isRequest: true)
        mask.endCollecting()
        #expect(mask.secrets.map(\.name) == ["token", "cookie sluice-token-1"])
    }
}
