import Foundation
import HTTPModel
import Testing

@testable import Masking

@Suite("Secrets are known again")
struct SecretBookTests {
    @Test("A secret has one placeholder in every coding")
    func codings() {
        let secret = #"a/b+c="d"&<e>"#
        let forms = [
            secret, "a%2Fb%2Bc%3D%22d%22%26%3Ce%3E", "a%2fb%2bc%3d%22d%22%26%3ce%3e", #"a/b+c=\"d\"&<e>"#,
            #"a\/b+c=\"d\"&<e>"#,
        ]
        for form in forms {
            #expect(Masked.text("x \(form) y", nil, knowing: [secret]) == "x sluice-token-1 y", "\(form)")
        }
    }

    @Test("In a store, a placeholder has six digits of the secret, which a later export takes for no secret")
    func labels() throws {
        let mask = TextMask(MaskRules(), label: { UInt32($0.count) << 8 | 0xAB_0000 })
        let masked = try #require(mask.masked(#"{"token":"abcdefgh12345678"}"#, .text))
        #expect(masked == #"{"token":"sluice-token-ab1000"}"#)
        #expect(mask.masked("again abcdefgh12345678", .text) == "again sluice-token-ab1000")
        #expect(Masked.text(masked) == masked)
        #expect(Placeholder(kind: .token, number: 7, label: 0x2A).text == "sluice-token-00002a")
    }

    @Test("Secrets that the rules name are masked wherever they are, in every coding and also in a store")
    func named() {
        var rules = MaskRules()
        rules.secrets = ["top secret 1"]
        for form in ["top secret 1", "top%20secret%201", "top+secret+1"] {
            #expect(Masked.text("x \(form) y", nil, rules) == "x sluice-value-1 y", "\(form)")
        }
        let mask = TextMask(rules, label: { _ in 0xAB_0000 })
        #expect(mask.masked("x top secret 1 y", .text) == "x sluice-value-ab0000 y")
    }

