import Testing

@testable import Masking

@Suite("Secrets are known again")
struct SecretBookTests {
    @Test("A secret has one placeholder in every coding")
    func codings() {
        let secret = #"a/b+c="d"&<e>"#
        let forms = [
            secret, "a%2Fb%2Bc%3D%22d%22%26%3Ce%3E", "a%2fb%2bc%3d%22d%22%26%3ce%3e", #"a/b+c=\"d\"&<e>"#,
            #"a\/b+c=\"d\"&<e>"#, "a/b+c=&quot;d&quot;&amp;&lt;e&gt;",
            secret.utf8.map { String($0, radix: 16) }.joined(),
        ]
        for form in forms {
            #expect(Masked.text("x \(form) y", .script, knowing: [secret]) == "x sluice-token-1 y", "\(form)")
        }
    }

    @Test("The same secret under several names and codings is counted once")
    func joins() {
        let text = #"{"token":"ab+cd/ef","u":"?token=ab%2Bcd%2Fef","n":"{\"token\":\"ab+cd\\/ef\"}"}"#
        #expect(
            Masked.text(text)
                == #"{"token":"sluice-token-1","u":"?token=sluice-token-1","n":"{\"token\":\"sluice-token-1\"}"}"#
        )
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
        let words = Masked.text(text, .script, knowing: secrets).split(separator: " ")
        #expect(words.map { String($0) } == (1...secrets.count).map { "sluice-token-\($0)" })
        #expect(
            Masked.text("eyJhbGciabcdefghijk", .script, knowing: ["eyJhbGciabcd", "eyJhbGciabcdefghijk"])
                == "sluice-token-2"
        )
    }

    @Test("One that was first found where it is not sought is sought later on")
    func soughtLater() {
        let book = SecretBook()
        let secret = Array("abcdefgh12345678".utf8)
        for isSought in [false, true, true] {
            book.note(secret, .token, name: "n", host: "h", isSought: isSought)
            #expect(book.needles.isEmpty != isSought)
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
        #expect(book.placeholders(in: text).map(\.placeholder.variable) == ["SLUICE_PRIVATE_KEY_2"])
        let all = Placeholder.all(in: text, most: 9)
        #expect(all.map(\.text) == ["sluice-private-key-2", "sluice-private-key-3", "sluice-token-1"])
        #expect(Placeholder.all(in: text + text, most: 9) == all)
        #expect(Placeholder.all(in: text, most: 1) == [all[0]])
    }

    @Test("In what becomes a program only marked placeholders are found, each with its form, whatever stands behind it")
    func markedPlaceholders() throws {
        let book = SecretBook()
        book.note(Array("a b".utf8), .token, name: "n", host: "h", isSought: false)
        book.close()
        book.isForPrograms = true
        let plain = book.placeholder(of: Array("a b".utf8), .token)
        let encoded = Array("a%20b".utf8).withUnsafeBytes { book.placeholder(plain, for: $0) }
        #expect(encoded.text == "sluice-token-1e1" && plain.markedText.hasSuffix("-token-1e0-"))
        #expect(Placeholder.mark.utf8.count == 16 && Placeholder.mark.allSatisfy { ("a"..."z").contains($0) })
        let parts = [
            "sluice-token-1&x=", plain.markedText, "2e1-", encoded.markedText, "sluice-token-0", plain.markedText,
            "-sluice-token-1",
        ]
        let text = Array(parts.joined().utf8)
        let found = book.placeholders(in: text)
        #expect(found.map(\.placeholder) == [plain, encoded, plain])
        #expect(found.map { String(decoding: text[$0.range], as: UTF8.self) } == [parts[1], parts[3], parts[5]])
        let shown = "sluice-token-1&x=sluice-token-12e1-sluice-token-1e1sluice-token-0sluice-token-1-sluice-token-1"
        #expect(book.unmarked(text) == Array(shown.utf8))
        #expect(Placeholder.all(in: text, most: 9).map(\.text) == ["sluice-token-1", "sluice-token-0"])
        for size in [1, 2, 7, 40, 90, 1_000] {
            var pieces = UnmarkedPieces(book)
            let cut = stride(from: 0, to: text.count, by: size).flatMap {
                pieces.add(text[$0..<min(text.count, $0 + size)])
            }
            #expect(cut + pieces.end() == Array(shown.utf8), "\(size)")
        }
        book.isForPrograms = false
        #expect(book.placeholders(in: text).map(\.placeholder) == [plain, plain])
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
