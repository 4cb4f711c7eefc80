import Content

/// A place in JSON (RFC 6901): `/user/name`, `/items/0`, `/items/-` for a new element. Setting a value keeps every other
/// byte.
struct JSONPointer {
    private let tokens: [String]
    private let text: String

    /// The empty one is the whole text.
    init(_ text: String) throws(ControlError) {
        guard text.isEmpty || text.hasPrefix("/") else {
            throw ControlError("A JSON path begins with '/', for example /user/name; '\(text)' does not.")
        }
        self.text = text
        tokens = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst().map { token in
            // In this order (RFC 6901 §4), so that ~01 reads as ~1.
            String(token).replacing("~1", with: "/").replacing("~0", with: "~")
        }
    }

    /// Sets a value; one that is not JSON is a string. Throws ``ControlError`` if the body is not JSON or has no such
    /// place.
    func set(_ value: String, in body: [UInt8]) throws(ControlError) -> [UInt8] {
        let tree: JSONTree
        do throws(JSONSyntaxError) {
            tree = try JSONTree(body)
        } catch {
            throw ControlError("The body is not JSON: \(error).")
        }
        let value = (try? JSONTree(Array(value.utf8))) == nil ? JSONWriter.quoted(value) : value
        var node = 0
        var walked = ""
        for (index, token) in tokens.enumerated() {
            let isLast = index == tokens.count - 1
            let children = tree.nodes[node].children
            switch tree.nodes[node].kind {
            case .objectBegin:
                if let member = tree.member(token, of: node) {
                    node = member
                } else if isLast {
                    return appended("\(JSONWriter.quoted(token)):\(value)", to: node, of: tree)
                } else {
                    let names = children.lazy.compactMap { tree.name(of: $0) }.prefix(8).joined(separator: ", ")
                    throw missing("member", token, walked, hint: names.isEmpty ? "" : "It has: \(names).")
                }
            case .arrayBegin:
                let position = token == "-" ? children.count : Int(token) ?? -1
                if children.indices.contains(position) {
                    node = children[position]
                } else if isLast, position == children.count {
                    return appended(value, to: node, of: tree)
                } else {
                    throw missing("element", token, walked)
                }
            default:
                let place = walked.isEmpty ? "it" : walked
                throw ControlError("There is no \(text) in the body: \(place) is neither object nor array.")
            }
            walked += "/" + token
        }
        let range = tree.nodes[node].range
        return body[..<range.lowerBound] + Array(value.utf8) + body[range.upperBound...]
    }

    private func appended(_ part: String, to node: Int, of tree: JSONTree) -> [UInt8] {
        let last = tree.nodes[node].children.last
        let end = last.map { tree.nodes[$0].range.upperBound } ?? tree.nodes[node].range.lowerBound + 1
        return tree.bytes[..<end] + Array((last == nil ? part : "," + part).utf8) + tree.bytes[end...]
    }

    private func missing(_ kind: String, _ token: String, _ walked: String, hint: String = "") -> ControlError {
        let place = walked.isEmpty ? "the body" : walked
        return ControlError("There is no \(text) in the body: \(place) has no \(kind) '\(token)'.", hint: hint)
    }
}
