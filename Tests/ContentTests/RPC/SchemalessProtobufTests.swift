import Content
import NIOCore
import Support
import Testing

@Suite("Protocol Buffers without a descriptor")
struct SchemalessProtobufTests {
    private static func content(_ bytes: [UInt8], limits: ProtobufLimits = ProtobufLimits()) -> ProtobufContent {
        ProtobufContent.schemaless(ByteBuffer(bytes: bytes), limits: limits)
    }

    /// A length-delimited field.
    private static func field(_ number: UInt8, _ payload: some Collection<UInt8>) -> [UInt8] {
        [number << 3 | 2, UInt8(payload.count)] + payload
    }

    @Test(
        "Varints are shown unsigned, with the readings that tell something",
        arguments: [
            ([0x08, 0x96, 0x01], "1: 150"), ([0x08, 0x00], "1: 0  # or false"), ([0x08, 0x01], "1: 1  # or true"),
            ([0x08, 0x03], "1: 3  # or -2 as sint"), ([0xF8, 0xFF, 0xFF, 0xFF, 0x0F, 0x02], "536870911: 2"),
            (
                [0x10] + Array(repeating: 0xFF, count: 9) + [0x01],
                "2: 18446744073709551615  # or -1"
            ),
            ([0x08, 0xE9, 0xE0, 0x81, 0xC9, 0x06], "1: 1763733609  # or 2025-11-21T14:00:09Z"),
        ] as [([UInt8], String)]
    )
    func showsVarints(_ bytes: [UInt8], _ line: String) {
        let content = Self.content(bytes)
        #expect(content.lines == [line])
        #expect(content.problem == nil && !content.isTyped && !content.isCut)
    }

    @Test(
        "Fixed values are numbers of a usual size",
        arguments: [
            ([0x0D, 0xDB, 0x0F, 0x49, 0x40], "1: 3.1415927  # 32 bits, or 1078530011"),
            ([0x0D, 5, 0, 0, 0], "1: 5  # 32 bits"),
            ([0x0D, 0xFB, 0xFF, 0xFF, 0xFF], "1: 4294967291  # 32 bits, or -5"),
            (
                [0x09, 0, 0, 0, 0, 0, 0, 0xF8, 0x3F],
                "1: 1.5  # 64 bits, or 4609434218613702656"
            ),
            ([0x09, 7, 0, 0, 0, 0, 0, 0, 0], "1: 7  # 64 bits"),
        ] as [([UInt8], String)]
    )
    func showsFixed(_ bytes: [UInt8], _ line: String) {
        #expect(Self.content(bytes).lines == [line])
    }

