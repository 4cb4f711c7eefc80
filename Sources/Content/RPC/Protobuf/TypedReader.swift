/// Reads a message by its descriptor into the JSON form of proto3.
struct TypedReader {
    /// The bytes of a message; several ranges if it was sent in pieces, which are merged.
    typealias Pieces = [Range<Int>]

    let set: DescriptorSet
    let bytes: [UInt8]
    private let isPartial: Bool
    let limits: ProtobufLimits
    private var valuesLeft: Int

    /// Where and why the message stops being valid wire format.
    private(set) var problem: ProtobufError?
    /// Whether the limit on values was reached, so that some are missing.
    private(set) var isCut = false

    init(_ set: DescriptorSet, _ bytes: [UInt8], isPartial: Bool, limits: ProtobufLimits) {
        self.set = set
        self.bytes = bytes
        self.isPartial = isPartial
        self.limits = limits
        valuesLeft = limits.values
    }

    mutating func wholeMessage(_ type: String) -> ProtobufNode {
        message(type, [bytes.indices], depth: 0)
    }

    /// Counts a value; `false` if the limit was already reached.
    mutating func takeValue() -> Bool {
        guard hasRoom() else { return false }
        valuesLeft -= 1
        return true
    }

    private mutating func hasRoom() -> Bool {
        if valuesLeft <= 0 { isCut = true }
        return valuesLeft > 0
    }

    /// Reads a message as a node: an object, or the JSON form of a well-known type.
    mutating func message(_ type: String, _ pieces: Pieces, depth: Int) -> ProtobufNode {
        guard depth < limits.depth else {
            let size = pieces.reduce(0) { $0 + $1.count }
            let remark = "\(size) bytes, nested deeper than \(limits.depth) levels"
            return ProtobufNode(.none, .message([]), remark: remark)
        }
        if let wellKnown = WellKnownType(rawValue: type),
            let node = self.wellKnown(wellKnown, pieces, depth: depth)
        {
            return node
        }
        guard let descriptor = set.messages[type] else {
            let name = ProtobufScalar.name(type)
            let remark = "\(name) is not in the descriptor set; was it made with --include_imports?"
            return ProtobufNode(.none, .message(untyped(pieces, depth: depth)), remark: remark)
        }
        return ProtobufNode(.none, .message(fields(descriptor, pieces, depth: depth)))
    }

    private mutating func fields(_ type: MessageDescriptor, _ pieces: Pieces, depth: Int) -> [ProtobufNode] {
        let received = occurrences(pieces)
        var nodes: [ProtobufNode] = []
        for number in received.order {
            guard hasRoom() else { break }
            let values = received.values[number] ?? []
            guard let field = type.fields[number] else {
                nodes += untyped(values, depth: depth)
                continue
            }
            let fitting = values.filter { fits($0.value, field) }
            if !fitting.isEmpty {
                nodes.append(node(field, fitting, depth: depth).labelled(.name(field.jsonName)))
            }
            for var stray in untyped(values.filter { !fits($0.value, field) }, depth: depth) {
                stray.add(remark: "not of the type that \(ProtobufScalar.name(field.jsonName)) has")
                nodes.append(stray)
            }
        }
        markSuperseded(&nodes, type, received.lastPlaces)
        return nodes
    }

    /// If several members of a oneof were sent, only the last one counts; the others get a remark.
    private func markSuperseded(_ nodes: inout [ProtobufNode], _ type: MessageDescriptor, _ places: [Int: Int]) {
        guard !type.oneofNames.isEmpty else { return }
        var last: [Int: FieldDescriptor] = [:]
        var members: [FieldDescriptor] = []
        for field in type.fields.values where field.oneof != nil {
            guard let place = places[field.number], let oneof = field.oneof else { continue }
            members.append(field)
            if place > last[oneof].flatMap({ places[$0.number] }) ?? -1 { last[oneof] = field }
        }
        for member in members {
            guard let oneof = member.oneof, let winner = last[oneof], winner.number != member.number,
                type.oneofNames.indices.contains(oneof),
                let index = nodes.firstIndex(where: { $0.label == .name(member.jsonName) })
            else { continue }
            let (name, oneofName) = (ProtobufScalar.name(winner.jsonName), ProtobufScalar.name(type.oneofNames[oneof]))
            nodes[index].remark = "does not count: \(name) came later in oneof \(oneofName)"
        }
    }

    /// A received value; for a group, also the range of its fields.
    struct Occurrence {
        var field: WireField
        var group: Range<Int>?

        var value: WireField.Value { field.value }

        /// The range of the fields, if the value is a message.
        var pieces: Range<Int>? {
            if case .bytes(let range) = value { range } else { group }
        }
    }

    /// The values of a message by field number; `order` has the fields in the order in which they first occurred.
    struct Occurrences {
        var order: [Int] = []
        var values: [Int: [Occurrence]] = [:]
        /// By field number: the position of the field's last value among all received values.
        var lastPlaces: [Int: Int] = [:]
    }

