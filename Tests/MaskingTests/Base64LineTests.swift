import Content
import Foundation
import NIOCore
import Testing

@testable import Masking

@Suite("Base64 in lines, with a secret that runs over their ends")
struct Base64LineTests {
    private static let ends = [
        "\n", "\r\n", "\\n", "\\r\\n", "\\\\n", "\\u000a", "%0A", "%0D%0A", "&#13;\n", "&#xA;", "\n    ", "\r\n\t",
    ]
    private static let beginnings = [
        "x: ", "data:application/json;base64,", "-----BEGIN MESSAGE-----\n", "base64\n", "{\"k\":\"",
        "--b\r\nContent-Type: application/json\r\nContent-Transfer-Encoding: base64\r\n\r\n", "a=1&k=",
        "line\\n", "k:\n", "k: |\n", "%22",
    ]

    /// A text in base64 in lines, the first of them as short as the beginning leaves it.
    private func lines(_ plain: String, _ width: Int, _ end: String, first: Int? = nil) -> String {
        let digits = Array(Data(plain.utf8).base64EncodedString())
        var lines: [String] = []
        var place = 0
        while place < digits.count {
            let next = min(digits.count, place + (place == 0 ? first ?? width : width))
            lines.append(String(digits[place..<next]))
            place = next
        }
        let text = lines.joined(separator: end)
        guard end.hasPrefix("%") else { return text }
        return text.replacing("+", with: "%2B").replacing("/", with: "%2F").replacing("=", with: "%3D")
    }

    @Test("By name and known, at each place of the lines", arguments: [60, 64, 76], ends)
    func places(width: Int, end: String) {
        for before in stride(from: 0, to: 120, by: 7) {
            let plain =
                "{\"w\":\"" + String(repeating: "?~ÿ>", count: before / 4) + String(repeating: "w", count: before % 4)
                + "\",\"password\":\"\(chance)\",\"z\":\"\(String(repeating: "z", count: 60))\"}"
            let text = lines(plain, width, end)
            let masked = Masked.text("x: \(text) y")
            #expect(masked.hasPrefix("x: sluice-") && masked.hasSuffix("-1 y") && masked.count < 24, "\(masked)")
            let known = Masked.text("x: \(text.dropLast(4)) y", knowing: [String(chance.dropLast(2))])
            #expect(!known.contains(text.suffix(40).prefix(20)), "\(known)")
        }
    }

