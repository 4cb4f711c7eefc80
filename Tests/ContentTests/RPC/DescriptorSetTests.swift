import Content
import Foundation
import NIOCore
import Support
import Testing

@Suite("Protocol Buffers with a descriptor set")
struct DescriptorSetTests {
    private func shop() throws -> DescriptorSet { try DescriptorSet(ProtobufFixtures.shop) }

    /// The printed form without its remarks, as a JSON value.
    private func json(_ lines: [String]) throws -> NSObject {
        let text = lines.map { line in
            let bare = line.range(of: "//").map { String(line[..<$0.lowerBound]) } ?? line
            return line.contains("://") || line.contains("type.googleapis.com/") ? line : bare
        }.joined(separator: "\n")
        return try #require(
            JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed) as? NSObject,
            "\(text)"
        )
    }

    private func lines(_ bytes: [UInt8], as type: String = "shop.v1.Order") throws -> [String] {
        try #require(try shop().decode(ByteBuffer(bytes: bytes), as: type)).lines
    }

    @Test("Every kind of field has the JSON that Google's library gives it")
    func agreesWithReference() throws {
        let cases = [
            (ProtobufFixtures.shop, "shop.v1.Order", ProtobufFixtures.order, ProtobufFixtures.orderJSON),
            (ProtobufFixtures.legacy, "legacy.Result", ProtobufFixtures.result, ProtobufFixtures.resultJSON),
            (ProtobufFixtures.shop, "shop.v1.Order", ProtobufFixtures.anyTimestamp, ProtobufFixtures.anyTimestampJSON),
        ]
        for (set, type, message, expected) in cases {
            let content = try #require(try DescriptorSet(set).decode(message, as: type))
            #expect(content.problem == nil && content.isTyped && !content.isCut)
            #expect(try json(content.lines) == json([expected]))
        }
    }

    @Test("The layout is JSON's, with remarks behind slashes")
    func laysOut() throws {
        let lines = try lines([
            0x18, 0x01, 0xA2, 0x01, 0x02, 0x01, 0x07, 0x22, 0x00, 0xF8, 0x06, 0x96, 0x01, 0x3A, 0x01, 0x78,
        ])
        #expect(
            lines == [
                "{",
                #"  "state": "ACTIVE","#,
                #"  "history": ["#,
                #"    "ACTIVE","#,
                "    7  // shop.v1.State has no such value",
                "  ],",
                #"  "items": ["#,
                "    {}",
                "  ],",
                "  // 111: 150",
                #"  "card": "x""#,
                "}",
            ]
        )
        #expect(try self.lines([]) == ["{}"])
    }

    @Test("Methods are found by path, whatever stands before them")
    func findsMethods() throws {
        let set = try shop()
        #expect(set.serviceNames == ["shop.v1.Orders"])
        guard case .found(let method) = set.method(path: "/api/shop.v1.Orders/Watch?x=1") else {
            Issue.record("not found")
            return
        }
        #expect(method.name == "Watch")
        #expect(method.input == "shop.v1.Item" && method.output == "shop.v1.Ack")
        #expect(method.isClientStreaming && method.isServerStreaming)
        guard case .found(let unary) = set.method(path: "/shop.v1.Orders/Get") else {
            Issue.record("not found")
            return
        }
        #expect(!unary.isClientStreaming && !unary.isServerStreaming && unary.output == "shop.v1.Order")
    }

    @Test("A path that names nothing of the set says what there is")
    func explainsUnknownMethods() throws {
        let set = try shop()
        #expect(
            set.method(path: "/shop.v1.Order/Get")
                == .unknown("the descriptor set has no service shop.v1.Order; it has shop.v1.Orders")
        )
        #expect(
            set.method(path: "/shop.v1.Orders/Put")
                == .unknown("the service shop.v1.Orders has no method Put in the descriptor set; it has Get, Watch")
        )
        for path in ["", "/", "/x", "Orders/Get", "/shop.v1.Orders/"] {
            #expect(set.method(path: path) == .unknown("the path does not end in /package.Service/Method"), "\(path)")
        }
    }

    @Test("A set without its imports still reads well-known types")
    func readsWithoutImports() throws {
        let set = try DescriptorSet(ProtobufFixtures.shopAlone)
        let content = try #require(set.decode(ProtobufFixtures.order, as: "shop.v1.Order"))
        #expect(try json(content.lines) == json([ProtobufFixtures.orderJSON]))
        #expect(set.decode(ByteBuffer(), as: "shop.v1.Nothing") == nil)
    }

    @Test("Types that are missing are read by number, with what to do about it")
    func remarksOnMissingTypes() throws {
        // An Any of a type that the set does not have.
        let url = Array("t/x.Unknown".utf8)
        let any = [0x0A, UInt8(url.count)] + url + [0x12, 0x02, 0x08, 0x04]
        let lines = try lines([0x82, 0x01, UInt8(any.count)] + any)
        #expect(
            lines == [
                "{",
                #"  "detail": {  // x.Unknown is not in the descriptor set; was it made with --include_imports?"#,
                #"    "@type": "t/x.Unknown""#,
                "    // 1: 4",
                "  }",
                "}",
            ]
        )
    }

    @Test("What is sent twice is merged, or the last counts, and a remark says so")
    func mergesRepeated() throws {
        // order_id twice, parent twice with different fields, both members of a oneof.
        let bytes: [UInt8] = [
            0x08, 0x01, 0x08, 0x02, 0xE2, 0x01, 0x02, 0x08, 0x05, 0xE2, 0x01, 0x03, 0x12, 0x01, 0x78, 0x3A, 0x01, 0x63,
            0x42, 0x01, 0x74,
        ]
        #expect(
            try lines(bytes) == [
                "{",
                #"  "orderId": "2",  // sent 2 times; the last counts"#,
                #"  "parent": {"#,
                #"    "orderId": "5","#,
                #"    "customerName": "x""#,
                "  },",
                #"  "card": "c",  // does not count: token came later in oneof payment"#,
                #"  "token": "dA=="  // the text "t""#,
                "}",
            ]
        )
    }

    @Test("Values of another wire type than the field's are shown by number")
    func remarksOnMismatch() throws {
        let lines = try lines([0x0A, 0x01, 0x78, 0x12, 0x01, 0x79])
        #expect(
            lines == ["{", #"  // 1: "x"  # not of the type that orderId has"#, #"  "customerName": "y""#, "}"]
        )
    }

    @Test("Moments out of range fall back to their fields")
    func fallsBackToFields() throws {
        #expect(try lines([0x5A, 0x02, 0x10, 0x05]).contains(#"  "createdAt": "1970-01-01T00:00:00.000000005Z""#))
        let tooLate = try lines([0x5A, 0x0B, 0x10, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x01])
        #expect(tooLate == ["{", #"  "createdAt": {"#, #"    "nanos": -1"#, "  }", "}"])
    }

    @Test("Files that are no descriptor set are refused with what they are and what to do")
    func refusesOtherFiles() {
        func refusal(_ bytes: [UInt8]) -> DescriptorSetError? {
            do {
                _ = try DescriptorSet(ByteBuffer(bytes: bytes))
                return nil
            } catch {
                return error
            }
        }
        let cases: [([UInt8], String)] = [
            ([], "it is empty"),
            (Array("syntax = \"proto3\";\n".utf8), "it is the source of a .proto file, not compiled"),
            (Array("// Copyright\nsyntax = \"proto3\";\n".utf8), "it is the source of a .proto file, not compiled"),
            (Array("{\"file\": []}".utf8), "it is JSON, not the binary form of a descriptor set"),
            ([0x1F, 0x8B, 8, 0], "it is compressed with gzip"),
            ([0x12, 0x01, 0x61], "it describes no file"),
            ([0x0A, 0x05, 0x61], "it is no FileDescriptorSet: field 1 is cut off, at byte 0"),
            ([0x89, 0x50, 0x4E, 0x47], "it is no FileDescriptorSet: field 1 is cut off, at byte 0"),
            ([0x08, 0x01], "it is no FileDescriptorSet: field 1 should be a file, and is a VARINT, at byte 0"),
        ]
        for (bytes, message) in cases {
            let refusal = refusal(bytes)
            #expect(refusal?.message == message || bytes.first == 0x89 && refusal != nil)
            #expect(refusal?.hint.isEmpty == false)
        }
        // One file of a set, as FileDescriptorProto: its first field is its name.
        #expect(refusal([0x0A, 0x06] + Array("a.prot".utf8)) != nil)
    }

    @Test("A descriptor set cut at every byte is refused, or read as far as its whole files go")
    func survivesTruncatedSets() {
        let whole = Array(ProtobufFixtures.shop.readableBytesView)
        var readable = 0
        for count in 0..<whole.count {
            do {
                _ = try DescriptorSet(ByteBuffer(bytes: whole.prefix(count)))
                readable += 1
            } catch {
                #expect(!error.message.isEmpty)
            }
        }
        // The set has eight files, so it can end whole after seven of them.
        #expect(readable == 7)
    }

    @Test("A message cut at every byte shows the fields before the cut")
    func survivesTruncatedMessages() throws {
        let set = try shop()
        let whole = Array(ProtobufFixtures.order.readableBytesView)
        var longest = 0
        for count in 0..<whole.count {
            let content = try #require(set.decode(ByteBuffer(bytes: whole.prefix(count)), as: "shop.v1.Order"))
            #expect(content.problem.map { $0.offset <= count } ?? true)
            #expect(content.lines.count + 12 >= longest)
            let partial = set.decode(ByteBuffer(bytes: whole.prefix(count)), as: "shop.v1.Order", isPartial: true)
            #expect(partial?.problem == nil, "after \(count) bytes")
            #expect((partial?.lines.count ?? 0) >= content.lines.count)
            longest = max(longest, content.lines.count)
        }
        #expect(longest > 60)
    }

    @Test("Changed sets and messages are read without a crash")
    func survivesAnything() throws {
        let seed: UInt64 = 0x510C_E005
        var random = SplitMix(seed)
        let good = try shop()
        var accepted = 0
        for round in 0..<2000 {
            var message = Array(ProtobufFixtures.order.readableBytesView)
            random.mutate(&message)
            let content = try #require(good.decode(ByteBuffer(bytes: message), as: "shop.v1.Order"))
            #expect(content.lines.reduce(0) { $0 + $1.utf8.count } < 100_000, "seed \(seed), round \(round)")
            var bytes = Array(ProtobufFixtures.shop.readableBytesView)
            random.mutate(&bytes)
            guard let set = try? DescriptorSet(ByteBuffer(bytes: bytes)) else { continue }
            accepted += 1
            _ = set.decode(ByteBuffer(bytes: message), as: "shop.v1.Order")?.lines
        }
        #expect(accepted > 0, "seed \(seed)")
    }

    @Test("Depth and number of values are limited, however the message nests")
    func keepsLimits() throws {
        var limits = ProtobufLimits()
        limits.depth = 4
        var nested: [UInt8] = [0x08, 0x02]
        for _ in 0..<20 { nested = [0xE2, 0x01, UInt8(nested.count)] + nested }
        let deep = try #require(try shop().decode(ByteBuffer(bytes: nested), as: "shop.v1.Order", limits: limits))
        #expect(deep.lines.contains { $0.contains("nested deeper than 4 levels") })
        limits.values = 100
        let many = ByteBuffer(bytes: repeatElement([0x52, 0x01, 0x61] as [UInt8], count: 5000).joined())
        let cut = try #require(try shop().decode(many, as: "shop.v1.Order", limits: limits))
        #expect(cut.isCut && (100...110).contains(cut.lines.count))
    }
}
