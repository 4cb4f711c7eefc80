import Content
import Description
import HTTPModel
import NIOCore
import ProxyServer

/// The compared values of a body: JSON by path, forms by field, multipart bodies by part, others as bytes.
struct BodyItems {
    let fields: FieldSection
    let rules: ComparisonRules

    /// Longer texts are compared and reported by their digest.
    private static let longestText = 4_096

    private func item(_ place: String, _ value: String) -> ComparedRequest.Item {
        ComparedRequest.Item(part: .body, place: place, value: value)
    }

    func add(_ body: ComparedBody, to items: inout [ComparedRequest.Item]) {
        guard let raw = body.bytes else {
            return items.append(item("the body", BodyItems.text(body.size, body.fingerprint)))
        }
        guard let bytes = decoded(raw) else { return items.append(item("the body", BodyItems.text(raw))) }
        let type = fields.value(of: .contentType).flatMap { MediaType($0) }
        let isForm = type?.essence == "application/x-www-form-urlencoded"
        let first = bytes.readableBytesView.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        // curl -d labels JSON as a form, and some clients do not label it.
        let mayBeJSON = type.map { $0.isJSON || isForm || $0.type == "text" } ?? true
        let looksLikeJSON = first == UInt8(ascii: "{") || first == UInt8(ascii: "[")
        if type?.isJSON == true || mayBeJSON && looksLikeJSON, let tree = try? JSONTree(Array(buffer: bytes)) {
            var values = JSONItems(tree: tree, rules: rules)
            values.add(0, at: "$", member: nil)
            items += values.items
        } else if isForm {
            ComparedRequest.fields(Array(buffer: bytes), .body, "form field", rules, &items)
        } else if let type, type.type == "multipart", let parts = multipart(bytes, type) {
            items += parts
        } else {
            items.append(item("the body", BodyItems.text(bytes)))
        }
    }

    /// Without its content coding; `nil` if that fails or the body is too long.
    private func decoded(_ raw: ByteBuffer) -> ByteBuffer? {
        guard fields.contains(.contentEncoding) else { return raw }
        let codings = ContentCoding.list(fields.values(of: .contentEncoding).joined(separator: ","))
        let result = ContentDecoder.decode(raw, codings: codings, limit: Int(ComparedBody.longest))
        return result.problem == nil ? result.bytes : nil
    }

    /// Whatever the boundary is; `nil` if the parts cannot be separated.
    private func multipart(_ bytes: ByteBuffer, _ type: MediaType) -> [ComparedRequest.Item]? {
        guard let multipart = Multipart(bytes, mediaType: type), multipart.isComplete else { return nil }
        return multipart.parts.enumerated().compactMap { index, part in
            let name = part.name
            if let name, rules.ignores(parameter: name) { return nil }
            let facts = [part.fileName.map { "file '\($0)'" }, part.fields.value(of: .contentType)].compactMap(\.self)
            let value = facts.map { "\($0): " }.joined() + BodyItems.text(part.content)
            return item(name.map { "part '\($0)'" } ?? "part \(index + 1)", value)
        }
    }

    /// A short text, or the number of bytes with their digest.
    static func text(_ bytes: ByteBuffer) -> String {
        if bytes.readableBytes <= longestText, let text = String(validating: bytes.readableBytesView, as: UTF8.self) {
            return text
        }
        var digest = ByteDigest()
        digest.add(bytes.readableBytesView)
        return text(Int64(bytes.readableBytes), digest.fingerprint)
    }

    private static func text(_ size: Int64, _ fingerprint: Fingerprint) -> String {
        "\(fingerprint): \(size) bytes"
    }
}

private struct JSONItems {
    let tree: JSONTree
    let rules: ComparisonRules
    var items: [ComparedRequest.Item] = []

    init(tree: JSONTree, rules: ComparisonRules) { (self.tree, self.rules) = (tree, rules) }

    /// In bytes; longer paths are reported by a digest.
    private static let longestPath = 1_024

    /// The limit on nesting bounds the recursion.
    mutating func add(_ node: Int, at path: String, member: String?) {
        guard tree.nodes.indices.contains(node), !rules.ignores(path: path, member: member) else { return }
        let value = tree.nodes[node]
        let path = path.utf8.count > JSONItems.longestPath ? JSONItems.shortened(path) : path
        switch value.kind {
        case .objectBegin:
            // An empty object is a value, too.
            if value.children.isEmpty { add(path, "{}") }
            for child in value.children {
                let name = tree.name(of: child) ?? ""
                add(child, at: path + JSONItems.step(name), member: name)
            }
        case .arrayBegin:
            if value.children.isEmpty { add(path, "[]") }
            for (index, child) in value.children.enumerated() { add(child, at: "\(path)[\(index)]", member: nil) }
        case .string: add(path, JSONWriter.quoted(tree.string(of: node) ?? ""))
        case .number: add(path, JSONNumber.spelling(of: tree.text(of: node)))
        case .literal, .objectEnd, .arrayEnd, .name: add(path, tree.text(of: node))
        }
    }

    private mutating func add(_ path: String, _ value: String) {
        items.append(ComparedRequest.Item(part: .body, place: "body \(path)", value: value))
    }

    private static func shortened(_ path: String) -> String {
        var digest = ByteDigest()
        digest.add(path)
        return "\(String(path.unicodeScalars.prefix(80)))…\(digest.fingerprint)"
    }

    private static func step(_ name: String) -> String {
        let isPlain =
            !name.isEmpty
            && name.utf8.allSatisfy { ($0 | 0x20) &- 0x61 < 26 || $0 &- 0x30 < 10 || $0 == UInt8(ascii: "_") }
        return isPlain ? ".\(name)" : "[\(JSONWriter.quoted(name))]"
    }
}
