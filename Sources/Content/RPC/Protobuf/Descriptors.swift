/// One field of a message type, as a descriptor describes it.
struct FieldDescriptor: Sendable, Hashable {
    /// The types of `FieldDescriptorProto`, by their numbers.
    enum Kind: Int, Sendable {
        case double = 1
        case float, int64, uint64, int32, fixed64, fixed32, bool, string, group, message, bytes
        case uint32, enumeration, sfixed32, sfixed64, sint32, sint64

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
