/// Reads a message without a descriptor; ``ProtobufContent/schemaless(_:limits:)`` describes the rules.
struct SchemalessReader {
    private let bytes: [UInt8]
    private let isPartial: Bool
    private let limits: ProtobufLimits
    private var valuesLeft: Int

    /// Where and why the message stops being valid wire format.
    private(set) var problem: ProtobufError?
    /// Whether the limit on values was reached.
    var isCut: Bool { valuesLeft < 0 }
    var valuesRead: Int { limits.values - max(0, valuesLeft) }

    init(_ bytes: [UInt8], isPartial: Bool, limits: ProtobufLimits) {
        self.bytes = bytes
        self.isPartial = isPartial
        self.limits = limits
        valuesLeft = limits.values
    }

    /// The fields of the whole message, up to the first error.
    mutating func wholeMessage() -> [ProtobufNode] { fields(bytes.indices, depth: 0) }

    /// The field as a node; ``TypedReader`` also uses this for fields that are not in its descriptor.
    mutating func node(_ field: WireField, group: Range<Int>?, depth: Int) -> ProtobufNode {
        valuesLeft -= 1
        let label = ProtobufNode.Label.number(field.number)
        switch field.value {
        case .varint(let value): return ProtobufNode(label, .scalar(String(value)), remark: WireReading.varint(value))
        case .fixed32(let bits): return ProtobufNode(label, WireReading.fixed32(bits))
        case .fixed64(let bits): return ProtobufNode(label, WireReading.fixed64(bits))
        case .bytes(let range): return delimited(label, range, depth: depth)
        case .groupStart, .groupEnd:
            guard let group, depth < limits.depth else {
                return ProtobufNode(label, .message([]), remark: "a group, nested deeper than \(limits.depth) levels")
            }
            return ProtobufNode(label, .message(fields(group, depth: depth + 1)), remark: "a group")
        }
    }

    private mutating func fields(_ range: Range<Int>, depth: Int) -> [ProtobufNode] {
        var nodes: [ProtobufNode] = []
        var cursor = WireCursor(bytes, range, isPartial: isPartial)
        do throws(ProtobufError) {
            while let field = try cursor.next() {
                guard valuesLeft > 0 else {
                    valuesLeft = -1
                    return nodes
                }
                let group = try cursor.group(of: field, depthLimit: limits.depth)
                nodes.append(node(field, group: group, depth: depth))
            }
        } catch {
            if problem == nil { problem = error }
        }
        return nodes
    }

    private mutating func delimited(_ label: ProtobufNode.Label, _ range: Range<Int>, depth: Int) -> ProtobufNode {
        guard !range.isEmpty else { return ProtobufNode(label, .scalar("\"\"")) }
        let shape = MessageShape(WireCursor(bytes, range, isPartial: isPartial), depthLimit: limits.depth)
        let beginsWithLayout = bytes[range.lowerBound] < 0x20
        let mayBeCut = isPartial && range.upperBound == bytes.count
        if WireReading.isText(bytes[range], allowingCutEnd: mayBeCut), !(beginsWithLayout && shape.isPlausible) {
            let (quoted, remark) = ProtobufScalar.text(bytes[range], limit: limits.text)
            let isBoth = shape.isPlausible && shape.isAllLengthDelimited
            let note = isBoth ? "or a message with the fields \(shape.numbers)" : ""
            return ProtobufNode(label, .scalar(quoted), remark: remark.isEmpty ? note : remark)
        }
        if shape.isPlausible {
            guard depth + 1 < limits.depth else {
                let (text, remark) = WireReading.bytes(bytes[range], limit: limits.bytes)
                let note = "nested deeper than \(limits.depth) levels; \(remark)"
                return ProtobufNode(label, .scalar(text), remark: note)
            }
            return ProtobufNode(label, .message(fields(range, depth: depth + 1)))
        }
        if let values = WireReading.packedVarints(bytes, range), values.count <= valuesLeft {
            valuesLeft -= values.count
            let isShort = range.count <= 24
            let hexadecimal = isShort ? "; the bytes are \(WireReading.bytes(bytes[range], limit: 24).text)" : ""
            let elements = values.map { ProtobufNode(.none, .scalar(String($0))) }
            return ProtobufNode(label, .list(elements), remark: "packed" + hexadecimal)
        }
        return ProtobufNode(label, WireReading.bytes(bytes[range], limit: limits.bytes))
    }
}

/// What bytes look like if they are read as a message, one level deep.
private struct MessageShape {
    private static let reservedNumbers = 19_000...19_999

    private(set) var isPlausible = false
    private(set) var isAllLengthDelimited = true
    private var wireTypes: [Int: Int] = [:]

    var numbers: String {
        let numbers = wireTypes.keys.sorted()
        let shown = numbers.prefix(5).map(String.init).joined(separator: ", ")
        return numbers.count > 5 ? shown + ", …" : shown
    }

    init(_ start: WireCursor, depthLimit: Int) {
        var cursor = start
        do throws(ProtobufError) {
            while let field = try cursor.next() {
                let type = field.value.type.number
                guard cursor.hasMinimalTags, !MessageShape.reservedNumbers.contains(field.number),
                    wireTypes.updateValue(type, forKey: field.number) ?? type == type
                else { return }
                _ = try cursor.group(of: field, depthLimit: depthLimit)
                if case .bytes = field.value { continue }
                isAllLengthDelimited = false
            }
            isPlausible = true
        } catch {}
    }
}
