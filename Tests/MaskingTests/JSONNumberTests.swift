import Foundation
import HTTPModel
import Testing

@testable import Masking

@Suite("A number stays a number")
struct JSONNumberTests {
    private func masked(_ text: String, after first: String, _ rules: MaskRules = MaskRules()) -> String {
        let mask = TextMask(rules)
        _ = mask.masked(first, .text)
        _ = mask.masked(text, .text)
        mask.endCollecting()
        return mask.masked(text, .text) ?? text
    }

    @Test(
        "A secret that stands as a number elsewhere",
        arguments: [
            (#"{"n":12345678,"s":"12345678"}"#, #"{"n":900000001,"s":"sluice-password-1"}"#),
            ("{\"n\" :\n 12345678\n}", "{\"n\" :\n 900000001\n}"), ("[12345678, 7]", "[900000001, 7]"),
            ("[7,12345678]", "[7,900000001]"), (#"{"n":-12345678}"#, #"{"n":900000001}"#),
            (#"{"n":12345678.25}"#, #"{"n":900000001}"#), (#"{"a":"{\"n\":12345678}"}"#, #"{"a":"{\"n\":900000001}"}"#),
            ("number: 12345678, so", "number: sluice-password-1, so"), ("12345678", "sluice-password-1"),
            (#"{"n":"a-12345678"}"#, #"{"n":"a-sluice-password-1"}"#),
        ]
    )
    func again(text: String, expected: String) {
        #expect(masked(text, after: #"{"password":"12345678"}"#) == expected)
        if text.hasPrefix("{") { #expect((try? JSONSerialization.jsonObject(with: Data(expected.utf8))) != nil) }
    }

    @Test("Numbers of different kinds are different, and what 32 bits can hold")
    func kinds() throws {
        let masked = Masked.text(#"{"pin":4711,"otp":123456,"cvv":321,"otp2":{"otp":654321}}"#)
        #expect(masked == #"{"pin":900000001,"otp":908000001,"cvv":900000002,"otp2":{"otp":908000002}}"#)
        var all: Set<String> = []
        for kind in SecretKind.allCases {
            for number in [0, 1, SecretBook.most] {
                let digits = Placeholder(kind: kind, number: number).digits
                #expect(Int32(digits) != nil && all.insert(digits).inserted)
            }
        }
    }

    @Test("A card's number that is found by its look")
    func card() {
        let rules = Masked.rules(patterns: [.card])
        let text = #"{"num":4111111111111111,"s":"4111 1111 1111 1111"}"#
        let masked = Masked.text(text, .text, rules)
        #expect(masked == #"{"num":905000001,"s":"sluice-card-2"}"#)
    }

    @Test("In bytes of which the length stays, the number has it, too")
    func length() {
        let placeholder = Placeholder(kind: .password, number: 12)
        for (length, digits) in [(1, "9"), (3, "912"), (9, "900000012"), (12, "999900000012")] {
            #expect(String(decoding: placeholder.digits(fitting: length), as: UTF8.self) == digits)
        }
    }
}
