import Foundation
import Testing

@testable import Masking

@Suite("Secrets are known by their look")
struct RunScannerTests {
    @Test("JSON Web Tokens and keys of services")
    func shapes() {
        let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLXNpZ25hdHVyZQ"
        #expect(Masked.text("a \(token), b") == "a sluice-token-1, b")
        let key = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
        #expect(Masked.text("a=\(key) b") == "a=sluice-key-1 b")
        #expect(Masked.text("eyJust.a.word") == "eyJust.a.word")
    }

    @Test("Private keys, also where their lines end as in JSON", arguments: ["\n", "\\n", "\r\n"])
    func privateKeys(lineEnd: String) {
        let body = ["MIIEvQIBADANBgkqhkiG9w0BAQEFAASC", "BKcwggSjAgEAAoIBAQC7"].joined(separator: lineEnd)
        let text = "x -----BEGIN RSA PRIVATE KEY-----\(lineEnd)\(body)\(lineEnd)-----END RSA PRIVATE KEY----- y"
        #expect(
            Masked.text(text) == "x -----BEGIN RSA PRIVATE KEY-----sluice-private-key-1-----END RSA PRIVATE KEY----- y"
        )
        #expect(Masked.text("-----BEGIN PUBLIC KEY-----\nMIIB") == "-----BEGIN PUBLIC KEY-----\nMIIB")
    }

    @Test("A known secret in base64, wherever it begins in a group, in text and in binary data")
    func base64() {
        for before in 0..<6 {
            for filling in ["a", "\u{1}", "\u{FF}"] {
                let plain =
                    String(repeating: filling, count: before) + chance + String(repeating: filling, count: 5 - before)
                let digits = Data(plain.utf8).base64EncodedString()
                for text in [
                    digits, digits.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: ""),
                ] {
                    let masked = Masked.text("x " + text + " y", knowing: [chance])
                    #expect(masked.hasPrefix("x ") && masked.hasSuffix(" y") && masked.contains("sluice-token-"))
                    #expect(!masked.contains(text.dropFirst(8).prefix(8)), "\(before) \(masked)")
                }
            }
        }
    }

    @Test("Fields in base64, in base64 twice, and in lines", arguments: ["\n", "\r\n", "\\n", "\\r\\n"])
    func packed(lineEnd: String) {
        let once = Data(#"{"user":"bob","client_secret":"abcdef"}"#.utf8).base64EncodedString()
        let twice = Data(once.utf8).base64EncodedString()
        #expect(Masked.text("x \(once) y") == "x sluice-token-2 y")
        #expect(Masked.text("x \(twice) y").hasPrefix("x sluice-token-"))
        let long =
            String(repeating: "words ", count: 8) + "\"password\":\"abcdef\", " + String(repeating: "words ", count: 20)
        let digits = Array(Data(long.utf8).base64EncodedString())
        let lines = stride(from: 0, to: digits.count, by: 64).map { String(digits[$0..<min(digits.count, $0 + 64)]) }
        #expect(Masked.text("x: " + lines.joined(separator: lineEnd) + " y").contains("sluice-token-"))
        let ordinary = Data("only ordinary words stand in this text, of no use to anyone".utf8).base64EncodedString()
        #expect(Masked.text(ordinary) == ordinary)
    }

    @Test("E-mail addresses and cards by choice; a card has Luhn's digit")
    func patterns() {
        let text = "to bob.x@example.com, 4111 1111 1111 1111, 4111 1111 1111 1112, @x, a@b"
        #expect(Masked.text(text) == text)
        #expect(
            Masked.text(text, .text, Masked.rules(patterns: [.email, .card]))
                == "to sluice-email-1, sluice-card-1, 4111 1111 1111 1112, @x, a@b"
        )
    }

    @Test("Ordinary values stay and are not suspected")
    func ordinary() {
        let mask = TextMask()
        let text =
            "0b7c2ee0-7b1c-4a1e-9d53-0a8e4a1f1d11 /static/app-name/some/long/path/to/things.css ordinary-words-in-a-row-of-them"
        #expect(mask.masked(text, .text) == nil && mask.suspects.isEmpty)
        _ = mask.masked("x \(chance)\(chance)Xy y", .text)
        #expect(mask.suspects.map(\.beginning) == [String(chance.prefix(6))])
    }
}
