import Content
import Foundation
import NIOCore
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

    @Test(
        "A known secret with escapes, all of it or one letter, also inside base64 or other escapes",
        arguments: [
            { "%" + String($0, radix: 16) }, { "%" + String($0, radix: 16).uppercased() },
            { "%25" + String($0, radix: 16) },
            { "\\u00" + String($0, radix: 16) }, { "\\\\u00" + String($0, radix: 16) }, { "&#\($0);" },
            { "&#x" + String($0, radix: 16) + ";" }, { "%5Cu00" + String($0, radix: 16) },
        ] as [@Sendable (UInt8) -> String]
    )
    func escapes(escape: @Sendable (UInt8) -> String) {
        let bytes = Array(chance.utf8)
        for form in [
            bytes.map(escape).joined(), escape(bytes[0]) + chance.dropFirst(), chance.dropLast() + escape(bytes[15]),
            chance.prefix(5) + escape(bytes[5]) + chance.dropFirst(6),
        ] {
            #expect(
                Masked.text("ü%zz \\u00 &#; &#x; \(form) %4", knowing: [chance])
                    == "ü%zz \\u00 &#; &#x; sluice-token-1 %4"
            )
            let digits = Data("words and more \(form) and more".utf8).base64EncodedString()
            #expect(Masked.text("x \(digits) y", knowing: [chance]) == "x sluice-token-1 y")
        }
        let ordinary = "100% of \\u00fc and a&#45;b%2Fc &#1114112; \\ud800"
        #expect(Masked.text(ordinary, knowing: [chance]) == ordinary)
    }

    @Test("Private keys in forms and as PGP has them; the key is known in other codings")
    func furtherKeys() {
        let pgp = "x -----BEGIN PGP PRIVATE KEY BLOCK-----\n\nlQOYBGX\n=ab12\n-----END PGP PRIVATE KEY BLOCK-----"
        #expect(
            Masked.text(pgp)
                == "x -----BEGIN PGP PRIVATE KEY BLOCK-----sluice-private-key-1-----END PGP PRIVATE KEY BLOCK-----"
        )
        for space in ["+", "%20"] {
            let (begin, end) = ("-----BEGIN\(space)PRIVATE\(space)KEY-----", "-----END\(space)PRIVATE\(space)KEY-----")
            let key = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC"
            let masked = Masked.text("cert=\(begin)%0A\(key)%2B1%0A\(end)%0A&echo=%22%5Cn\(key)+1\n", .form)
            #expect(masked.hasPrefix("cert=\(begin)sluice-private-key-1\(end)%0A&echo="), "\(masked)")
            let both = Masked.text(#"a=\#(begin)%0A\#(key)%0A\#(end) {"k":"\n\#(key)\n"}"#)
            #expect(!both.contains(key), "\(both)")
        }
        let ordinary = "-----BEGIN PGP PUBLIC KEY BLOCK-----\nlQOY"
        #expect(Masked.text(ordinary) == ordinary)
    }

    @Test("Base64 with a secret by name, whose signs are escaped, in a path, and of text beyond ASCII")
    func furtherBase64() {
        let plain = #"{"u":"bob?>","note":"???>>>~~~ÿÿ?","password":"hunter22abc","z":"???"}"#
        let digits = Data(plain.utf8).base64EncodedString()
        #expect(digits.contains("/") && digits.contains("+"))
        let php = digits.replacing("/", with: "\\/")
        let form = digits.replacing("/", with: "%2F").replacing("+", with: "%2B").replacing("=", with: "%3D")
        for text in [#"{"p":"\#(php)"}"#, "a=1&p=\(form)&b=2", "%7B%22p%22%3A%22\(form)%22%7D"] {
            let masked = Masked.text(text)
            #expect(masked.contains("sluice-") && masked.count < 40, "\(masked)")
        }
        let login = Data(#"{"user":"bob","password":"hunter22abc"}"#.utf8).base64EncodedString()
        #expect(Masked.text("http://a.test/confirm/\(login)").hasPrefix("http://a.test/confirm/sluice-"))
        let japanese = #"{"名前":"山田太郎さんの長い説明文がここにあります","password":"hunter22abc"}"#
        #expect(Masked.text(#"{"p":"\#(Data(japanese.utf8).base64EncodedString())"}"#).hasPrefix(#"{"p":"sluice-"#))
        let ordinary = #"{"u":"http:\/\/host\/some\/path\/of\/words\/abcdefghijkl","p":"/static/js/main/words"}"#
        #expect(Masked.text(ordinary) == ordinary)
    }

    @Test(
        "A known secret whose signs and letters are escaped otherwise",
        arguments: [
            ("p\u{E4}ssword-one", #"a \u{e4} p\u{e4}ssword-one"#),
            ("\u{1F511}secretlong", #"a \ud83d\udd11secretlong"#),
            ("p\u{E4}ssword-one", #"p\xc3\xa4ssword-one"#), ("p\u{E4}ssword-one", #"p\xe4ssword-one"#),
            (#"ab"cdefghijkl"#, #"{\"e\":\"ab\\\"cdefghijkl\"}"#),
            ("ab/cdefg/hij", #"{\"e\":\"ab\\\/cdefg\\\/hij\"}"#),
            (#"ab"cdefghijkl"#, #"1,"ab""cdefghijkl""#), ("ab'cdefghijkl", "VALUES ('ab''cdefghijkl')"),
            (#"a"b&c"defghi"#, #"a\"b\u0026c\"defghi"#), ("ab&cd<efgh", "ab&amp;amp;cd&amp;lt;efgh"),
            (#"ab"cd&efgh"#, #"ab\&quot;cd&amp;efgh"#),
            ("hunter22abc", #"a\nhunter22abc"#), ("hunter22abc", #"a\\nhunter22abc\\n"#),
            ("\u{1F511}\u{1F5DD}\u{1F510}", #"\ud83d\udd11\ud83d\udddd\ud83d\udd10"#),
            ("\u{1F511}\u{1F5DD}\u{1F510}", "&amp;#x1f511;&amp;#128477;&amp;#x1f510;"),
            ("hunter22abc", "\u{1B}[1;31mhunter22abc\u{1B}[0m"), ("p\u{E4}ssword-one", "p%E4ssword-one"),
        ]
    )
    func furtherEscapes(secret: String, text: String) {
        let masked = Masked.text("1 \(text) 2", knowing: [secret])
        #expect(masked.hasPrefix("1 ") && masked.hasSuffix(" 2") && masked.contains("sluice-token-1"), "\(masked)")
        #expect(!masked.contains(secret.suffix(4)), "\(masked)")
    }

    @Test("A known secret in ISO 8859-1; a shorter one that is part of a word stays")
    func narrow() {
        let body = Array("echo p".utf8) + [0xE4] + Array("ssword-one end".utf8)
        let masked = Masked.body(body, "text/plain; charset=iso-8859-1", knowing: ["p\u{E4}ssword-one"])
        #expect(masked == Array("echo sluice-token-1 end".utf8))
        #expect(Masked.text("nhunter22abc mhunter22abc", knowing: ["hunter22abc"]) == "nhunter22abc mhunter22abc")
    }

    @Test(
        "A known secret in compressed bytes in base64; a bomb; an ordinary text",
        arguments: [ContentCoding.gzip, .zstd, .deflate]
    )
    func compressed(coding: ContentCoding) throws {
        func digits(_ text: String) throws -> String {
            let packed = try ContentEncoder.encode(ByteBuffer(string: text), codings: [coding])
            return Data(packed.readableBytesView).base64EncodedString()
        }
        let known = try digits("a log of words with \(chance) in it")
        #expect(
            Masked.text(#"{"log": "\#(known)"}"#, knowing: [chance]).range(
                of: #"^\{"log": "sluice-token-\d+"\}$"#,
                options: .regularExpression
            ) != nil
        )
        let nested = try digits("and " + known)
        #expect(!Masked.text(nested, knowing: [chance]).contains(nested.prefix(24)))
        let ordinary = try digits("a log of ordinary words with nothing in it")
        #expect(Masked.text(ordinary, knowing: [chance]) == ordinary)
        let bomb = try digits(String(repeating: " ", count: 8 << 20))
        #expect(!Masked.text(bomb, knowing: [chance]).contains(bomb.prefix(24)))
        var deep = known
        for _ in 0..<200 { deep = try digits(deep) }
        #expect(Masked.text(deep, knowing: [chance]).isEmpty == false)
    }

    @Test("A secret in base64 of UTF-16, of either byte order, with a mark or without", arguments: [false, true])
    func wide(isBigEndian: Bool) throws {
        func digits(_ text: String, hasMark: Bool) -> String {
            let units = (hasMark ? [0xFEFF] : []) + Array(text.utf16)
            let bytes = units.flatMap { unit -> [UInt8] in
                let (high, low) = (UInt8(unit >> 8), UInt8(unit & 0xFF))
                return isBigEndian ? [high, low] : [low, high]
            }
            return Data(bytes).base64EncodedString()
        }
        for hasMark in [false, true] {
            for text in ["a log with \(chance) in it", chance, "журнал с \(chance) внутри", "日 \(chance)"] {
                let known = digits(text, hasMark: hasMark)
                #expect(Masked.text("x \(known) y", knowing: [chance]) == "x sluice-token-1 y", "\(text)")
            }
            let wide = try #require(Data(base64Encoded: digits("a log with \(chance) in it", hasMark: hasMark)))
            let packed = try ContentEncoder.encode(ByteBuffer(bytes: wide), codings: [.gzip])
            let text = "x \(Data(packed.readableBytesView).base64EncodedString()) y"
            #expect(Masked.text(text, knowing: [chance]) == "x sluice-token-1 y")
            let own = digits(#"{"password": "hunter2hunter2"}"#, hasMark: hasMark)
            #expect(!Masked.text("x \(own) y").contains(own.prefix(20)))
            let mask = TextMask()
            let ordinary = digits("an ordinary text of words alone, ü", hasMark: hasMark)
            #expect(mask.masked("x \(ordinary) y", .text) == nil && mask.suspects.isEmpty)
        }
    }

    @Test("A ZIP in base64 has the number of the secret inside, deflated or stored")
    func zip() throws {
        func zip(_ text: String, isPacked: Bool) throws -> String {
            let packed = try ContentEncoder.encode(ByteBuffer(string: text), codings: [.deflate])
            let data = isPacked ? Array(packed.readableBytesView).dropFirst(2).dropLast(4) : Array(text.utf8)[...]
            let method: UInt8 = isPacked ? 8 : 0
            let header: [UInt8] = [0x50, 0x4B, 3, 4, 20, 0, 0, 0, method, 0] + Array(repeating: 0, count: 16)
            return Data(header + [1, 0, 0, 0, UInt8(ascii: "n")] + data).base64EncodedString()
        }
        for isPacked in [true, false] {
            let digits = try zip("a log of words with \(chance) in it", isPacked: isPacked)
            let text = "first \(chance), then \(digits)"
            #expect(
                Masked.text(text, knowing: ["other-secret-1", chance]) == "first sluice-token-2, then sluice-token-2"
            )
            let ordinary = try zip("a log of ordinary words with nothing in it", isPacked: isPacked)
            #expect(Masked.text(ordinary, knowing: [chance]) == ordinary)
        }
    }

    @Test("What is masked where it was found again is no suspect")
    func suspects() throws {
        let digits = Data(
            try #require(try? ContentEncoder.encode(ByteBuffer(string: chance + " " + chance), codings: [.gzip]))
                .readableBytesView
        )
        .base64EncodedString()
        let hexadecimal = chance.utf8.map { String($0, radix: 16) }.joined()
        let other = "q7Xv2Lp9Zt4Kw8Rn3Yb6Hs1Jd5Fg0Mc"
        let mask = TextMask()
        _ = mask.masked("\(digits) \(hexadecimal) \(other)", .text)
        mask.note(FoundSecret(range: 0..<0, kind: .token, name: "known", secret: Array(chance.utf8)))
        mask.endCollecting()
        for _ in 0..<2 { #expect(mask.suspects.map(\.beginning) == ["q7Xv2L"]) }
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
