import HTTPModel
import NIOCore
import Testing

@testable import Masking

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
