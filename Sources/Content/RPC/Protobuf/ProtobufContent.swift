package import NIOCore

/// Limits for reading a message, so that even a hostile message can be shown quickly.
package struct ProtobufLimits {
    /// How deep messages may be nested; deeper messages are not read.
    package var depth = 64
    package var values = 10_000
    /// How many bytes of a text to show.
    package var text = 4096
    /// How many bytes of a value that is not text to show.
    package var bytes = 64

    package init() {}
}

/// A field, or an element of a list, of a message in Protocol Buffers: a tree that can be printed, and folded.
package struct ProtobufNode: Sendable, Hashable {
    package enum Label: Sendable, Hashable {
        /// The number of a field whose name is unknown.
        case number(Int)
        /// A field's JSON name, or a map's key.
        case name(String)
        /// Nothing: an element of a list, or a whole message.
        case none
    }

    package enum Value: Sendable, Hashable {
        /// One value as it is printed: a JSON scalar, or `<…>` for bytes.
        case scalar(String)
        case message([ProtobufNode])
        case list([ProtobufNode])
    }

    package var label: Label
    package var value: Value
    /// Remarks: other readings, what was left out; may be empty.
    package var remark: String

    package init(_ label: Label, _ value: Value, remark: String = "") {
        self.label = label
        self.value = value
        self.remark = remark
    }

    init(_ label: Label, _ scalar: (text: String, remark: String)) {
        self.init(label, .scalar(scalar.text), remark: scalar.remark)
    }

    func labelled(_ label: Label) -> ProtobufNode { ProtobufNode(label, value, remark: remark) }

    mutating func add(remark: String) { self.remark += self.remark.isEmpty ? remark : "; \(remark)" }
}

/// A message in Protocol Buffers, read as far as it can be.
package struct ProtobufContent: Sendable, Hashable {
    /// The whole message: a message, or a scalar if the type has its own JSON form (`Timestamp`).
    package var root: ProtobufNode
    /// Whether names and types come from a descriptor; if not, fields are labelled with numbers.
    package var isTyped: Bool
    /// The first error in the bytes; the fields before it are in the tree.
    package var problem: ProtobufError?
    /// Whether the limit on values was reached, so that the rest is missing.
    package var isCut: Bool

    /// JSON form of proto3, remarks after `//`; without a descriptor, form of `protoc --decode_raw`, remarks after `#`.
    package var lines: [String] { isTyped ? ProtobufPrinter.json(root) : ProtobufPrinter.text(root) }

    /// Reads a message without a descriptor; a partial message may end within a field. A length-delimited value is read
    /// as the first of these that fits:
    /// 1. text: UTF-8 without control characters except tabs and line breaks. If it begins with one of these and can
    /// also be a message, it is a message: the bytes 9, 10 and 13 are also tags of field 1
    /// 2. a message: fields up to the last byte, shortest tags, no reserved numbers, one wire type for each number
    /// 3. packed varints: at least two, each in its shortest form and of at most 32 bits (or negative)
    /// 4. bytes, in hexadecimal
    package static func schemaless(
        _ bytes: ByteBuffer,
        isPartial: Bool = false,
        limits: ProtobufLimits = ProtobufLimits()
    ) -> ProtobufContent {
        var reader = SchemalessReader(Array(bytes.readableBytesView), isPartial: isPartial, limits: limits)
        let fields = reader.wholeMessage()
        let root = ProtobufNode(.none, .message(fields))
        return ProtobufContent(root: root, isTyped: false, problem: reader.problem, isCut: reader.isCut)
    }
}
