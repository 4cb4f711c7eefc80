/// Writes a tree of values as indented lines.
struct ProtobufPrinter {
    /// A list of scalars up to this wide stands on one line.
    private static let widestList = 96

    private var lines: [String] = []

    /// `number: value` a line, remarks after `#`.
    static func text(_ root: ProtobufNode) -> [String] {
        var printer = ProtobufPrinter()
        if case .message(let fields) = root.value {
            for field in fields { printer.text(field, "") }
        } else {
            printer.text(root, "")
        }
        return printer.lines
    }

    private mutating func text(_ node: ProtobufNode, _ indent: String) {
        let name =
            switch node.label {
            case .number(let number): "\(number): "
            case .name(let name): "\(ProtobufScalar.quoted(name)): "
            case .none: ""
            }
        let remark = node.remark.isEmpty ? "" : "  # \(node.remark)"
        switch node.value {
        case .scalar(let text): lines.append(indent + name + text + remark)
        case .message(let fields) where fields.isEmpty: lines.append(indent + name + "{}" + remark)
        case .message(let fields):
            lines.append(indent + name + "{" + remark)
            for field in fields { text(field, indent + "  ") }
            lines.append(indent + "}")
        case .list(let elements):
            if let list = ProtobufPrinter.oneLine(elements) {
                lines.append(indent + name + list + remark)
                return
            }
            lines.append(indent + name + "[" + remark)
            for element in elements { text(element, indent + "  ") }
            lines.append(indent + "]")
        }
    }

    /// The JSON form; remarks, and fields that no descriptor names, after `//`.
    static func json(_ root: ProtobufNode) -> [String] {
        var printer = ProtobufPrinter()
        printer.json(root, "", comma: "")
        return printer.lines
    }

    private mutating func json(_ node: ProtobufNode, _ indent: String, comma: String) {
        var name = ""
        if case .name(let text) = node.label { name = ProtobufScalar.quoted(text) + ": " }
        let remark = node.remark.isEmpty ? "" : "  // \(node.remark)"
        switch node.value {
        case .scalar(let text): lines.append(indent + name + text + comma + remark)
        case .message(let fields):
            group(fields, opening: indent + name + "{", closing: "}" + comma, remark, indent)
        case .list(let elements):
            if let list = ProtobufPrinter.oneLine(elements) {
                lines.append(indent + name + list + comma + remark)
                return
            }
            group(elements, opening: indent + name + "[", closing: "]" + comma, remark, indent)
        }
    }

    private mutating func group(
        _ nodes: [ProtobufNode],
        opening: String,
        closing: String,
        _ remark: String,
        _ indent: String
    ) {
        guard !nodes.isEmpty else { return lines.append(opening + closing + remark) }
        lines.append(opening + remark)
        let last = nodes.lastIndex { !$0.isUnnamed }
        for (index, node) in nodes.enumerated() {
            if node.isUnnamed {
                lines += ProtobufPrinter.text(ProtobufNode(.none, .message([node]))).map { "\(indent)  // \($0)" }
            } else {
                json(node, indent + "  ", comma: index == last ? "" : ",")
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
