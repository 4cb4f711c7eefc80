/// Types with a notation of their own in the JSON of proto3; read by field numbers, so they need no descriptor.
enum WellKnownType: String {
    case timestamp = "google.protobuf.Timestamp"
    case duration = "google.protobuf.Duration"
    case fieldMask = "google.protobuf.FieldMask"
    case any = "google.protobuf.Any"
    case structure = "google.protobuf.Struct"
    case value = "google.protobuf.Value"
    case list = "google.protobuf.ListValue"
    case empty = "google.protobuf.Empty"
    case doubleValue = "google.protobuf.DoubleValue"
    case floatValue = "google.protobuf.FloatValue"
    case int64Value = "google.protobuf.Int64Value"
    case uint64Value = "google.protobuf.UInt64Value"
    case int32Value = "google.protobuf.Int32Value"
    case uint32Value = "google.protobuf.UInt32Value"
    case boolValue = "google.protobuf.BoolValue"
    case stringValue = "google.protobuf.StringValue"
    case bytesValue = "google.protobuf.BytesValue"

    /// The kind of a wrapper's only field; `nil` for types that are not wrappers.
    var wrapped: FieldDescriptor.Kind? { WellKnownType.wrappers[self] }

    private static let wrappers: [WellKnownType: FieldDescriptor.Kind] = [
        .doubleValue: .double, .floatValue: .float, .int64Value: .int64, .uint64Value: .uint64, .int32Value: .int32,
        .uint32Value: .uint32, .boolValue: .bool, .stringValue: .string, .bytesValue: .bytes,
    ]

    /// The highest number of the type's fields.
    var lastField: Int {
        switch self {
        case .empty: 0
        case .timestamp, .duration, .any: 2
        case .value: 6
        default: 1
        }
    }
}

extension TypedReader {
    /// Reads a message of a well-known type; `nil` if its content has no JSON notation; its fields are then shown.
    mutating func wellKnown(_ type: WellKnownType, _ pieces: Pieces, depth: Int) -> ProtobufNode? {
        let before = self
        let received = occurrences(pieces)
        guard problem == before.problem, received.order.allSatisfy({ $0 <= type.lastField }),
            let node = wellKnown(type, received, depth: depth)
        else {
            self = before
            return nil
        }
        return node
    }

    private mutating func wellKnown(_ type: WellKnownType, _ received: Occurrences, depth: Int) -> ProtobufNode? {
        switch type {
        case .timestamp, .duration:
            let write = type == .timestamp ? ProtobufScalar.timestamp : TypedReader.duration
            return received.secondsAndNanoseconds.flatMap(write).map { ProtobufNode(.none, .scalar("\"\($0)\"")) }
        case .fieldMask:
            let paths = (received.values[1] ?? []).compactMap { text($0) }.map(DescriptorParser.jsonName)
            return ProtobufNode(.none, .scalar(ProtobufScalar.quoted(paths.joined(separator: ","))))
        case .any: return any(received, depth: depth)
        case .structure: return structure(received, depth: depth)
        case .value: return value(received, depth: depth)
        case .list:
            let name = WellKnownType.value.rawValue
            let field = FieldDescriptor(number: 1, jsonName: "", kind: .message, typeName: name)
            return list(field, received.values[1] ?? [], depth: depth)
        case .empty: return ProtobufNode(.none, .message([]))
        default:
            guard let kind = type.wrapped else { return nil }
            let field = FieldDescriptor(number: 1, jsonName: "value", kind: kind)
            guard let last = received.values[1]?.last else { return defaultValue(field, depth: depth) }
            return fits(last.value, field) ? scalar(field, last.value) : nil
        }
    }

    private func text(_ occurrence: Occurrence?) -> String? {
        guard case .bytes(let range) = occurrence?.value else { return nil }
        return String(decoding: bytes[range], as: UTF8.self)
    }

    /// A duration in its JSON form, for example `-1.500s`; `nil` if its parts are out of range or differ in sign.
    private static func duration(seconds: Int64, nanoseconds: Int32) -> String? {
        guard (-315_576_000_000...315_576_000_000).contains(seconds), nanoseconds.magnitude < 1_000_000_000,
            seconds == 0 || nanoseconds == 0 || (seconds < 0) == (nanoseconds < 0)
        else { return nil }
        let sign = seconds < 0 || nanoseconds < 0 ? "-" : ""
        return "\(sign)\(seconds.magnitude)\(ProtobufScalar.fraction(Int(nanoseconds.magnitude)))s"
    }

    private mutating func any(_ received: Occurrences, depth: Int) -> ProtobufNode? {
        guard let url = text(received.values[1]?.last) else {
            return received.order.isEmpty ? ProtobufNode(.none, .message([])) : nil
        }
        var pieces: Pieces = []
        if case .bytes(let range) = received.values[2]?.last?.value { pieces = [range] }
        let type = url.split(separator: "/").last.map(String.init) ?? ""
        let name = ProtobufNode(.name("@type"), .scalar(ProtobufScalar.quoted(url.prefix(limits.text))))
        let content = message(type, pieces, depth: depth + 1).labelled(.name("value"))
        // A type with its own notation is written as the member `value`; the fields of other types follow `@type`.
        if WellKnownType(rawValue: type) == nil, case .message(let fields) = content.value {
            return ProtobufNode(.none, .message([name] + fields), remark: content.remark)
        }
        return ProtobufNode(.none, .message([name, content]))
    }

    private mutating func structure(_ received: Occurrences, depth: Int) -> ProtobufNode? {
        var members: [ProtobufNode] = []
        for entry in received.values[1] ?? [] {
            guard let piece = entry.pieces, takeValue() else { break }
            let parts = occurrences([piece])
            let name = text(parts.values[1]?.last) ?? ""
            let value = (parts.values[2] ?? []).compactMap(\.pieces)
            members.append(message(WellKnownType.value.rawValue, value, depth: depth + 1).labelled(.name(name)))
        }
        return ProtobufNode(.none, .message(members))
    }

    private mutating func value(_ received: Occurrences, depth: Int) -> ProtobufNode? {
        let last = received.lastPlaces.max { $0.value < $1.value }?.key
        guard let number = last, let occurrence = received.values[number]?.last else {
            return ProtobufNode(.none, .scalar("null"), remark: "a value of no kind")
        }
        let kinds: [Int: FieldDescriptor.Kind] = [2: .double, 3: .string, 4: .bool]
        if let kind = kinds[number] {
            let field = FieldDescriptor(number: number, jsonName: "", kind: kind)
            return fits(occurrence.value, field) ? scalar(field, occurrence.value) : nil
        }
        if number == 1 { return ProtobufNode(.none, .scalar("null")) }
        guard let piece = occurrence.pieces else { return nil }
        let type: WellKnownType = number == 5 ? .structure : .list
        return message(type.rawValue, [piece], depth: depth + 1)
    }
}

extension TypedReader.Occurrences {
    /// The fields of `Timestamp` and `Duration`; `nil` if they have the wrong wire type.
    fileprivate var secondsAndNanoseconds: (seconds: Int64, nanoseconds: Int32)? {
        var numbers: [UInt64] = []
        for number in 1...2 {
            switch values[number]?.last?.value {
            case nil: numbers.append(0)
            case .varint(let bits): numbers.append(bits)
            default: return nil
            }
        }
        return (Int64(bitPattern: numbers[0]), Int32(truncatingIfNeeded: numbers[1]))
    }
}
