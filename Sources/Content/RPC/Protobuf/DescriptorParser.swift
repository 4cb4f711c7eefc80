/// Reads descriptors (messages of descriptor.proto), which describe the types of other messages.
struct DescriptorParser {
    /// How deep types may be declared within types; protoc allows no more than 32.
    private static let deepestNesting = 64

    private let bytes: [UInt8]
    private(set) var filesRead = 0
    private(set) var messages: [String: MessageDescriptor] = [:]
    private(set) var enums: [String: EnumDescriptor] = [:]
    private(set) var services: [String: [DescriptorSet.Method]] = [:]
    private var extensions: [(extendee: String, field: FieldDescriptor)] = []

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func parseSet() throws(ProtobufError) {
        var cursor = WireCursor(bytes, bytes.indices)
        while let field = try cursor.next() {
            guard field.number == 1 else { continue }
            guard case .bytes(let range) = field.value else {
                throw cursor.problem(field.start, "field 1 should be a file, and is a \(field.value.type.name)")
            }
            try parseFile(range)
            filesRead += 1
        }
        for (extendee, field) in extensions { messages[extendee]?.fields[field.number] = field }
    }

    private mutating func parseFile(_ range: Range<Int>) throws(ProtobufError) {
        var name: String?
        var package = ""
        var parts: [(number: Int, range: Range<Int>)] = []
        var cursor = WireCursor(bytes, range)
        while let field = try cursor.next() {
            switch (field.number, field.value) {
            case (1, .bytes(let range)): name = try text(range, "a file's name")
            case (2, .bytes(let range)): package = try text(range, "a package's name")
            case (4...7, .bytes(let range)): parts.append((field.number, range))
            case (1...7, _) where field.number != 3:
                throw cursor.problem(field.start, "field \(field.number) of a file is a \(field.value.type.name)")
            default: break
            }
        }
        // A single FileDescriptorProto is not a set: its fields would be read as files without a name.
        guard name != nil else { throw cursor.problem(range.lowerBound, "a file has no name") }
        for part in parts {
            switch part.number {
            case 4: try parseMessage(part.range, scope: package, depth: 0)
            case 5: try parseEnum(part.range, scope: package)
            case 6: try parseService(part.range, scope: package)
            default: try parseExtension(part.range, scope: package)
            }
        }
    }

    private mutating func parseService(_ range: Range<Int>, scope: String) throws(ProtobufError) {
        var name = ""
        var methods: [DescriptorSet.Method] = []
        var cursor = WireCursor(bytes, range)
        while let field = try cursor.next() {
            switch (field.number, field.value) {
            case (1, .bytes(let range)): name = try text(range, "a service's name")
            case (2, .bytes(let range)): methods.append(try parseMethod(range))
            default: break
            }
        }
        services[DescriptorParser.joined(scope, name)] = methods
    }

    private func parseMethod(_ range: Range<Int>) throws(ProtobufError) -> DescriptorSet.Method {
        var method = DescriptorSet.Method()
        var cursor = WireCursor(bytes, range)
        while let field = try cursor.next() {
            switch (field.number, field.value) {
            case (1, .bytes(let range)): method.name = try text(range, "a method's name")
            case (2, .bytes(let range)): method.input = try typeName(range)
            case (3, .bytes(let range)): method.output = try typeName(range)
            case (5, .varint(let value)): method.isClientStreaming = value != 0
            case (6, .varint(let value)): method.isServerStreaming = value != 0
            default: break
            }
        }
        return method
    }

    private mutating func parseMessage(_ range: Range<Int>, scope: String, depth: Int) throws(ProtobufError) {
        var cursor = WireCursor(bytes, range)
        guard depth < DescriptorParser.deepestNesting else {
            throw cursor.problem(range.lowerBound, "types are declared within types more than \(depth) levels deep")
        }
        var message = MessageDescriptor(fullName: "")
        var nested: [(number: Int, range: Range<Int>)] = []
        while let field = try cursor.next() {
            switch (field.number, field.value) {
            case (1, .bytes(let range)):
                message.fullName = DescriptorParser.joined(scope, try text(range, "a message's name"))
            case (2, .bytes(let range)):
                guard let (_, field) = try parseField(range, scope: "") else { continue }
                message.fields[field.number] = field
            case (3...4, .bytes(let range)), (6, .bytes(let range)): nested.append((field.number, range))
            case (7, .bytes(let range)):
                if case .varint(let bits)? = try value(7, in: range) { message.isMapEntry = bits != 0 }
            case (8, .bytes(let range)): message.oneofNames.append(try name(in: range))
            default: break
            }
        }
        messages[message.fullName] = message
        for part in nested {
            switch part.number {
            case 3: try parseMessage(part.range, scope: message.fullName, depth: depth + 1)
            case 4: try parseEnum(part.range, scope: message.fullName)
            default: try parseExtension(part.range, scope: message.fullName)
            }
        }
    }