    @Test("The same secret under several names and codings is counted once")
    func joins() {
        let text = #"{"token":"ab+cd/ef","u":"?token=ab%2Bcd%2Fef","n":"{\"token\":\"ab+cd\\/ef\"}"}"#
        #expect(
            Masked.text(text)
                == #"{"token":"sluice-token-1","u":"?token=sluice-token-1","n":"{\"token\":\"sluice-token-1\"}"}"#
        )
    }

    @Test("A known secret in base64, wherever it begins in a group, in text and in binary data")
    func base64() {
        for before in 0..<6 {
            for filling in ["a", "\u{1}", "\u{FF}", "?>"] {
                let plain =
                    String(repeating: filling, count: before) + chance + String(repeating: filling, count: 5 - before)
                let digits = Data(plain.utf8).base64EncodedString()
                for text in [
                    digits, digits.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: ""),
                ] {
                    let masked = Masked.text("x " + text + " y", nil, knowing: [chance])
                    #expect(masked.hasPrefix("x ") && masked.hasSuffix(" y") && masked.contains("sluice-token-"))
                    #expect(!masked.contains(text.dropFirst(8).prefix(8)), "\(before) \(masked)")
                }
            }
        }
    }

    @Test("Each of many secrets is found, as it is and in base64")
    func many() {
        let book = SecretBook()
        let count = 12_000
        func secret(_ number: Int) -> [UInt8] { Array("k\(number * 7_919)-\(number)-abcdef".utf8) }
        for number in 0..<count {
            book.note(secret(number), .token, name: "n\(number % 3)", host: "h\(number % 5)", isSought: true)
        }
        #expect(book.soughtCount == count)
        for number in stride(from: 0, to: count, by: 997) {
            for text in [secret(number), SecretForms.base64(secret(number))[1]] {
                var found: [Int32] = []
                (text + [0x20]).withUnsafeBytes { book.forEachSought(in: $0) { _, entry in found.append(entry) } }
                #expect(found == [Int32(number)], "\(number)")
            }
            let entry = book.entries[number]
            #expect(entry.placeholder.number == number + 1 && entry.name == "n\(number % 3)")
            #expect(entry.host == "h\(number % 5)" && book.placeholder(at: Int32(number)) == entry.placeholder)
        }
        book.seekNothing()
        #expect(book.soughtCount == 0 && book.longestSought == 0)
        book.note(secret(3), .token, name: "n", host: "h", isSought: true)
        #expect(book.soughtCount == 1 && book.longestSought > 0)
    }

    @Test("A short secret counts as a whole word only, a shorter one not at all elsewhere")
    func short() {
        #expect(
            Masked.text("abcd3fgh xabcd3fgh abcd3fghi 1-abcd3fgh-2", knowing: ["abcd3fgh"])
                == "sluice-token-1 xabcd3fgh abcd3fghi 1-sluice-token-1-2"
        )
        #expect(Masked.text("abcdefg", knowing: ["abcdefg"]) == "abcdefg")
        #expect(Masked.text("%2Fabcd3fgh", knowing: ["abcd3fgh"]) == "%2Fsluice-token-1")
    }

    @Test("Secrets that begin alike are told apart, and each is found, the longer one first")
    func alike() {
        let secrets = (10...30).flatMap { length in
            ["q7", "w9"].map { "eyJhbGci" + String(repeating: $0, count: length) }
        }
        let text = secrets.joined(separator: " ")
        let words = Masked.text(text, nil, knowing: secrets).split(separator: " ")
        #expect(words.map { String($0) } == (1...secrets.count).map { "sluice-token-\($0)" })
        #expect(
            Masked.text("eyJhbGciabcdefghijk", nil, knowing: ["eyJhbGciabcd", "eyJhbGciabcdefghijk"])
                == "sluice-token-2"
        )
    }

    @Test("One that was first found where it is not sought is sought later on")
    func soughtLater() {
        let book = SecretBook()
        let secret = Array("abcdefgh12345678".utf8)
        for isSought in [false, true, true] {
            book.note(secret, .token, name: "n", host: "h", isSought: isSought)
            #expect((book.longestSought > 0) == isSought)
        }
    }

    @Test("Further secrets than can be numbered are masked without a number")
    func full() {
        let book = SecretBook()
        for number in 0...SecretBook.most {
            book.note(Array("\(number)".utf8), .token, name: "n", host: "h", isSought: false)
        }
        #expect(book.isFull && book.entries.count == SecretBook.most)
        #expect(book.placeholder(of: Array("\(SecretBook.most)".utf8), .token).text == "sluice-token-0")
        #expect(book.placeholder(of: Array("7".utf8), .token).text == "sluice-token-8")
    }

    @Test("Placeholders are found in what was written, those that were given only")
    func placeholders() {
        let book = SecretBook()
        for secret in ["a", "b"] { book.note(Array(secret.utf8), .privateKey, name: "n", host: "h", isSought: false) }
        let text = Array("x sluice-private-key-2, sluice-private-key-3, sluice-token-1x sluice-99999999999".utf8)
        let script = ["1", "1_ENCODED", "1_ENCODED_2"].map { "${SLUICE_PRIVATE_KEY_\($0):?x}" }.joined()
        #expect(book.placeholderCount(in: String(decoding: text, as: UTF8.self)) == 1)
        #expect(book.placeholderCount(in: script) == 1)
        let all = Placeholder.all(in: text, most: 9)
        #expect(all.map(\.text) == ["sluice-private-key-2", "sluice-private-key-3", "sluice-token-1"])
        #expect(Placeholder.all(in: text + text, most: 9) == all)
        #expect(Placeholder.all(in: text, most: 1) == [all[0]])
    }

    @Test("In a command each marked placeholder is a variable of its form, with its host, whatever follows")
    func markedPlaceholders() throws {
        let book = SecretBook()
        book.note(Array("a b".utf8), .token, name: "n", host: "h", isSought: false)
        book.close()
        let plain = book.placeholder(of: Array("a b".utf8), .token)
        let encoded = Array("a%20b".utf8).withUnsafeBytes { book.placeholder(plain, for: $0) }
        #expect(encoded.text == "sluice-token-1e1" && book.host(of: encoded) == "h")
        #expect(Placeholder.mark.utf8.count == 16 && Placeholder.mark.allSatisfy { ("a"..."z").contains($0) })
        let parts = [
            "sluice-token-1&x=", plain.markedText(host: ""), "2e1-", encoded.markedText(host: "a-1.example"),
            "sluice-token-0", plain.markedText(host: "h"), "-sluice-token-1",
        ]
        let text = Array(parts.joined().utf8)
        #expect(
            MarkedText.pieces(of: text) == [
                .text(Array(parts[0].utf8)), .variable("${SLUICE_TOKEN_1:?token}"), .text(Array(parts[2].utf8)),
                .variable("${SLUICE_TOKEN_1_ENCODED:?encoded token of a-1.example}"), .text(Array(parts[4].utf8)),
                .variable("${SLUICE_TOKEN_1:?token of h}"), .text(Array(parts[6].utf8)),
            ]
        )
        #expect(MarkedText.pieces(of: []) == [.text([])])
        let shown = "sluice-token-1&x=sluice-token-12e1-sluice-token-1e1sluice-token-0sluice-token-1-sluice-token-1"
        #expect(MarkedText.plain(text) == Array(shown.utf8))
        #expect(Placeholder.all(in: text, most: 9).map(\.text) == ["sluice-token-1", "sluice-token-0"])
    }

    @Test("Each encoded form has one variable, and a host that contains a secret is not written")
    func forms() {
        let book = SecretBook()
        book.note(Array("a b".utf8), .token, name: "n", host: "abcd3fgh.example", isSought: false)
        book.note(Array("abcd3fgh".utf8), .token, name: "n", host: "H_", isSought: true)
        book.close()
        let plain = book.placeholder(of: Array("a b".utf8), .token)
        let forms = ["a%20b", "a+b", "a%20b", "a b"].map { form in
            Array(form.utf8).withUnsafeBytes { book.placeholder(plain, for: $0) }.encoding
        }
        #expect(forms == [1, 2, 1, 0])
        #expect(book.host(of: plain) == "" && book.host(of: book.placeholder(at: 1)) == "")
    }

    @Test(
        "What is a placeholder already",
        arguments: [
            ("sluice-token-1", true), ("sluice-private-key-12e3", true), ("sluice-token-1--", true),
            ("sluice-token-", false), ("sluice-token-1x", false), ("sluice-other-1", false), ("sluice-", false),
            ("", false),
            ("sluice-token-1234567890", false), ("xsluice-token-1", false),
        ]
    )
    func isOne(text: String, expected: Bool) {
        #expect(Array(text.utf8).withUnsafeBytes { Placeholder.isOne($0) } == expected)
    }
}
