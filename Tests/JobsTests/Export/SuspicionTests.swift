import Content
import HTTPModel
import Masking
import NIOCore
import Testing

@testable import Jobs

@Suite("What looks like a secret is listed")
struct SuspicionTests {
    private struct NoSource: ExchangeSource {
        func exchange(_ id: ExchangeID) -> RecordedExchange? { nil }
        func body(of id: ExchangeID, side: BodySide, offset: Int64, limit: Int) -> ByteBuffer { ByteBuffer() }
    }

    private func lines(_ count: Int, all: Bool) -> [String] {
        let source = MaskedSource(NoSource(), TextMask())
        for number in 0..<count {
            source.collect(shown: "{\"ref\(number)\":\"q7Xv2Lp9Zt4Kw8Rn3Yb6Hs1J\(100 + number)\"}")
        }
        return SessionMask.suspicions(source, all: all)
    }

    @Test("with its name, the first ten, or all")
    func names() {
        #expect(lines(0, all: false).isEmpty && lines(0, all: true).isEmpty)
        #expect(lines(1, all: false).last?.hasSuffix(", ref0: q7Xv2L…") == true)
        let ten = lines(12, all: false)
        #expect(ten.count == 12 && ten.last == "  and 2 more; 'export --strict' lists all", "\(ten)")
        #expect(ten[10].hasSuffix(", ref9: q7Xv2L…"))
        let all = lines(12, all: true)
        #expect(all.count == 13 && all.last?.hasSuffix(", ref11: q7Xv2L…") == true)
    }
}
