package import NIOCore

/// How much of a message a reader takes in, so that no message can be a burden to show.
package struct ProtobufLimits {
    /// How deep messages may be nested; what is deeper is shown as bytes.
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
        /// A field's number: nothing else is known of it.
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
    /// What else there is to say: other readings, what was left out; empty for nothing.
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
    /// The whole message: its value is a message, or for a type that JSON writes otherwise (`Timestamp`) a scalar.
    package var root: ProtobufNode
    /// Whether names and types come from a descriptor; where not, fields have numbers.
    package var isTyped: Bool
    /// Where the bytes stop being what they should; what stands before that is in the tree.
    package var problem: ProtobufError?
    /// Whether the limit on values was reached, so that the rest is missing.
    package var isCut: Bool

    /// The JSON form of proto3 with remarks after `//`; without a descriptor like `protoc --decode_raw`, with `#`.
    package var lines: [String] { isTyped ? ProtobufPrinter.json(root) : ProtobufPrinter.text(root) }

    /// Reads a message of which no descriptor is known; a partial one may end within a field. A length-delimited value
    /// is taken for the first of these that fits:
    /// 1. text: UTF-8 without control characters but tabs and line breaks (but if it begins with one and can be a
    /// message, it is one: a first field of 9, 10 or 13 bytes looks so)
    /// 2. a message: fields to the last byte, shortest tags, no reserved numbers, one wire type a number
    /// 3. packed varints: at least two, each as short as can be and of at most 32 bits (or negative)
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