    @Test("Text, messages, packed varints and bytes are told apart")
    func tellsLengthDelimitedApart() {
        let inner = Self.field(1, "inner".utf8) + [0x10, 0x05]
        let bytes =
            Self.field(1, "testing ☃\t\"q\"".utf8) + Self.field(2, inner) + Self.field(3, [3, 0x8E, 2, 0x9E, 0xA7, 5])
            + Self.field(4, [0xDE, 0xAD, 0xBE, 0xEF]) + Self.field(5, [])
        #expect(
            Self.content(bytes).lines == [
                #"1: "testing ☃\t\"q\"""#,
                "2: {",
                #"  1: "inner""#,
                "  2: 5  # or -3 as sint",
                "}",
                "3: [3, 270, 86942]  # packed; the bytes are <038e029ea705>",
                "4: <deadbeef>  # 4 bytes",
                #"5: """#,
            ]
        )
    }

    @Test("Words that could be messages stay words", arguments: ["hi", "Emily", "Alexander", "H1", "{}", "B", "e1234"])
    func prefersText(_ word: String) {
        #expect(Self.content(Self.field(1, word.utf8)).lines.first == #"1: "\#(word)""#)
    }

    @Test("A message whose first field is ten bytes long begins with line feeds, and is still a message")
    func seesMessagesBehindLineFeeds() {
        #expect(
            Self.content(Self.field(1, Self.field(1, "0123456789".utf8))).lines == ["1: {", #"  1: "0123456789""#, "}"]
        )
        #expect(Self.content(Self.field(1, "\n\nplain".utf8)).lines == [#"1: "\n\nplain""#])
    }

    @Test("Text that is a message of texts too says so")
    func remarksOnBoth() {
        let uuid = "550e8400-e29b-41d4-a716-446655440000"
        let line = Self.content(Self.field(1, Self.field(4, uuid.utf8))).lines.first
        #expect(line == #"1: "\"$\#(uuid)"  # or a message with the fields 4"#)
    }

    @Test("Groups are read, with what they hold")
    func readsGroups() {
        let bytes: [UInt8] = [0x0B] + Self.field(2, "x".utf8) + [0x1B, 0x08, 0x02, 0x1C, 0x0C]
        let lines = Self.content(bytes).lines
        #expect(lines == ["1: {  # a group", #"  2: "x""#, "  3: {  # a group", "    1: 2", "  }", "}"])
    }

    @Test("Control characters never reach the terminal")
    func escapesControls() {
        let lines = Self.content(Self.field(1, "a\u{9B}31m".utf8) + Self.field(2, "\u{202E}x".utf8)).lines
        #expect(lines == ["1: [97, 839106, 49, 109]  # packed; the bytes are <61c29b33316d>", #"2: "\u202ex""#])
        let named = Self.content(Self.field(1, "\u{1B}]0;x\u{7}".utf8)).lines.joined()
        #expect(named.unicodeScalars.allSatisfy { $0.value >= 0x20 })
    }

    @Test(
        "What is no message is read up to there",
        arguments: [
            ([0x08, 0x02, 0x07], 2, "7 is not a wire type (field 0)"),
            ([0x08, 0x02, 0x00], 2, "0 is not a field number"),
            ([0x08, 0x02, 0x0E], 2, "6 is not a wire type (field 1)"),
            ([0x08, 0x02, 0x12, 0x05, 0x61], 2, "field 2 is cut off"),
            ([0x08, 0x02, 0x0C], 2, "a group ends without a beginning (field 1)"),
            ([0x08, 0x02, 0x0B, 0x08, 0x02], 3, "the group of field 1 has no end"),
            ([0x08, 0x02] + Array(repeating: 0xFF, count: 11), 2, "a field's tag is cut off or too long"),
            ([0x08, 0x02, 0x0B, 0x14], 3, "a group ends without a beginning (field 2)"),
        ] as [([UInt8], Int, String)]
    )
    func tellsProblems(_ bytes: [UInt8], _ offset: Int, _ message: String) {
        let content = Self.content(bytes)
        #expect(content.lines.first == "1: 2")
        #expect(content.problem?.offset == offset)
        #expect(content.problem?.message == message || message.hasPrefix("7 is"))
    }

    @Test("Depth and number of values are limited")
    func keepsLimits() {
        var nested: [UInt8] = [0x08, 0x02]
        for _ in 0..<40 { nested = Self.field(2, nested).count < 127 ? Self.field(2, nested) : nested }
        var limits = ProtobufLimits()
        limits.depth = 5
        let lines = Self.content(nested, limits: limits).lines
        #expect(lines.count == 9)
        #expect(lines.contains { $0.contains("nested deeper than 5 levels") })
        limits.values = 10
        let many = Self.content(Array(repeatElement([0x08, 0x02] as [UInt8], count: 1000).joined()), limits: limits)
        #expect(many.lines.count == 10 && many.isCut && many.problem == nil)
    }

    @Test("Long texts and bytes are cut, with their size")
    func cutsLongValues() {
        var limits = ProtobufLimits()
        limits.text = 5
        limits.bytes = 2
        let bytes = Self.field(1, "abcdé and more".utf8) + Self.field(2, [0xFF, 0xFE, 0xFD])
        #expect(
            Self.content(bytes, limits: limits).lines == [
                #"1: "abcd"  # the first 4 of 15 bytes"#, "2: <fffe…>  # 3 bytes",
            ]
        )
    }

    @Test("A real message without its descriptor shows its numbers")
    func readsRealMessage() {
        let content = ProtobufContent.schemaless(ProtobufFixtures.result)
        #expect(
            content.lines == [
                "1: 5  # or -3 as sint", "2: {  # a group", #"  3: "first""#, "}", "2: {  # a group", #"  3: "second""#,
                "}", #"100: "t-1""#,
            ]
        )
    }

    @Test("A real message cut at every byte is read up to there")
    func survivesTruncation() {
        let whole = Array(ProtobufFixtures.order.readableBytesView)
        let lines = Self.content(whole).lines
        for count in 0..<whole.count {
            let cut = Self.content(Array(whole.prefix(count)))
            #expect(cut.problem.map { $0.offset <= count } ?? true)
            #expect(cut.lines.count <= lines.count + 2)
        }
    }

    @Test("The beginning of a message shows the field that it ends in, as far as it goes")
    func readsBeginnings() {
        let whole = Self.field(1, Self.field(1, "inner".utf8) + Self.field(2, "cut ☃".utf8)) + [0x15, 1, 2, 3, 4]
        for count in 0..<whole.count {
            let content = ProtobufContent.schemaless(ByteBuffer(bytes: whole.prefix(count)), isPartial: true)
            #expect(content.problem == nil, "after \(count) bytes")
        }
        let cut = ProtobufContent.schemaless(ByteBuffer(bytes: whole.prefix(14)), isPartial: true)
        #expect(cut.lines == ["1: {", #"  1: "inner""#, #"  2: "cut""#, "}"])
    }

    @Test("Any bytes are read without a crash, in bounded output")
    func survivesAnything() {
        let seed: UInt64 = 0x510C_E005
        var random = SplitMix(seed)
        for round in 0..<3000 {
            var bytes = Array(ProtobufFixtures.order.readableBytesView)
            if round % 4 == 0 { bytes = (0..<(round % 64)).map { _ in UInt8.random(in: 0...255, using: &random) } }
            random.mutate(&bytes)
            let content = Self.content(bytes)
            let total = content.lines.reduce(0) { $0 + $1.utf8.count }
            #expect(total < 400 + bytes.count * 80, "seed \(seed), round \(round)")
            #expect(content.lines == Self.content(bytes).lines, "seed \(seed), round \(round)")
        }
    }
}