    private mutating func parseExtension(_ range: Range<Int>, scope: String) throws(ProtobufError) {
        guard let (extendee, declared) = try parseField(range, scope: scope) else { return }
        var field = declared
        // The JSON form of proto3 writes an extension's full name in brackets.
        field.jsonName = "[\(field.jsonName)]"
        extensions.append((extendee, field))
    }

    /// Reads a field; `nil` if its type is unknown. An extension gets its full name, which begins with `scope`.
    private func parseField(
        _ range: Range<Int>,
        scope: String
    ) throws(ProtobufError) -> (extendee: String, FieldDescriptor)? {
        var field = FieldDescriptor(number: 0, jsonName: "", kind: .int32)
        var kind: FieldDescriptor.Kind?
        var name = ""
        var extendee = ""
        var isOptional = false
        var cursor = WireCursor(bytes, range)
        while let part = try cursor.next() {
            switch (part.number, part.value) {
            case (1, .bytes(let range)): name = try text(range, "a field's name")
            case (2, .bytes(let range)): extendee = try typeName(range)
            case (3, .varint(let value)): field.number = Int(truncatingIfNeeded: value)
            case (4, .varint(let value)): field.isRepeated = value == 3
            case (5, .varint(let value)): kind = FieldDescriptor.Kind(rawValue: Int(truncatingIfNeeded: value))
            case (6, .bytes(let range)): field.typeName = try typeName(range)
            case (9, .varint(let value)): field.oneof = Int(truncatingIfNeeded: value)
            case (10, .bytes(let range)): field.jsonName = try text(range, "a field's JSON name")
            case (17, .varint(let value)): isOptional = value != 0
            default: break
            }
        }
        guard let kind else { return nil }
        field.kind = kind
        if !extendee.isEmpty {
            field.jsonName = DescriptorParser.joined(scope, name)
        } else if field.jsonName.isEmpty {
            field.jsonName = DescriptorParser.jsonName(name)
        }
        // protoc adds a oneof, which is not in the source, for each `optional` field of proto3.
        if isOptional { field.oneof = nil }
        return (extendee, field)
    }

    private mutating func parseEnum(_ range: Range<Int>, scope: String) throws(ProtobufError) {
        var descriptor = EnumDescriptor(fullName: "")
        var cursor = WireCursor(bytes, range)
        while let field = try cursor.next() {
            switch (field.number, field.value) {
            case (1, .bytes(let range)):
                descriptor.fullName = DescriptorParser.joined(scope, try text(range, "an enum's name"))
            case (2, .bytes(let range)):
                var number: Int32 = 0
                if case .varint(let bits)? = try value(2, in: range) { number = Int32(truncatingIfNeeded: bits) }
                let name = try name(in: range)
                if descriptor.names[number] == nil { descriptor.names[number] = name }
            default: break
            }
        }
        enums[descriptor.fullName] = descriptor
    }

    /// The name, which is field 1 of most messages of descriptor.proto.
    private func name(in range: Range<Int>) throws(ProtobufError) -> String {
        guard case .bytes(let range)? = try value(1, in: range) else { return "" }
        return try text(range, "a name")
    }

    /// The last value of a field in a message.
    private func value(_ number: Int, in range: Range<Int>) throws(ProtobufError) -> WireField.Value? {
        var last: WireField.Value?
        var cursor = WireCursor(bytes, range)
        while let field = try cursor.next() { if field.number == number { last = field.value } }
        return last
    }

    /// A type's full name, without the leading dot that protoc writes.
    private func typeName(_ range: Range<Int>) throws(ProtobufError) -> String {
        let name = try text(range, "a type's name")
        return name.hasPrefix(".") ? String(name.dropFirst()) : name
    }

    private func text(_ range: Range<Int>, _ what: String) throws(ProtobufError) -> String {
        guard WireReading.isText(bytes[range]), let text = String(validating: bytes[range], as: UTF8.self) else {
            throw ProtobufError(offset: range.lowerBound, message: "\(what) is not text")
        }
        return text
    }

    private static func joined(_ scope: String, _ name: String) -> String {
        scope.isEmpty ? name : "\(scope).\(name)"
    }

    /// The JSON name of a field whose descriptor has none: without `_`, each letter after a `_` in upper case.
    static func jsonName(_ name: String) -> String {
        var result = ""
        var isNextCapital = false
        for character in name {
            if character == "_" {
                isNextCapital = true
            } else {
                result += isNextCapital ? character.uppercased() : String(character)
                isNextCapital = false
            }
        }
        return result
    }
}
