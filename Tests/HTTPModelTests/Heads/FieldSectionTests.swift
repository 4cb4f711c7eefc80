import HTTPModel
import NIOCore
import Support
import Testing

/// Fields: reading them as received, and editing them.
@Suite struct FieldSectionTests {
    private func section(_ lines: String) -> FieldSection {
        StoredHead.fields(ByteBuffer(string: lines))
    }

    private func written(_ section: FieldSection) -> String {
        var output = ByteBuffer()
        section.write(into: &output)
        return String(buffer: output)
    }

    @Test("a section is a collection of its lines in order")
    func order() {
        let fields = section("B: 1\r\na:2\r\nb:  3 \r\n")
        #expect(fields.count == 3)
        #expect(fields.map(\.name) == ["B", "a", "b"])
        #expect(fields.map(\.value) == ["1", "2", "3"])
        #expect(fields.description == "B: 1\na: 2\nb: 3")
    }

    @Test("names are looked up in any case")
    func lookUp() {
        let fields = section("Set-Cookie: a\r\nX: y\r\nset-cookie: b\r\n")
        #expect(fields.values(of: .setCookie) == ["a", "b"])
        #expect(fields.value(of: "SET-COOKIE") == "a")
        #expect(fields.firstIndex(of: .setCookie, from: 1) == 2)
        #expect(fields.firstIndex(of: .host) == nil)
        #expect(fields.contains("x"))
        #expect(!fields.contains("xx"))
    }

    @Test("values are UTF-8 where that is valid and Latin-1 elsewhere, and their bytes are at hand")
    func bytes() {
        var buffer = ByteBuffer(string: "A: ü\r\nB: ")
        buffer.writeBytes([0xFC])
        buffer.writeString("\r\n")
        let fields = StoredHead.fields(buffer)
        #expect(fields.value(of: "a") == "ü")
        #expect(fields.value(of: "b") == "ü")
        #expect(fields.withValue(of: "b") { Array($0) } == [0xFC])
        #expect(fields.withValue(at: 0) { $0.count } == 2)
        #expect(fields.valueRange(at: 1) == 10..<11)
        #expect(fields.withValue(of: "c") { $0.count } == nil)
    }

    @Test(
        "members of a list are found in any case, over all lines, and only whole",
        arguments: [
            ("Connection: close\r\n", true), ("Connection: Keep-Alive ,\tCLOSE \r\n", true),
            ("connection: closed\r\n", false),
            ("Connection:\r\nConnection: a,,close\r\n", true), ("Connection: clos, e\r\n", false),
            ("X: close\r\n", false),
            ("Connection: ,\r\n", false), ("Connection: \"close\"\r\n", false),
        ]
    )
    func listMembers(lines: String, expected: Bool) {
        #expect(section(lines).contains(.connection, token: "close" as String) == expected)
        #expect(section(lines).contains(.connection, token: FieldName("Close")) == expected)
    }

    @Test("set keeps the first line's place and spelling, and removes further ones")
    func set() {
        var fields = section("A: 1\r\nx-B:2\r\nC: 3\r\nX-b: 4\r\n")
        fields.set("X-B", "new")
        #expect(written(fields) == "A: 1\r\nx-B: new\r\nC: 3\r\n")
        fields.set("D", "5")
        #expect(written(fields) == "A: 1\r\nx-B: new\r\nC: 3\r\nD: 5\r\n")
        #expect(fields.isChanged)
    }

    @Test("lines are removed by position and by name")
    func remove() {
        var fields = section("A: 1\r\nB: 2\r\na: 3\r\nC:4\r\n")
        #expect(fields.removeAll("A") == 2)
        #expect(written(fields) == "B: 2\r\nC:4\r\n")
        #expect(fields.removeAll("A") == 0)
        fields.remove(at: 0)
        #expect(written(fields) == "C:4\r\n")
        fields.removeAll("c")
        #expect(fields.isEmpty)
        #expect(written(fields) == "")
    }

    @Test("a looked-up line is found under its new name")
    func rename() {
        var fields = section("Old: v\r\n")
        fields.setName("X-New", at: 0)
        #expect(fields.value(of: "x-new") == "v")
        #expect(!fields.contains("old"))
        #expect(written(fields) == "X-New: v\r\n")
    }

    @Test("a section is a value: an edit of a copy leaves the original alone")
    func value() {
        let original = section("A: 1\r\n")
        var copy = original
        copy.set("A", "2")
        copy.append("B", "3")
        #expect(written(original) == "A: 1\r\n")
        #expect(!original.isChanged)
        #expect(written(copy) == "A: 2\r\nB: 3\r\n")
    }

    @Test("a removal that finds nothing is no change")
    func noChange() {
        var fields = section("A: 1\r\n")
        fields.removeAll("B")
        #expect(!fields.isChanged)
    }

    @Test("a folded value reads as one line and must be rewritten")
    func unfolding() {
        var fields = FieldSection(received: ByteBuffer(string: "A: x\r\n y\r\n"))
        fields.appendReceived(name: 0..<1, unfolding: 3..<8)
        #expect(fields.value(of: "a") == "x   y")
        #expect(fields.needsRewriting)
        #expect(!fields.isChanged)
        #expect(written(fields) == "A: x   y\r\n")
    }

    @Test("random edits give the same as a list of pairs would")
    func randomEdits() {
        let seed: UInt64 = 0x510C_E005
        var random = SplitMix(seed)
        for _ in 0..<200 {
            var pairs: [(String, String)] = []
            var fields = FieldSection()
            for _ in 0..<20 {
                let name = ["a", "B", "b", "Cc"].randomElement(using: &random) ?? "a"
                let value = String(UInt8.random(in: 0...255, using: &random))
                func isNamed(_ pair: (String, String)) -> Bool { pair.0.lowercased() == name.lowercased() }
                switch Int.random(in: 0...3, using: &random) {
                case 0, 1:
                    fields.append(name, value)
                    pairs.append((name, value))
                case 2:
                    fields.set(name, value)
                    if let first = pairs.firstIndex(where: isNamed) {
                        pairs[first].1 = value
                        let tail = pairs[(first + 1)...].filter { !isNamed($0) }
                        pairs = pairs[...first] + tail
                    } else {
                        pairs.append((name, value))
                    }
                default:
                    fields.removeAll(FieldName(name))
                    pairs.removeAll(where: isNamed)
                }
            }
            #expect(fields.map { "\($0.name): \($0.value)" } == pairs.map { "\($0.0): \($0.1)" }, "seed \(seed)")
        }
    }
}

@Suite struct FieldNameTests {
    @Test("names are the same in any case")
    func cases() {
        #expect(FieldName("Content-Type") == .contentType)
        #expect(FieldName("Content-Type").lowercased == "content-type")
        #expect(Set<FieldName>(["A", "a", "b"]).count == 2)
        #expect(FieldName("A_[") != FieldName("a_{"))
        #expect("\(FieldName.host)" == "host")
    }
}
