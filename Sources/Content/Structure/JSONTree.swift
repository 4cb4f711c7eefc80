/// A JSON text as a tree of ranges in its bytes. Values are not converted, so numbers keep their precision.
package struct JSONTree: Sendable {
    package struct Node: Sendable {
        /// What the value is: `objectBegin`, `arrayBegin`, or a scalar's kind.
        package var kind: JSONToken.Kind
        /// The range of the member's name with its quotes; `nil` if the value is not a member of an object.
        package var name: Range<Int>?
        package var range: Range<Int>
        /// Its members or elements in order.
        package var children: [Int] = []
        /// Equal for values with the same meaning: the order of members and the spelling of scalars do not matter.
        package var hash = 0
        /// Whether ``JSONTree/without(_:)`` left it out of its array.
        package var isIgnored = false
    }

    package let bytes: [UInt8]
    /// The values, each after its parent; the first is the whole text.
    package private(set) var nodes: [Node] = []

    /// Reads a text. Throws `JSONSyntaxError` if the bytes are not JSON, or nested too deep.
    package init(_ bytes: [UInt8], nestingLimit: Int = 256) throws(JSONSyntaxError) {
        self.bytes = bytes
        var reader = JSONTokenReader(bytes, nestingLimit: nestingLimit)
        var open: [Int] = []
        var name: Range<Int>?
        while let token = try reader.next() {
            switch token.kind {
            case .name: name = token.range
            case .objectEnd, .arrayEnd:
                guard let node = open.popLast() else { continue }
                nodes[node].range = nodes[node].range.lowerBound..<token.range.upperBound
                nodes[node].hash = combinedHash(node)
            case .objectBegin, .arrayBegin, .string, .number, .literal:
                let index = nodes.count
                var node = Node(kind: token.kind, name: name, range: token.range)
                name = nil
                if token.kind == .objectBegin || token.kind == .arrayBegin {
                    if let parent = open.last { nodes[parent].children.append(index) }
                    open.append(index)
                } else {
                    node.hash = hash(of: token)
                    if let parent = open.last { nodes[parent].children.append(index) }
                }
                nodes.append(node)
            }
        }
    }

    /// The tree without some values; hashes do not include them. The other elements of an array keep their indices.
    package func without(_ values: Set<Int>) -> JSONTree {
        var tree = self
        for value in values { tree.nodes[value].isIgnored = true }
        for node in nodes.indices.reversed() where !nodes[node].children.isEmpty {
            if nodes[node].kind == .objectBegin { tree.nodes[node].children.removeAll { values.contains($0) } }
            tree.nodes[node].hash = tree.combinedHash(node)
        }
        return tree
    }

    package func text(of node: Int) -> String {
        String(decoding: bytes[nodes[node].range], as: UTF8.self)
    }

    /// A member's name without quotes, with its escapes decoded; `nil` if the value is not a member.
    package func name(of node: Int) -> String? {
        nodes[node].name.map { JSONTree.unescaped(bytes[$0]) }
    }

    /// A string's text with its escapes decoded; `nil` if the value is not a string.
    package func string(of node: Int) -> String? {
        nodes[node].kind == .string ? JSONTree.unescaped(bytes[nodes[node].range]) : nil
    }

    /// The last member with this name, which is the one most JSON parsers use; `nil` if no member has the name.
    package func member(_ name: String, of node: Int) -> Int? {
        guard nodes.indices.contains(node), nodes[node].kind == .objectBegin else { return nil }
        return nodes[node].children.last { self.name(of: $0) == name }
    }

    /// Removes a string's quotes and decodes its escapes; a lone surrogate becomes U+FFFD.
    package static func unescaped(_ quoted: ArraySlice<UInt8>) -> String {
        let inner = quoted.dropFirst().dropLast()
        guard inner.contains(UInt8(ascii: "\\")) else { return String(decoding: inner, as: UTF8.self) }
        var units: [UInt8] = []
        units.reserveCapacity(inner.count)
        var pendingHigh: UInt32?
        func append(_ scalar: UInt32) {
            if let high = pendingHigh {
                pendingHigh = nil
                if (0xDC00..<0xE000).contains(scalar) {
                    let pair = 0x10000 + (high - 0xD800) << 10 + (scalar - 0xDC00)
                    units += Array(String(Unicode.Scalar(pair) ?? "\u{FFFD}").utf8)
                    return
                }
                units += [0xEF, 0xBF, 0xBD]
            }
            if (0xD800..<0xDC00).contains(scalar) {
                pendingHigh = scalar
            } else {
                units += Array(String(Unicode.Scalar(scalar) ?? "\u{FFFD}").utf8)
            }
        }
        func endPair() {
            if pendingHigh != nil { units += [0xEF, 0xBF, 0xBD] }
            pendingHigh = nil
        }
        var rest = inner
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\"), let escape = rest.popFirst() else {
                endPair()
                units.append(byte)
                continue
            }
            if escape == UInt8(ascii: "u") {
                append(UInt32(String(decoding: rest.prefix(4), as: UTF8.self), radix: 16) ?? 0xFFFD)
                rest = rest.dropFirst(4)
                continue
            }
            endPair()
            let plain: [UInt8: UInt8] = [0x62: 0x08, 0x66: 0x0C, 0x6E: 0x0A, 0x72: 0x0D, 0x74: 0x09]
            units.append(plain[escape] ?? escape)
        }
        endPair()
        return String(decoding: units, as: UTF8.self)
    }

    private func hash(of token: JSONToken) -> Int {
        var hasher = Hasher()
        switch token.kind {
        case .string: combine(token.range, into: &hasher)
        case .number where bytes[token.range].contains { [0x2E, 0x45, 0x65].contains($0) } || isMinusZero(token.range):
            let text = String(decoding: bytes[token.range], as: UTF8.self)
            Array(JSONNumber.spelling(of: text).utf8).withUnsafeBytes { hasher.combine(bytes: $0) }
        default:
            bytes.withUnsafeBytes { hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: $0[token.range])) }
        }
        return hasher.finalize()
    }

    private func isMinusZero(_ range: Range<Int>) -> Bool {
        bytes[range].elementsEqual([UInt8(ascii: "-"), UInt8(ascii: "0")])
    }

    /// Hashes a string or name by its decoded text, with quotes: a string must not equal a number.
    private func combine(_ quoted: Range<Int>, into hasher: inout Hasher) {
        if bytes[quoted].contains(UInt8(ascii: "\\")) {
            let text = Array("\"\(JSONTree.unescaped(bytes[quoted]))\"".utf8)
            text.withUnsafeBytes { hasher.combine(bytes: $0) }
        } else {
            bytes.withUnsafeBytes { hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: $0[quoted])) }
        }
    }

    private func combinedHash(_ node: Int) -> Int {
        let isObject = nodes[node].kind == .objectBegin
        var hasher = Hasher()
        hasher.combine(isObject)
        if isObject { hasher.combine(nodes[node].children.count) }
        var sum = 0
        for (index, child) in nodes[node].children.enumerated() where !nodes[child].isIgnored {
            if isObject, let name = nodes[child].name {
                var member = Hasher()
                combine(name, into: &member)
                member.combine(nodes[child].hash)
                sum &+= member.finalize()
            } else {
                hasher.combine(index)
                hasher.combine(nodes[child].hash)
            }
        }
        hasher.combine(sum)
        return hasher.finalize()
    }
}