    /// Splits a message into its fields, up to the first error.
    mutating func occurrences(_ pieces: Pieces) -> Occurrences {
        var received = Occurrences()
        var count = 0
        do throws(ProtobufError) {
            for piece in pieces {
                var cursor = WireCursor(bytes, piece, isPartial: isPartial)
                while let field = try cursor.next() {
                    guard count < limits.values else {
                        isCut = true
                        return received
                    }
                    let group = try cursor.group(of: field, depthLimit: limits.depth)
                    if received.values[field.number] == nil { received.order.append(field.number) }
                    received.values[field.number, default: []].append(Occurrence(field: field, group: group))
                    received.lastPlaces[field.number] = count
                    count += 1
                }
            }
        } catch {
            if problem == nil { problem = error }
        }
        return received
    }

    func fits(_ value: WireField.Value, _ field: FieldDescriptor) -> Bool {
        switch (field.kind.form, value) {
        case (.varint, .varint), (.fixed32, .fixed32), (.fixed64, .fixed64): true
        case (.bytes, .bytes), (.message, .bytes), (.message, .groupStart): true
        case (_, .bytes): field.isRepeated
        default: false
        }
    }

    private mutating func node(_ field: FieldDescriptor, _ values: [Occurrence], depth: Int) -> ProtobufNode {
        if field.isRepeated {
            if field.kind == .message, let entry = set.messages[field.typeName], entry.isMapEntry {
                return map(entry, values, depth: depth)
            }
            return list(field, values, depth: depth)
        }
        if field.kind.form == .message {
            guard takeValue() else { return ProtobufNode(.none, .message([])) }
            // Several values of a message field are merged: reading their bytes as one message gives the same result.
            return message(field.typeName, values.compactMap(\.pieces), depth: depth + 1)
        }
        guard let last = values.last else { return ProtobufNode(.none, .list([])) }
        var node = scalar(field, last.value)
        if values.count > 1 { node.add(remark: "sent \(values.count) times; the last counts") }
        return node
    }

    mutating func list(_ field: FieldDescriptor, _ values: [Occurrence], depth: Int) -> ProtobufNode {
        var elements: [ProtobufNode] = []
        var problem = ""
        for value in values {
            guard hasRoom() else { break }
            if field.kind.form == .message {
                guard let piece = value.pieces, takeValue() else { break }
                elements.append(message(field.typeName, [piece], depth: depth + 1))
            } else if case .bytes(let range) = value.value, field.kind.form != .bytes {
                var cursor = WireCursor(bytes, range)
                while !cursor.isAtEnd, valuesLeft > 0 {
                    guard let element = cursor.packedValue(field.kind) else {
                        problem = "packed values are cut off"
                        break
                    }
                    elements.append(scalar(field, element))
                }
                if !cursor.isAtEnd, problem.isEmpty { isCut = true }
            } else {
                elements.append(scalar(field, value.value))
            }
        }
        return ProtobufNode(.none, .list(elements), remark: problem)
    }

    private mutating func map(_ entry: MessageDescriptor, _ values: [Occurrence], depth: Int) -> ProtobufNode {
        var nodes: [ProtobufNode] = []
        var places: [String: Int] = [:]
        for value in values {
            guard let keyField = entry.fields[1], let valueField = entry.fields[2], let piece = value.pieces,
                takeValue()
            else { break }
            let received = occurrences([piece])
            let key = received.values[1]?.last { fits($0.value, keyField) }
            let name = key.map { mapKey(keyField, $0.value) } ?? (keyField.kind == .string ? "" : defaultKey(keyField))
            let fitting = (received.values[2] ?? []).filter { fits($0.value, valueField) }
            let content =
                fitting.isEmpty ? defaultValue(valueField, depth: depth) : node(valueField, fitting, depth: depth)
            let element = content.labelled(.name(name))
            // If a key occurs twice, its last value counts.
            if let place = places[name] {
                nodes[place] = element
            } else {
                places[name] = nodes.count
                nodes.append(element)
            }
        }
        return ProtobufNode(.none, .message(nodes))
    }

    private mutating func untyped(_ pieces: Pieces, depth: Int) -> [ProtobufNode] {
        let received = occurrences(pieces)
        return received.order.flatMap { untyped(received.values[$0] ?? [], depth: depth) }
    }

    private mutating func untyped(_ values: [Occurrence], depth: Int) -> [ProtobufNode] {
        var limits = limits
        limits.values = valuesLeft
        var reader = SchemalessReader(bytes, isPartial: isPartial, limits: limits)
        var nodes: [ProtobufNode] = []
        for value in values {
            guard takeValue(), !reader.isCut else { break }
            nodes.append(reader.node(value.field, group: value.group, depth: depth))
        }
        // The nodes are already counted; the values inside them are not.
        valuesLeft -= min(valuesLeft, reader.valuesRead - nodes.count)
        if reader.isCut { isCut = true }
        return nodes
    }
}
