import Foundation
import Testing

@testable import Masking

@Suite("A known secret that is spelled as numbers, in quoted-printable, or as shells have it")
struct RespelledTextTests {
    private func list(_ secret: String, _ format: String, _ separator: String) -> String {
        secret.utf8.map { String(format: format, $0) }.joined(separator: separator)
    }

    @Test(
        "Numbers with signs between",
        arguments: [
            ("%02X", ":"), ("%02x", ":"), ("%02x", " "), ("%02X", "-"), ("0x%02x", ", "), ("0x%02X", ","),
            ("%02x", "\n"),
            ("%d", ","), ("%d", ", "), ("%d", ",\n            "), ("%d", " "),
        ]
    )
    func numbers(format: String, separator: String) {
        for secret in [chance, "12345678", "p\u{E4}ss=wort/one", "q7Rz/Wal+Kx=2bM9"] {
            let spelled = list(secret, format, separator)
            for (before, after) in [
                ("x <", ">"), ("", ""), ("{\"k\":\"", "\"}"),
                ("a " + list("before-", format, separator) + separator, ""),
                ("", separator + list("-then", format, separator) + "."),
                ("words in a row of all sorts, = ", "; more of them"),
            ] {
                let masked = Masked.text(before + spelled + after, knowing: [secret])
                let isList = format == "%d" && separator != " " && before.hasPrefix("a ") && after.hasPrefix(",")
                let word = isList ? "901000001" : "sluice-token-1"
                #expect(masked == before + word + after, "\(secret) \(before)")
            }
        }
        let other = list("words of no use at all", format, separator)
        #expect(Masked.text("x \(other) y", knowing: [chance]) == "x \(other) y")
    }

    @Test("Groups of digits, as dumps have them; JSON stays JSON")
    func groups() throws {
        let digits = list(chance, "%02x", "")
        let groups = stride(from: 0, to: digits.count, by: 4).map { String(Array(digits)[$0..<$0 + 4]) }
        #expect(Masked.text("x \(groups.joined(separator: " ")) y", knowing: [chance]) == "x sluice-token-1 y")
        let buffer = "{\"type\":\"Buffer\",\"data\":[1,2,\(list(chance, "%d", ",")),3]}"
        let masked = Masked.text(buffer, knowing: [chance])
        #expect(masked == #"{"type":"Buffer","data":[1,2,901000001,3]}"#)
        #expect((try? JSONSerialization.jsonObject(with: Data(masked.utf8))) != nil)
        #expect(Masked.text("a=\(list(chance, "%d", ","))", .form, knowing: [chance]) == "a=sluice-token-1")
    }

    @Test("Other numbers stay")
    func ordinary() {
        for text in [
            "[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18]",
            "AB:CD:EF:01:23:45:67:89:AB:CD:EF:01:23:45:67:89:AB:CD:EF:01",
            "0b7c2ee0-7b1c-4a1e-9d53-0a8e4a1f1d11", "2026-01-02 10:20:30, 2026-01-03 11:21:31",
            "[256,1000,99999,1e5,-3]",
            "0x, 0x, 0x, 0x, 0x, 0x, 0x, 0x", ": : : : : : : : : : : : :", "a-b-c-d-e-f-a-b-c-d-e-f",
        ] { #expect(Masked.text(text, knowing: [chance]) == text) }
    }

    @Test("Quoted-printable, in a line and over two")
    func printed() {
        for secret in [chance, "q7Rz/Wal+Kx=2bM9", "p\u{E4}ss=wort-one"] {
            let printed = secret.utf8.map {
                $0 == 0x3D || $0 > 0x7E ? String(format: "=%02X", $0) : String(UnicodeScalar($0))
            }
            #expect(Masked.text("so \(printed.joined()) is", knowing: [secret]) == "so sluice-token-1 is")
            for place in 1..<printed.count {
                for end in ["=\r\n", "=\n"] {
                    let text = printed[..<place].joined() + end + printed[place...].joined()
                    #expect(Masked.text("a=3Db so \(text) is", knowing: [secret]) == "a=3Db so sluice-token-1 is")
                }
            }
            let escaped = printed[..<5].joined() + "=\\r\\n" + printed[5...].joined()
            #expect(Masked.text(#"{"b":"so \#(escaped) is"}"#, knowing: [secret]) == #"{"b":"so sluice-token-1 is"}"#)
        }
        let ordinary = "a=\r\nb=3D\n=\nc=\r\n="
        #expect(Masked.text(ordinary, knowing: [chance]) == ordinary)
    }

    @Test("As shells quote it")
    func shells() {
        let secret = "it's-a-Wal\"rus$77"
        for text in [
            "'" + secret.replacing("'", with: "'\\''") + "'", "'" + secret.replacing("'", with: "'\"'\"'") + "'",
            "\"" + secret.replacing("\"", with: "\\\"").replacing("$", with: "\\$") + "\"",
        ] {
            let sign = text.prefix(1)
            #expect(Masked.text("curl -d \(text)", knowing: [secret]) == "curl -d \(sign)sluice-token-1\(sign)")
        }
    }

    @Test("That another exchange shows")
    func others() {
        for text in [
            list(chance, "%02x", ":"), list(chance, "%d", ","), chance.prefix(9) + "=\r\n" + chance.dropFirst(9),
        ] {
            let mask = TextMask()
            mask.expectOthers()
            _ = mask.masked("x \(text) y", .text)
            mask.beginOthers()
            _ = mask.masked(#"{"token":"\#(chance)"}"#, .text)
            mask.endCollecting()
            let masked = mask.masked("x \(text) y", .text)
            #expect(masked == "x sluice-token-1 y")
        }
    }
}