    @Test("Whatever stands before the lines", arguments: beginnings, ["\n", "\r\n", "\\n"])
    func before(beginning: String, end: String) {
        let plain = "words and words and more words, {\"password\":\"\(chance)\"} and words at the end of all of it"
        for first in [nil, 20, 47] {
            let text = lines(plain, 64, end, first: first)
            let masked = Masked.text(beginning + text + "\"\n")
            #expect(masked == beginning + "sluice-token-1\"\n", "\(first ?? 0) \(masked)")
        }
        let pem = "-----BEGIN MESSAGE-----\(end)\(lines(plain, 64, end))\(end)-----END MESSAGE-----"
        #expect(
            Masked.text(pem) == "-----BEGIN MESSAGE-----\(end)sluice-token-1\(end)-----END MESSAGE-----"
        )
    }

    @Test("Compressed, in lines", arguments: ["\n", "\\r\\n"])
    func compressed(end: String) throws {
        let words = (0..<40).map { "word \($0 * 7_919)" }.joined(separator: " ")
        let packed = try ContentEncoder.encode(ByteBuffer(string: "\(words) \(chance) \(words)"), codings: [.gzip])
        let digits = Array(Data(packed.readableBytesView).base64EncodedString())
        let lines = stride(from: 0, to: digits.count, by: 76).map { String(digits[$0..<min(digits.count, $0 + 76)]) }
        let text = lines.joined(separator: end)
        #expect(Masked.text("x \(text) y", knowing: [chance]) == "x sluice-token-1 y")
    }

    @Test("In a body that is read in windows, wherever they end")
    func windows() {
        let filling = (0..<60).map { "\($0 * 104_729) words" }.joined(separator: ", ")
        for end in ["\n", "\r\n", "\\n"] {
            for offset in stride(from: 0, to: 57, by: 8) {
                let shift = String(repeating: "w", count: offset)
                let text = lines("\(filling)\(shift) {\"password\":\"\(chance)\"} \(filling)", 76, end)
                let coded = Data(chance.utf8).base64EncodedString().prefix(16)
                for window in [256, 700, 1_024] {
                    for shift in 0..<2 {
                        let body = String(repeating: "word, ", count: 40 + shift * 17) + text + " end"
                        let masked = Masked.body(Array(body.utf8), "text/plain", window: window)
                        let plain = String(decoding: masked, as: UTF8.self)
                        #expect(plain.hasSuffix(" end"))
                        let rest = plain.replacing(end, with: "")
                        for place in 0..<3 {
                            let shifted = String(repeating: "a", count: place) + chance
                            let digits = Data(shifted.utf8).base64EncodedString().dropFirst(4).prefix(12)
                            #expect(!rest.contains(digits) && !rest.contains(coded), "\(window) \(shift)")
                        }
                    }
                }
            }
        }
    }

    @Test("Lines that hold no secret stay, and so do lists of digests and paths")
    func ordinary() {
        let words = String(repeating: "only ordinary words stand in this text, of no use to anyone. ", count: 9)
        let digests = (0..<8).map { number in
            (0..<64).map { String((number * 131 + $0 * $0 * 7) % 16, radix: 16) }.joined()
        }.joined(separator: "\n")
        let paths = (0..<8).map { "/static/js/of/the/application/main/chunk/of/words/and/more/words/\($0)" }
            .joined(separator: "\n")
        for text in [lines(words, 76, "\r\n"), lines(words, 64, "\\n"), digests, paths] {
            #expect(Masked.text("x\n\(text)\ny", knowing: ["GingerWalrus77"]) == "x\n\(text)\ny")
        }
    }

    @Test("Signs that JSON of .NET and XML escape")
    func signs() {
        let plain = #"{"u":"bob?>","note":"???>>>~~~ÿÿ?","password":"\#(chance)","z":"???"}"#
        let digits = Data(plain.utf8).base64EncodedString()
        #expect(digits.contains("/") && digits.contains("+"))
        for (plus, slash) in [
            ("\\u002B", "/"), ("&#x2B;", "/"), ("&#43;", "&#47;"), ("%252B", "%252F"), ("+", "\\\\\\/"),
        ] {
            let text = digits.replacing("+", with: plus).replacing("/", with: slash)
            #expect(Masked.text("{\"k\":\"\(text)\"}") == #"{"k":"sluice-token-1"}"#, "\(plus)")
        }
        for (first, sign) in [("/", "\\/"), ("+", "\\u002B"), ("/", "%2F"), ("+", "%2B")] {
            let start: [UInt8] = first == "/" ? [0xFC, 0x3F, 0x3F] : [0xF8, 0x3F, 0x3F]
            let digits = Data(start + Array(chance.utf8)).base64EncodedString()
            #expect(digits.hasPrefix(first))
            let text = "{\"k\":\"\(sign)\(digits.dropFirst())\"}"
            #expect(Masked.text(text, knowing: [chance]) == #"{"k":"sluice-token-1"}"#, "\(sign)")
        }
        for before in ["line\\n", "\\u0022", "%22", "%2522"] {
            let text = Data(#"{"password":"\#(chance)"}"#.utf8).base64EncodedString()
            #expect(Masked.text("x \(before)\(text) y") == "x \(before)sluice-token-1 y", "\(before)")
        }
    }

    @Test("A JSON Web Token in the line before is masked, too")
    func webToken() {
        let token = "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLXNpZ25hdHVyZQ"
        let text = lines(String(repeating: "words ", count: 30) + "{\"password\":\"\(chance)\"} words", 64, "\n")
        let masked = Masked.text("x \(token)\n\(text)\ny")
        #expect(masked.hasPrefix("x sluice-") && masked.hasSuffix("\ny") && masked.count < 50, "\(masked)")
    }
}
