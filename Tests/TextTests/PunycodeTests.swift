import Testing
import Text

@Suite("Names in other letters") struct PunycodeTests {
    /// RFC 3492 section 7.1, without those that differ in letters of ASCII alone.
    static let rfcSamples: [(String, String)] = [
        ("ليهمابتكلموشعربي؟", "egbpdaj6bu4bxfgehfvwxn"), ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"),
        ("他們爲什麽不說中文", "ihqwctvzc91f659drss3x8bo0yb"),
        ("Pročprostěnemluvíčesky", "Proprostnemluvesky-uyb24dma41a"),
        ("למההםפשוטלאמדבריםעברית", "4dbcagdahymbxekheh6e0a7fei0b"),
        ("なぜみんな日本語を話してくれないのか", "n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa"),
        ("почемужеонинеговорятпорусски", "b1abfaaepdrnnbgefbadotcwatmq2g4l"),
        ("PorquénopuedensimplementehablarenEspañol", "PorqunopuedensimplementehablarenEspaol-fmd56a"),
        ("3年B組金八先生", "3B-ww4c5e180e575a65lsy2b"),
        ("安室奈美恵-with-SUPER-MONKEYS", "-with-SUPER-MONKEYS-pc58ag80a8qai00g7n9n"),
        ("Hello-Another-Way-それぞれの場所", "Hello-Another-Way--fc4qua05auwb3674vfr0b"),
        ("ひとつ屋根の下2", "2-u9tlzr9756bt3uc0v"), ("MajiでKoiする5秒前", "MajiKoi5-783gue6qz075azm5e"),
        ("パフィーdeルンバ", "de-jg4avhby1noc0d"), ("そのスピードで", "d9juau41awczczp"), ("-> $1.00 <-", "-> $1.00 <--"),
    ]

    @Test("The samples of RFC 3492 go both ways", arguments: rfcSamples)
    func samples(text: String, encoded: String) {
        #expect(Punycode.encoded(text) == encoded)
        #expect(Punycode.decoded(encoded)?.unicodeScalars.elementsEqual(text.unicodeScalars) == true)
        #expect(Punycode.decoded(encoded.uppercased())?.lowercased() == text.lowercased())
    }

    @Test(
        "What stands for nothing is no name, and nothing traps",
        arguments: [
            "99999999", "zzzzzzzzzzzzzzzzzzzzzzzz", "a-!", "-a", "é", "a-9999999", "99999999999999999999999999999999",
            "pple-43", String(repeating: "a", count: 300),
        ]
    )
    func malformed(text: String) { #expect(Punycode.decoded(text) == nil) }

    @Test("Any bytes decode to what encodes to them again, or to nothing")
    func random() {
        var state: UInt64 = 0x3492
        let letters = Array("abcdefghijklmnopqrstuvwxyz0123456789-")
        for _ in 0..<20_000 {
            var label = ""
            for _ in 0..<12 {
                state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
                label.append(letters[Int(state >> 33) % letters.count])
                if state >> 60 == 0 { break }
            }
            guard let name = Punycode.decoded(label), name.utf8.contains(where: { $0 >= 0x80 }),
                Punycode.encoded(name.lowercased()) == label
            else { continue }
            #expect(HostForms("xn--" + label)?.name == name)
        }
    }

    @Test("Both forms of a host, from either")
    func forms() {
        let posing = "аpple.com"
        for host in [posing, "xn--pple-43d.com"] {
            let forms = HostForms(host)
            #expect(forms?.text == "аpple.com (xn--pple-43d.com)")
            #expect(forms?.suspicion == "mixes Cyrillic and Latin letters in one label")
        }
        #expect(HostForms.text(of: "XN--PPLE-43D.com") == "аpple.com (XN--PPLE-43D.com)")
        #expect(HostForms("münchen.example")?.ascii == "xn--mnchen-3ya.example")
        #expect(HostForms("münchen.example")?.suspicion == nil)
    }

    @Test("Letters that stand for one in lower case are that one, as in a certificate; dots are dots beside any mark")
    func lowerCase() throws {
        #expect(HostForms("É.example")?.ascii == HostForms("é.example")?.ascii)
        #expect(HostForms("\u{212A}.example")?.text == "\u{212A}.example (k.example)")
        for upper in ["É", "\u{212A}"] {
            #expect(HostForms("xn--" + (try #require(Punycode.encoded(upper)))) == nil)
        }
        for host in ["a\u{600}.b", "a.\u{301}b"] {
            let ascii = try #require(HostForms(host)?.ascii)
            #expect(ascii.split(separator: ".").count == 2 && HostForms(ascii)?.name == host, "\(ascii)")
        }
    }

    @Test(
        "A host of one form is left as it is",
        arguments: [
            "example.com", "127.0.0.1", "::1", "a--b.example", "xn--abc-.com", "xn--", "xn--99999999.com", "", ".",
        ]
    )
    func single(host: String) {
        #expect(HostForms(host) == nil)
        #expect(HostForms.text(of: host) == host)
    }

    @Test("Scripts that are mixed, and those that look like Latin")
    func suspicions() {
        func suspicion(_ host: String) -> String? { HostForms(host)?.suspicion }
        #expect(suspicion("раураӏ.com") == "is written in Cyrillic letters that look like Latin ones")
        #expect(suspicion("почта.com") == nil)
        #expect(suspicion("хор.рф") == nil)
        #expect(suspicion("gοοgle.com")?.contains("Greek and Latin") == true)
        for usual in ["日本語abc.jp", "ひらがなカタカナ漢字.jp", "한국어abc.kr", "straße.de", "яндекс.рф", "ελλάδα.gr"] {
            #expect(suspicion(usual) == nil, "\(usual)")
        }
        #expect(suspicion("日本я.jp") != nil)
    }
}
