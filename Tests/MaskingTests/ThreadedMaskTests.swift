import HTTPModel
import NIOCore
import Support
import Testing

@testable import Masking

@Suite("Masks for several threads")
struct ThreadedMaskTests {
    private static let texts = [
        #"{"password":"first-of-all-1","token":"shared-9f3A7c21Bd08e6Qz"}"#,
        #"{"token":"second-77e1c0aB93dd4f","password":"first-of-all-1"}"#,
        #"nothing here but 7fK2pQ9xWz4Lm8Rt3Vb6Nc1Yd5Gh0Js"#,
        #"{"api_key":"shared-9f3A7c21Bd08e6Qz","token":"third-aa11bb22cc33"}"#,
        #"again 7fK2pQ9xWz4Lm8Rt3Vb6Nc1Yd5Gh0Js and first-of-all-1"#,
    ]

    private func collect(_ index: Int, _ mask: TextMask) {
        (mask.exchange, mask.host, mask.part) = (ExchangeID(Int64(index)), "h\(index)", "body")
        _ = mask.masked(Self.texts[index], .text)
    }

    @Test("Findings that are taken over in order give the numbers of one thread")
    func order() {
        let single = TextMask()
        for index in Self.texts.indices { collect(index, single) }
        single.endCollecting()

        let main = TextMask()
        let workers = [TextMask(main.copy), TextMask(main.copy)]
        // Both are ahead of the one who takes over, and each has every other text.
        var findings: [TextMask.Findings] = []
        for index in Self.texts.indices {
            collect(index, workers[index % 2])
            findings.append(workers[index % 2].takeFindings())
        }
        #expect(main.book.entries.isEmpty)
        for finding in findings { main.add(finding) }
        main.endCollecting()

        #expect(main.book.entries.map(\.placeholder) == single.book.entries.map(\.placeholder))
        #expect(main.book.entries.map(\.host) == single.book.entries.map(\.host))
        #expect(main.book.entries.map(\.name) == single.book.entries.map(\.name))
        #expect(main.suspects == single.suspects && main.suspects.count == 1)
        let copy = TextMask(main.copy)
        for text in Self.texts { #expect(copy.masked(text, .text) == single.masked(text, .text)) }
        #expect(copy.masked(Self.texts[4], .text)?.hasSuffix("sluice-password-1") == true)
    }

    @Test("Placeholders of an earlier export keep their numbers", arguments: [false, true])
    func earlier(isReadFirst: Bool) {
        let texts = [#"{"token":"sluice-token-2"}"#, Self.texts[1]]
        let main = TextMask()
        for text in isReadFirst ? texts : texts.reversed() {
            let worker = TextMask(main.copy)
            _ = worker.masked(text, .text)
            main.add(worker.takeFindings())
        }
        main.endCollecting()
        #expect(main.masked(texts[1], .text) == #"{"token":"sluice-token-3","password":"sluice-password-1"}"#)
        #expect(main.masked(texts[0], .text) == nil)
        #expect(main.secrets.map(\.placeholder.text).sorted() == ["sluice-password-1", "sluice-token-3"])
        #expect(main.book.placeholderCount(in: "sluice-token-2 sluice-token-3 sluice-token-4") == 1)
    }

    @Test("A secret that comes again and again is handed over once, with those after it")
    func repeated() {
        let mask = TextMask(TextMask().copy)
        // Many others between make it forget what it has handed over.
        for _ in 0..<2 {
            for number in 0..<60_000 {
                let secret = Array("secret-\(number)".utf8)
                mask.note(FoundSecret(range: 0..<0, kind: .token, name: "n", secret: secret))
            }
        }
        let last = Array("the-last-secret".utf8)
        mask.note(FoundSecret(range: 0..<0, kind: .token, name: "n", secret: last))
        #expect(mask.takeFindings().secrets.map(\.secret.secret).count == 60_001)
    }

    @Test("What was found is handed over once, and again only where it is sought for the first time")
    func once() {
        let mask = TextMask(TextMask().copy)
        collect(0, mask)
        #expect(mask.findingCount == 2)
        _ = mask.takeFindings()
        collect(0, mask)
        collect(4, mask)
        #expect(mask.findingCount == 1)
        let secret = Array("first-of-all-1".utf8)
        mask.note(FoundSecret(range: 0..<0, kind: .password, name: "n", secret: secret, isSought: false))
        #expect(mask.findingCount == 1)
    }

    @Test("A copy that writes adds no secrets: what it does not know has no number")
    func closed() {
        let main = TextMask()
        collect(0, main)
        main.endCollecting()
        let copy = TextMask(main.copy)
        #expect(copy.masked(#"{"token":"never-seen-0a1b2c3d"}"#, .text) == #"{"token":"sluice-token-0"}"#)
        #expect(copy.book.entries.count == 2 && main.book.entries.count == 2)
    }

    @Test("So many secrets that the book is full make it full through findings, too")
    func full() {
        let main = TextMask()
        let worker = TextMask(main.copy)
        for number in 0...SecretBook.most {
            worker.note(FoundSecret(range: 0..<0, kind: .token, name: "n", secret: Array("\(number)".utf8)))
        }
        main.add(worker.takeFindings())
        #expect(main.book.isFull && main.book.entries.count == SecretBook.most)
    }

    @Test("A secret that is noted again and again is looked for once it is sought")
    func soughtLater() {
        let mask = TextMask()
        let secret = Array("late-secret-1".utf8)
        for isSought in [false, true, true] {
            mask.note(FoundSecret(range: 0..<0, kind: .token, name: "n", secret: secret, isSought: isSought))
        }
        mask.endCollecting()
        #expect(mask.masked("x late-secret-1 y", .text) == "x sluice-token-1 y")
    }
}
