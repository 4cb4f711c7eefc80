import Content
import Foundation
import NIOCore
import Support
import Testing

@testable import Masking

@Suite("Bodies are masked in pieces")
struct BodyMaskTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test("However a body is cut into pieces and windows, it is masked as one", arguments: 0..<30)
    func splits(seed: UInt64) {
        var random = SplitMix(seed)
        let pieces = [
            #"{"password":"\#(chance)"}"#, " words and more words, ", "\n",
            "https://u:secret99@h/?sig=\(chance)&x ",
            Data("a \(chance) b".utf8).base64EncodedString() + " ",
            #"{\"apiKey\":\"k\#(chance)\"}"#, "<secret>zz</secret>", "äöü€😀",
            "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLXNpZ25h ",
        ]
        let body = bytes(String(repeating: "start ", count: 800) + random.text(of: pieces, upTo: 400))
        let whole = Masked.body(body, window: 1 << 30)
        let cuts = (0..<random.number(below: 40)).map { _ in random.number(below: body.count) }.sorted()
        #expect(Masked.body(body, cuts: cuts) == whole)
        let window = 3_000 + random.number(below: 9_000)
        let windowed = Masked.body(body, window: window)
        #expect(Masked.body(body, cuts: cuts, window: window) == windowed)
        // Only the order in which secrets are numbered depends on the window.
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        #expect(windowed.filter { !digits.contains($0) } == whole.filter { !digits.contains($0) })
        #expect(!String(decoding: whole, as: UTF8.self).contains(chance))
    }

    @Test("A secret across the end of a window, and a name in one with its value in the next")
    func acrossWindows() {
        for distance in stride(from: -40, through: 40, by: 4) {
            let filling = String(repeating: "x ", count: (BodyMask.window - 16 * 1024 + distance) / 2)
            let body = bytes(filling + #"{"password":"\#(chance)"}"# + filling)
            let masked = Masked.body(body)
            #expect(masked == bytes(filling + #"{"password":"sluice-password-1"}"# + filling))
        }
    }

    @Test("Pieces of one byte")
    func singleBytes() {
        let body = bytes("{\"password\":\"abc\"}" + String(repeating: " ", count: 9_000) + "{\"token\":\"abcd\"}")
        #expect(
            Masked.body(body, cuts: Array(0..<body.count))
                == bytes(
                    "{\"password\":\"sluice-password-1\"}" + String(repeating: " ", count: 9_000)
                        + "{\"token\":\"sluice-token-1\"}"
                )
        )
    }

    @Test("A secret longer than any window is masked up to its end, also one that does not end")
    func long() {
        let secret = String(repeating: "0123456789abcdef", count: 20_000)
        let masked = Masked.body(bytes(#"{"a":1,"password":"\#(secret)","b":"kept"}"#), window: 4_096)
        #expect(masked == bytes(#"{"a":1,"password":"sluice-password-0","b":"kept"}"#))
        let open = Masked.body(bytes(#"{"a":1,"password":"\#(secret)"#), window: 4_096)
        #expect(open == bytes(#"{"a":1,"password":"sluice-password-0"#))
    }

    @Test("Binary bodies keep their length")
    func binary() {
        let body = [0, 1, 2] + bytes(chance) + [0, 255]
        let masked = Masked.body(body, "application/octet-stream", knowing: [chance])
        #expect(masked == [0, 1, 2] + bytes("sluice-token-1--") + [0, 255])
    }
}
