import Foundation

/// Scalars in the JSON form of proto3.
extension TypedReader {
    /// Reads a scalar; the value must be of a wire type that fits the field.
    mutating func scalar(_ field: FieldDescriptor, _ value: WireField.Value) -> ProtobufNode {
        guard takeValue() else { return ProtobufNode(.none, .scalar("null"), remark: "left out") }
        switch (field.kind, value) {
        case (.string, .bytes(let range)):
            return ProtobufNode(.none, ProtobufScalar.text(bytes[range], limit: limits.text))
        case (.bytes, .bytes(let range)): return bytesNode(range)
        case (.enumeration, .varint(let bits)): return enumNode(field.typeName, bits)
        default: return ProtobufNode(.none, .scalar(number(field.kind, value)))
        }
    }

    /// A number or Boolean in JSON; 64-bit integers are strings, because JavaScript cannot represent them.
    private func number(_ kind: FieldDescriptor.Kind, _ value: WireField.Value) -> String {
        switch (kind, value) {
        case (.bool, .varint(let bits)): bits != 0 ? "true" : "false"
        case (.int32, .varint(let bits)): String(Int32(truncatingIfNeeded: bits))
        case (.uint32, .varint(let bits)): String(UInt32(truncatingIfNeeded: bits))
        case (.sint32, .varint(let bits)):
            String(Int32(truncatingIfNeeded: ProtobufScalar.zigZag(bits & UInt64(UInt32.max))))
        case (.int64, .varint(let bits)): "\"\(Int64(bitPattern: bits))\""
        case (.uint64, .varint(let bits)): "\"\(bits)\""
        case (.sint64, .varint(let bits)): "\"\(ProtobufScalar.zigZag(bits))\""
        case (.fixed32, .fixed32(let bits)): String(bits)
        case (.sfixed32, .fixed32(let bits)): String(Int32(bitPattern: bits))
        case (.float, .fixed32(let bits)): ProtobufScalar.number(Float(bitPattern: bits))
        case (.fixed64, .fixed64(let bits)): "\"\(bits)\""
        case (.sfixed64, .fixed64(let bits)): "\"\(Int64(bitPattern: bits))\""
        case (.double, .fixed64(let bits)): ProtobufScalar.number(Double(bitPattern: bits))
        default: "null"
        }
    }

    private func enumNode(_ type: String, _ bits: UInt64) -> ProtobufNode {
        let number = Int32(truncatingIfNeeded: bits)
        if type == "google.protobuf.NullValue" { return ProtobufNode(.none, .scalar("null")) }
        if let name = set.enums[type]?.names[number] {
            return ProtobufNode(.none, .scalar(ProtobufScalar.quoted(name)))
        }
        let name = ProtobufScalar.name(type)
        let reason = set.enums[type] == nil ? "\(name) is not in the descriptor set" : "\(name) has no such value"
        return ProtobufNode(.none, .scalar(String(number)), remark: reason)
    }

    /// Bytes in base64; a remark shows their text, if they are text.
    private func bytesNode(_ range: Range<Int>) -> ProtobufNode {
        let shown = bytes[range].prefix(limits.text / 4 * 3)
        var remarks: [String] = []
        if shown.count < range.count { remarks.append("the first \(shown.count) of \(range.count) bytes") }
        if !shown.isEmpty, WireReading.isText(shown) {
            let start = ProtobufScalar.text(shown, limit: limits.bytes).text
            remarks.append("the text \(start)\(shown.count > limits.bytes ? "…" : "")")
        }
        let text = "\"\(Data(shown).base64EncodedString())\""
        return ProtobufNode(.none, .scalar(text), remark: remarks.joined(separator: "; "))
    }

    func mapKey(_ field: FieldDescriptor, _ value: WireField.Value) -> String {
        if field.kind == .string, case .bytes(let range) = value {
            return String(decoding: bytes[range].prefix(limits.text), as: UTF8.self)
        }
        return number(field.kind, value).filter { $0 != "\"" }
    }

    func defaultKey(_ field: FieldDescriptor) -> String { field.kind == .bool ? "false" : "0" }

    /// The default value of a map entry or wrapper that was sent without a value.
    mutating func defaultValue(_ field: FieldDescriptor, depth: Int) -> ProtobufNode {
        switch field.kind.form {
        case .message: message(field.typeName, [], depth: depth + 1)
        case .bytes: ProtobufNode(.none, .scalar("\"\""))
        case .fixed64: scalar(field, .fixed64(0))
        case .fixed32: scalar(field, .fixed32(0))
        case .varint: scalar(field, .varint(0))
        }
    }
}

extension WireCursor {
    mutating func packedValue(_ kind: FieldDescriptor.Kind) -> WireField.Value? {
        switch kind.form {
        case .fixed64: fixed(8).map { .fixed64($0) }
        case .fixed32: fixed(4).map { .fixed32(UInt32(truncatingIfNeeded: $0)) }
        default: varint().map { .varint($0) }
        }
    }
}
