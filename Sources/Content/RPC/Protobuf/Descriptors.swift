/// One field of a message type, as a descriptor describes it.
struct FieldDescriptor: Sendable, Hashable {
    /// The types of `FieldDescriptorProto`, by their numbers.
    enum Kind: Int, Sendable {
        case double = 1
        case float
        case int64
        case uint64
        case int32
        case fixed64
        case fixed32
        case bool
        case string
        case group
        case message
        case bytes
        case uint32
        case enumeration
        case sfixed32
        case sfixed64
        case sint32
        case sint64

        /// Whether several values may stand packed in one length-delimited value.
        var isPackable: Bool {
            switch self {
            case .string, .group, .message, .bytes: false
            default: true
            }
        }
    }

    var number: Int
    var jsonName: String
    var kind: Kind
    /// The full name of the message or enum type; empty for scalars.
    var typeName = ""
    var isRepeated = false
    /// The position in its message of the oneof it belongs to; `nil` for none, and for a mere `optional`.
    var oneof: Int?
}

/// A message type.
struct MessageDescriptor: Sendable, Hashable {
    var fullName: String
    var fields: [Int: FieldDescriptor] = [:]
    var oneofNames: [String] = []
    /// Whether it stands for the entries of a map.
    var isMapEntry = false
}

/// An enum type: the first name of each number.
struct EnumDescriptor: Sendable, Hashable {
    var fullName: String
    var names: [Int32: String] = [:]
}
