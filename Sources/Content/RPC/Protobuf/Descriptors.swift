struct FieldDescriptor: Sendable, Hashable {
    /// The types of `FieldDescriptorProto`, by their numbers.
    enum Kind: Int, Sendable {
        case double = 1
        case float, int64, uint64, int32, fixed64, fixed32, bool, string, group, message, bytes
        case uint32, enumeration, sfixed32, sfixed64, sint32, sint64

        /// How a value is encoded. Only numbers may be packed into one length-delimited value.
        enum Form {
            case varint, fixed32, fixed64, bytes, message
        }

        var form: Form {
            switch self {
            case .double, .fixed64, .sfixed64: .fixed64
            case .float, .fixed32, .sfixed32: .fixed32
            case .string, .bytes: .bytes
            case .message, .group: .message
            default: .varint
            }
        }
    }

    var number: Int
    var jsonName: String
    var kind: Kind
    /// The full name of the message or enum type; empty for scalars.
    var typeName = ""
    var isRepeated = false
    /// The index of the field's oneof in its message; `nil` if it has none, or is only `optional`.
    var oneof: Int?
}

struct MessageDescriptor: Sendable, Hashable {
    var fullName: String
    var fields: [Int: FieldDescriptor] = [:]
    var oneofNames: [String] = []
    /// Whether this is the entry type of a map.
    var isMapEntry = false
}

/// An enum type: the first name of each number.
struct EnumDescriptor: Sendable, Hashable {
    var fullName: String
    var names: [Int32: String] = [:]
}
