import CharlesFiles
import HTTPModel
import Support
import Testing
import Text

@testable import CharlesFiles
@testable import Rules
@testable import Tools

@Suite("Charles' settings as elements")
struct XMLElementTests {
    @Test("Lines are counted on, and what is not kept is forgotten")
    func elements() throws {
        let text = "<a>\n<b>1<secret><k>x</k></secret>2</b>\n<c/>\n</a>"
        let root = try XMLElement.read(Array(text.utf8)) { $0.last != "secret" }
        #expect(root.name == "a")
        #expect(root.children.map(\.name) == ["b", "c"])
        #expect(root.children.map(\.line) == [2, 3])
        #expect(root["b"]?.text == "12")
        #expect(root["b"]?.children == [])
    }

    @Test("What cannot be read is refused with its place")
    func refused() {
        #expect(throws: CharlesError(line: 2, column: 5, message: "</a> stands where </b> is to be closed")) {
            try XMLElement.read(Array("<a><b>\n</a>".utf8)) { _ in true }
        }
        let large = [UInt8](repeating: 0x20, count: XMLElement.largestFile + 1)
        #expect(throws: CharlesError(message: "the file is larger than 64 MiB, the limit for settings")) {
            try XMLElement.read(large) { _ in true }
        }
    }

    @Test("Mutated settings are read or refused, never more")
    func fuzz() {
        let seed: UInt64 = 0x510C_E005
        var random = SplitMix(seed)
        let pieces = [
            "<", ">", "&", ";", "<![CDATA[", "]]>", "<!--", "-->", "<?", "?>", "&#x", "'", "\"", "/", "\u{0}", "é",
        ]
        let source = Array(CharlesSamples.all.utf8)
        var refused = 0
        for _ in 0..<2_000 {
            var bytes = source
            for _ in 0...Int.random(in: 0..<4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.removeSubrange(place..<min(bytes.count, place + Int.random(in: 1..<40, using: &random)))
                case 2: bytes.insert(contentsOf: (pieces.randomElement(using: &random) ?? "<").utf8, at: place)
                default: bytes.removeSubrange(place...)
                }
                if bytes.isEmpty { bytes = [0x3C] }
            }
            do throws(CharlesError) {
                var drafting = CharlesDrafting(loneTool: nil, paths: [])
                try drafting.read(bytes)
            } catch {
                refused += 1
                #expect(error.line >= 1 && error.column >= 1 && !error.message.isEmpty, "seed \(seed)")
            }
        }
        #expect(refused > 500 && refused < 2_000, "seed \(seed)")
    }
}
