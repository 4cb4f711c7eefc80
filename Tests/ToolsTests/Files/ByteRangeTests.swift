import HTTPModel
import Testing
import Tools

@testable import Rules
@testable import Tools

@Suite("Byte ranges")
struct ByteRangeTests {
    @Test(
        "A Range field means what RFC 9110 §14.1.2 says, for a file of 10,000 bytes",
        arguments: [
            ("bytes=0-499", [0..<500]), ("bytes=500-999", [500..<1_000]), ("bytes=-500", [9_500..<10_000]),
            ("bytes=9500-", [9_500..<10_000]), ("bytes=0-0,-1", [0..<1, 9_999..<10_000]),
            ("bytes= 0-0, , 1-1 ", [0..<1, 1..<2]), ("Bytes=1-2", [1..<3]),
            ("bytes=500-600,601-999", [500..<601, 601..<1_000]), ("bytes=500-700,601-999", [500..<701, 601..<1_000]),
            ("bytes=9999-20000", [9_999..<10_000]), ("bytes=-20000", [0..<10_000]),
            ("bytes=0-,20000-", [0..<10_000]), ("bytes=5-99999999999999999999999", [5..<10_000]),
            ("bytes=9000-9000,0-0", [9_000..<9_001, 0..<1]),
        ] as [(String, [Range<Int64>])]
    )
    func parts(text: String, parts: [Range<Int64>]) {
        #expect(ByteRanges(text, length: 10_000) == .parts(parts))
    }

    @Test(
        "What is no valid range counts for nothing",
        arguments: [
            "", "bytes", "bytes=", "bytes=,", "bytes=-", "bytes=a-b", "bytes=5-4", "bytes=1-2-3", "bytes=0x1-2",
            "bytes=+1-2", "bytes=1 - 2", "lines=1-2", "bytes 1-2", "bytes=1-2;3-4", "bytes=٣-٤", "bytes=1-2,x",
            "bytes=" + (0..<200).map { "\($0)-\($0)" }.joined(separator: ","),
            "bytes=0-,0-,0-,0-", "bytes=0-9,1-9,2-9,3-9",
        ]
    )
    func whole(text: String) {
        #expect(ByteRanges(text, length: 10_000) == .whole)
    }

    @Test(
        "Nothing that is there is unsatisfiable",
        arguments: ["bytes=10000-", "bytes=99999999999999999999-", "bytes=-0"]
    )
    func unsatisfiable(text: String) {
        #expect(ByteRanges(text, length: 10_000) == .unsatisfiable)
    }

    @Test("An empty file has no bytes, but its last ones are all of it")
    func empty() {
        #expect(ByteRanges("bytes=0-", length: 0) == .unsatisfiable)
        #expect(ByteRanges("bytes=-5", length: 0) == .whole)
    }
}
