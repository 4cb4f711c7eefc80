import Testing
import Text

@Suite("Base64 in text")
struct Base64TextTests {
    private func decoded(_ text: String) -> String? {
        Base64Text.decode(text.utf8).map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("base64 and base64url are read, padded or not")
    func read() {
        #expect(decoded("") == "")
        #expect(decoded("YQ==") == "a" && decoded("YQ") == "a" && decoded("YWI") == "ab" && decoded("YWI=") == "ab")
        #expect(decoded("YWJj\nZGVm") == "abcdef")
        #expect(Base64Text.decode("-_-_+/+/".utf8) == [0xFB, 0xFF, 0xBF, 0xFB, 0xFF, 0xBF])
        for wrong in ["Y", "YQ=", "YQ===", "Y=Q=", "YW?j", "YWJj="] { #expect(decoded(wrong) == nil, "\(wrong)") }
    }

    @Test("strictly, there are no spaces in it, and base64url is none")
    func strict() {
        func decoded(_ text: String) -> [UInt8]? { Base64Text.decode(strict: text.utf8) }
        #expect(decoded("YWI=") == [0x61, 0x62] && decoded("YWI") == [0x61, 0x62] && decoded("+/+/")?.count == 3)
        for wrong in ["YW I", "YWI\n", "\tYWI", "-_-_", "Y", "YWI=="] { #expect(decoded(wrong) == nil, "\(wrong)") }
    }
}
