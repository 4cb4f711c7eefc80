import Content
package import HTTPModel
import NIOCore
import Text

/// The meaning of a body: JSON, a form's fields, multipart parts, or just text or bytes.
package struct BodyMeaning {
    private enum Values {
        case json(JSONTree)
        case named(Place.Part, [FormField])
        /// Text, bytes or nothing.
        case other
        /// A body that is too long to be read, as its size and a digest.
        case long(String)
    }

    /// The longest text of a part, in bytes; longer texts are compared by a digest.
    private static let longestText = 4_096

    private let body: LoadedBody
    private let values: Values

    private init(_ body: LoadedBody, _ values: Values) { (self.body, self.values) = (body, values) }

    package static let empty = BodyMeaning(LoadedBody(bytes: ByteBuffer(), mediaType: nil), .other)

    package static func long(_ size: Int64, _ fingerprint: Fingerprint) -> BodyMeaning {
        BodyMeaning(empty.body, .long("\(size) bytes (digest \(fingerprint))"))
    }

    package init(_ body: LoadedBody) { self.init(body, BodyMeaning.values(of: body)) }

    private static func values(of body: LoadedBody) -> Values {
        let bytes = body.bytes.readableBytesView
        guard !body.isCut, let first = bytes.first(where: { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }) else {
            return .other
        }
        // curl -d labels JSON as a form, and some clients do not label it.
        if body.mediaType?.isJSON == true || first == UInt8(ascii: "{") || first == UInt8(ascii: "["),
            let tree = tree(body)
        {
            return .json(tree)
        }
        if body.mediaType?.essence == "application/x-www-form-urlencoded" {
            return .named(.form, FormFields.parse(Array(bytes), limit: .max))
        }
        if let type = body.mediaType, let multipart = Multipart(body.bytes, mediaType: type), multipart.isComplete {
            return .named(.part, multipart.parts.map { FormField(name: $0.name ?? "", value: text(of: $0)) })
        }
        return .other
    }

    /// JSON is UTF-8 (RFC 8259 §8.1) unless the header says otherwise.
    private static func tree(_ body: LoadedBody) -> JSONTree? {
        let charset = body.mediaType?.parameter("charset")?.lowercased() ?? "utf-8"
        if charset == "utf-8", let tree = try? JSONTree(Array(buffer: body.bytes)) { return tree }
        guard charset != "utf-8" || body.mediaType?.isJSON == true, let text = body.text?.text else { return nil }
        return try? JSONTree(Array(text.utf8))
    }

    private static func text(of part: MultipartPart) -> String {
        let facts = [part.fileName.map { "file '\($0)'" }, part.fields.value(of: .contentType)].compactMap(\.self)
        let bytes = part.content.readableBytesView
        let text = bytes.count <= longestText ? String(validating: bytes, as: UTF8.self) : nil
        return facts.map { "\($0): " }.joined()
            + (text ?? "\(bytes.count) bytes (digest \(ByteDigest.of { $0.add(bytes) }))")
    }

    /// The body without the values that the rules ignore.
    package func without(_ rules: ComparisonRules) -> BodyMeaning {
        if rules.namesNothing { return self }
        if rules.ignores(.place(Place(.request, .body))) { return .empty }
        switch values {
        case .json(let tree): return rules.kept(of: tree, .request).map { BodyMeaning(body, .json($0)) } ?? .empty
        case .named(let part, let fields):
            let kept = rules.kept(of: fields, part)
            return kept.isEmpty ? .empty : BodyMeaning(body, .named(part, kept))
        case .other, .long: return self
        }
    }

    /// Adds bytes that are equal for two bodies exactly if the bodies mean the same.
    package func add(to digest: inout ByteDigest) {
        switch values {
        case .json(let tree):
            digest.add("json")
            withUnsafeBytes(of: tree.nodes.first?.hash) { digest.add($0) }
        case .named(let part, let fields):
            digest.add(part.rawValue)
            digest.add(fields)
        case .other:
            digest.add("bytes")
            digest.add(body.bytes.readableBytesView)
        case .long(let text): digest.add(text)
        }
    }

    /// How two bodies are compared.
    enum Pair {
        case same
        case json(JSONTree?, JSONTree?)
        case named(Place.Part, [FormField], [FormField])
        case text(String, String)
        case bytes

        init(_ old: BodyMeaning, _ new: BodyMeaning) {
            switch (old.values, new.values) {
            case (.other, .other) where old.body.bytes == new.body.bytes: self = .same
            case (.long(let before), .long(let after)) where before == after: self = .same
            case (.json(let before), .json(let after)): self = .json(before, after)
            case (.json(let before), .other) where new.isEmpty: self = .json(before, nil)
            case (.other, .json(let after)) where old.isEmpty: self = .json(nil, after)
            case (.named(let part, let before), .named(let other, let after)) where part == other:
                self = .named(part, before, after)
            case (.named(let part, let before), .other) where new.isEmpty: self = .named(part, before, [])
            case (.other, .named(let part, let after)) where old.isEmpty: self = .named(part, [], after)
            default:
                if let before = old.text, let after = new.text { self = .text(before, after) } else { self = .bytes }
            }
        }
    }

    /// The descriptions of this body's bytes and those of a newer body.
    func words(beside new: BodyMeaning) -> (String, String) {
        for one in [self, new] { if case .long = one.values { return (size, new.size) } }
        let (before, after) = (body.bytes.readableBytesView, new.body.bytes.readableBytesView)
        if before == after {
            func type(_ body: LoadedBody) -> String { body.mediaType?.essence ?? "no media type" }
            return (type(body), type(new.body))
        }
        let same = zip(before, after).prefix { $0 == $1 }.count
        return (size, "\(new.size), other bytes from \(same.grouped) on")
    }

    private var size: String { if case .long(let text) = values { text } else { Measures.size(body.recordedSize) } }

    private var isEmpty: Bool { body.bytes.readableBytes == 0 }

    private var text: String? {
        if case .long = values { return nil }
        return isEmpty ? "" : body.text?.text
    }
}
