import HTTPModel
import NIOCore
import Testing
import Wire

@testable import ProxyServer

@Suite("Answers to clients of SOCKS")
struct SOCKS5ReplyTests {
    @Test("The answer says what became of the connection")
    func replies() {
        func reply(_ status: Int, _ code: ExchangeFailure.Code?) -> UInt8 {
            SOCKS5Reply(status: status, failure: code.map { ExchangeFailure($0, "") }).rawValue
        }
        #expect(reply(200, nil) == 0)
        #expect(reply(403, nil) == 2)
        #expect(reply(508, .loop) == 2)
        #expect(reply(502, .dns) == 4)
        #expect(reply(502, .connect) == 5)
        #expect(reply(504, .timeout) == 6)
        #expect(reply(503, .stopped) == 1)
        #expect(SOCKS5Reply.refused.bytes == ByteBuffer(bytes: [5, 5, 0, 1, 0, 0, 0, 0, 0, 0]))
    }
}
