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
            #"{"password":"\#(chance)"}"#, #""name":"token","value":"abcd1234""#, " words and more words, ", "\n",
            "https://u:secret99@h/?sig=\(chance)&x ",
            Data(#"{"a":"b","client_secret":"x\#(chance)"}"#.utf8).base64EncodedString() + " ",
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

    @Test("Base64 across windows with a secret at its end, shorter and longer than is looked at together")
    func longBase64() {
        for count in [9_000, 14_001, 70_002] {
            let plain =
                bytes(String(repeating: "z", count: count)) + bytes(chance) + bytes(String(repeating: "y", count: 100))
            let digits = Data(plain).base64EncodedString()
            let masked = Masked.body(bytes(#"{"data":"\#(digits)"}"#), window: 4_096, knowing: [chance])
            #expect(String(decoding: masked, as: UTF8.self).contains("sluice-token-"), "\(count)")
            // Where all of it can be looked at together, it is masked whole.
            if count == 9_000 { #expect(masked.count < 60) }
            for start in 0..<3 {
                let group = Data(Array(plain.dropFirst(start))[...]).base64EncodedString()
                #expect(!String(decoding: masked, as: UTF8.self).contains(group.suffix(150).prefix(20)))
            }
        }
    }

    @Test("Base64 of more than a mebibyte on one line is masked as a whole where a name in it is a secret's")
    func longestBase64() {
        let plain = #"{"password":"hunter2","a":""# + String(repeating: "words ", count: 140_000) + #""}"#
        let digits = Data(plain.utf8).base64EncodedString()
        let masked = Masked.body(bytes(#"{"data":"\#(digits)","b":1}"#))
        #expect(masked.count < 60, "\(masked.count)")
        #expect(masked.starts(with: bytes(#"{"data":"sluice-"#)) && masked.suffix(8) == bytes(#"","b":1}"#)[...])
    }

    @Test("Binary bodies keep their length")
    func binary() {
        let body = [0, 1, 2] + bytes(chance) + [0, 255]
        let masked = Masked.body(body, "application/octet-stream", knowing: [chance])
        #expect(masked == [0, 1, 2] + bytes("sluice-token-1--") + [0, 255])
    }

    @Test("Nothing of UTF-16 is lost: units without their other half, and an odd byte")
    func brokenWide() {
        let begin: [UInt8] = Array("{\"a\":\"b\"}".utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] })
        for end: [UInt8] in [
            [0x5A], [0, 0xD8], [0, 0xD8, 0x41, 0], [1, 0xDC, 5, 0], [0, 0xD8, 0, 0xD8, 1], [0x3D, 0xD8, 0, 0xDE, 0x5A],
            [0xFF, 0xFF, 0, 8, 0xFF, 7],
        ] {
            for cuts in [[], Array(0..<30)] {
                for type in ["text/plain", "application/octet-stream"] {
                    #expect(Masked.body(begin + end, type, cuts: cuts) == begin + end, "\(end)")
                }
            }
        }
        let secret = Array("{\"password\":\"hunter22abc\"}".utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] })
        let masked = Masked.body(secret, "application/octet-stream")
        #expect(masked == Array("{\"password\":\"sluice-password-1\"}".utf16.flatMap { [UInt8($0), 0] }))
        // What begins as UTF-16 and is something else is read as bytes.
        let binary: [UInt8] = [0x7B, 0, 0x22, 0, 1, 2, 3, 4, 5, 6, 7, 8] + bytes("{\"password\":\"hunter22abc\"}")
        #expect(!Masked.body(binary, "application/octet-stream").starts(with: binary))
    }

    @Test("UTF-16 is read, and stays UTF-16", arguments: [true, false])
    func wide(isBigEndian: Bool) {
        func encoded(_ text: String) -> [UInt8] {
            text.utf16.flatMap { isBigEndian ? [UInt8($0 >> 8), UInt8($0 & 255)] : [UInt8($0 & 255), UInt8($0 >> 8)] }
        }
        let text = "\u{FEFF}{\"password\":\"\(chance)\",\"a\":\"ä😀\"}"
        let masked = encoded(text.replacing(chance, with: "sluice-password-1"))
        for cuts in [[], [1, 2, 3], Array(0..<120)] {
            #expect(Masked.body(encoded(text), "application/json", cuts: cuts) == masked)
        }
        let bare = String(text.dropFirst())
        #expect(
            Masked.body(encoded(bare), "text/plain; charset=utf-16\(isBigEndian ? "be" : "le")")
                == encoded(bare.replacing(chance, with: "sluice-password-1"))
        )
        // What is no text stays as it is.
        let image: [UInt8] = [0xFF, 0xFE, 0, 0xD8, 0, 0xD8, 7]
        #expect(Masked.body(image, "image/x") == image)
    }
}
