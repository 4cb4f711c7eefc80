import Testing

@testable import Masking

@Suite("Tables of digests and beginnings")
struct TableTests {
    @Test("A number stays that of its digest however many there are, and the first one stays")
    func digests() {
        var table = DigestTable()
        #expect(table.isEmpty && table[0] == nil)
        // Many fall on the same place: only the upper bits differ.
        let digests = (0..<2_000).map { $0 << 40 } + (1...2_000).map { -$0 }
        let added = digests.enumerated().filter { table.add($0.offset, for: $0.element) }
        #expect(added.count == digests.count)
        for (number, digest) in digests.enumerated() {
            let isAdded = table.add(7, for: digest)
            #expect(table[digest] == number && !isAdded)
        }
        #expect(table.count == digests.count && table[1] == nil && table[digests[9]] == 9)
    }

    @Test("The lengths of a beginning are all there, the longest first")
    func lengths() {
        func lengths(_ table: BeginningTable, _ beginning: UInt64) -> [Int] {
            switch table[beginning] {
            case nil: []
            case .one(let length): [length]
            case .several(let lengths): lengths.map(\.length)
            }
        }
        var table = BeginningTable()
        #expect(lengths(table, 1).isEmpty)
        for beginning in UInt64(0)..<3_000 {
            for length in [20, 8, 4_096, 20, 30].prefix(beginning % 3 == 0 ? 5 : 1) {
                table.add(length, to: beginning, ending: UInt64(length))
            }
        }
        for beginning in UInt64(0)..<3_000 {
            let all = lengths(table, beginning)
            // Two beginnings may be taken for one, and are now and then.
            let own: Set = beginning % 3 == 0 ? [4_096, 30, 20, 8] : [20]
            #expect(all.sorted(by: >) == all && own.isSubset(of: all))
        }
        // Where there are several, most endings are none of them; the one of the first is not kept.
        guard case .several(let several)? = table[0], let thirty = several.first(where: { $0.length == 30 }) else {
            Issue.record("one length")
            return
        }
        #expect(thirty.mayEnd(in: 30) && (UInt64(1_000)..<2_000).count { thirty.mayEnd(in: $0) } < 100)
        #expect((UInt64(1) << 40..<UInt64(1) << 40 + 1_000).count { lengths(table, $0).isEmpty } > 990)
    }

    @Test("A digest that came lately is known, and one that takes its place is taken for no other")
    func recent() {
        var recent = RecentDigests()
        let digests = [0, 1, -1, 1 << 15, 1, -1, 1 << 15, 0, 0]
        let areNew = digests.map { recent.insert($0) }
        #expect(areNew == [true, true, true, true, false, false, false, true, false])
    }

    @Test("Each of many secrets is found as it is, in base64 and in hexadecimal")
    func many() {
        let book = SecretBook()
        let count = 12_000
        func secret(_ number: Int) -> [UInt8] { Array("k\(number * 7_919)-\(number)-abcdef".utf8) }
        for number in 0..<count {
            book.note(secret(number), .token, name: "n\(number % 3)", host: "h\(number % 5)", isSought: true)
        }
        #expect(book.soughtCount == count)
        for number in stride(from: 0, to: count, by: 997) {
            let hex = secret(number).map { String($0, radix: 16) }.joined()
            for text in [secret(number), SecretForms.encoded(secret(number))[2], Array(hex.utf8)] {
                var found: [Int32] = []
                (text + [0x20]).withUnsafeBytes { book.forEachSought(in: $0) { _, entry in found.append(entry) } }
                #expect(found == [Int32(number)], "\(number)")
            }
            let entry = book.entries[number]
            #expect(entry.placeholder.number == number + 1 && entry.name == "n\(number % 3)")
            #expect(entry.host == "h\(number % 5)" && book.placeholder(at: Int32(number)) == entry.placeholder)
        }
        book.seekNothing()
        #expect(book.soughtCount == 0 && book.needles.isEmpty)
        book.note(secret(3), .token, name: "n", host: "h", isSought: true)
        #expect(book.soughtCount == 1 && !book.needles.isEmpty)
    }
}
