import Foundation
import NIOCore
import Testing

@testable import Masking

@Suite("Words that are secrets of nobody")
struct CommonWordTests {
    /// A text masked in a session that has another one before it.
    private func masked(_ text: String, after first: String, head: String? = nil) -> String {
        let mask = TextMask()
        _ = mask.masked(first, .text)
        if let head { _ = HeadMask(mask: mask).masked(ByteBuffer(string: head), isRequest: true) }
        _ = mask.masked(text, .text)
        mask.endCollecting()
        return mask.masked(text, .text) ?? text
    }

    @Test(
        "Of a URL and of Basic they are masked in their place, and stay in others",
        arguments: ["password", "username", "changeme", "Passwort", "postgres", "anonymous"]
    )
    func words(word: String) {
        let text = "a \(word) of {\"\(word)_label\":\"bob\",\"x\":\"\(word)\"}"
        #expect(masked(text, after: "see https://user:\(word)@host.example/ there") == text)
        let basic = Data("x:\(word)".utf8).base64EncodedString()
        #expect(masked(text, after: "", head: "GET / HTTP/1.1\r\nAuthorization: Basic \(basic)\r\n\r\n") == text)
        #expect(masked(text, after: "{\"token\":\"\(word)\"}") == text)
        let url = "https://user:\(word)@host.example/"
        #expect(Masked.text(url, .field) == "https://user:sluice-password-1@host.example/")
    }

    @Test(
        "A word of a language and a path of words are masked where their name is, and stay in others",
        arguments: ["function", "Dogecoin", "Password*", "#password", "/password/reset", "https://example.com/login"]
    )
    func places(value: String) {
        let first = "{\"password\":\"\(value)\"}"
        for text in [
            "<a><password>\(value)</password></a>", "{\"\(value)\":{\"type\":\"\(value)\"}}", "/docs\(value)/x",
        ] {
            let after = masked(text, after: first)
            #expect(after.replacing("sluice-password-1", with: value) == text)
            #expect(after == text || text.hasPrefix("<"), "\(after)")
        }
    }

    @Test("A password that is no such word is found again")
    func others() {
        #expect(masked("a MapleOtter42 b", after: "https://u:MapleOtter42@h.example/") == "a sluice-password-1 b")
    }
}
