/// Writes a tree of values as indented lines: in the JSON form of proto3, or as `number: value`.
struct ProtobufPrinter {
    /// Lists of scalars up to this width, in bytes, are written on one line.
    private static let widestList = 96

    private let isJSON: Bool
    private var lines: [String] = []

    /// One `number: value` per line, remarks after `#`.
    static func text(_ root: ProtobufNode) -> [String] {
        var printer = ProtobufPrinter(isJSON: false)
        if case .message(let fields) = root.value {
            for field in fields { printer.add(field, "", comma: "") }
        } else {
            printer.add(root, "", comma: "")
        }
        return printer.lines
    }

    /// The JSON form; remarks, and fields that no descriptor names, after `//`.
    static func json(_ root: ProtobufNode) -> [String] {
        var printer = ProtobufPrinter(isJSON: true)
        printer.add(root, "", comma: "")
        return printer.lines
    }

    private mutating func add(_ node: ProtobufNode, _ indent: String, comma: String) {
        let name =
            switch node.label {
            case .number(let number): "\(number): "
            case .name(let name): "\(ProtobufScalar.quoted(name)): "
            case .none: ""
            }
        let remark = node.remark.isEmpty ? "" : "  \(isJSON ? "//" : "#") \(node.remark)"
        switch node.value {
        case .scalar(let text): lines.append(indent + name + text + comma + remark)
        case .message(let fields): add(fields, opening: name + "{", closing: "}" + comma, remark, indent)
        case .list(let elements):
            if let list = ProtobufPrinter.oneLine(elements) {
                lines.append(indent + name + list + comma + remark)
            } else {
                add(elements, opening: name + "[", closing: "]" + comma, remark, indent)
            }
        }
    }

    private mutating func add(
        _ nodes: [ProtobufNode],
        opening: String,
        closing: String,
        _ remark: String,
        _ indent: String
    ) {
        guard !nodes.isEmpty else { return lines.append(indent + opening + closing + remark) }
        lines.append(indent + opening + remark)
        let last = isJSON ? nodes.lastIndex { !$0.isUnnamed } : nil
        for (index, node) in nodes.enumerated() {
            if isJSON, node.isUnnamed {
                lines += ProtobufPrinter.text(ProtobufNode(.none, .message([node]))).map { "\(indent)  // \($0)" }
            } else {
                add(node, indent + "  ", comma: isJSON && index != last ? "," : "")
            }
        }
        lines.append(indent + closing)
    }

    private static func oneLine(_ elements: [ProtobufNode]) -> String? {
        var texts: [String] = []
        var width = 2
        for element in elements {
            guard case .scalar(let text) = element.value, element.remark.isEmpty else { return nil }
            width += text.utf8.count + 2
            guard width <= widestList else { return nil }
            texts.append(text)
        }
        return "[" + texts.joined(separator: ", ") + "]"
    }
}

extension ProtobufNode {
    /// Whether it is a field that only has a number.
    fileprivate var isUnnamed: Bool {
        if case .number = label { true } else { false }
    }
}
