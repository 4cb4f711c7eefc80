import Testing

@testable import Masking

@Suite("Texts within binary data")
struct TextRunTests {
    private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

    private func runs(_ bytes: [UInt8]) -> [String] {
        var runs: [String] = []
        bytes.withUnsafeBytes { all in
            TextRuns.forEach(in: all) { runs.append(String(decoding: all[$0], as: UTF8.self)) }
        }
        return runs
    }

    @Test("Runs are whole characters of UTF-8, and long enough for a name and a value")
    func bounds() {
        #expect(runs(bytes("one text of words")) == ["one text of words"])
        #expect(runs([0, 1] + bytes("päss: wörd €😀") + [0xFF] + bytes("short") + [0]) == ["päss: wörd €😀"])
        #expect(runs([0xC3] + bytes("one text of words") + [0xE2, 0x82]) == ["one text of words"])
        #expect(runs([]).isEmpty && runs([0xFF, 0xC3]).isEmpty)
    }

    @Test("A field by its name in a binary body, whose length stays")
    func fields() {
        for secret in [chance, "hunter2!", "pä ss", "a1"] {
            let text = #"{"password":"\#(secret)","a":1}"#
            for (before, after) in [([UInt8(0), 1, 2], [UInt8(0xFF)]), ([0xC3], [0]), ([0, 0, 0, 0, 40], [])] {
                let masked = Masked.body(before + bytes(text) + after, "application/octet-stream")
                #expect(masked.count == before.count + text.utf8.count + after.count)
                #expect(
                    masked.starts(with: before + bytes(#"{"password":""#)) && masked.suffix(after.count) == after[...]
                )
                #expect(!String(decoding: masked, as: UTF8.self).contains("\"\(secret)\""), "\(secret)")
            }
        }
        let number = [0, 1] + bytes(#"{"pin":4711}"#) + [0]
        #expect(Masked.body(number, nil) == [0, 1] + bytes(#"{"pin":9001}"#) + [0])
    }

    @Test("Words without quotes need the look of a secret; a picture is not read")
    func plain() {
        let program = [0, 1] + bytes("usage: password=hunter2 or Password: %s") + [0]
        #expect(Masked.body(program, "application/octet-stream") == program)
        let found = [0, 1] + bytes("GET /x?access_token=\(chance) ") + [0]
        #expect(Masked.body(found, nil) == [0, 1] + bytes("GET /x?access_token=sluice-token-1-- ") + [0])
        let picture = [0, 1] + bytes(#"{"password":"hunter2!"}"#) + [0xFF]
        #expect(Masked.body(picture, "image/png") == picture)
    }
}
