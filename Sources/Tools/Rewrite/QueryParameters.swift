import Content
import HTTPModel
import Rules

/// The parameters of a query, each as it was sent until it is edited.
///
/// Names and values are compared and edited decoded: without percent-encoding, and with `+` for a space (WHATWG URL
/// §5.1). New text is percent-encoded, a space as `%20`, which every server understands; what an edit leaves of a value
/// stays as it was sent.
struct QueryParameters {
    private struct Parameter {
        var name: [UInt8]
        /// `nil` where there is no `=`.
        var value: [UInt8]?
    }

    private var parameters: [Parameter]

    /// Splits a query; `nil` is one without parameters.
    init(_ query: String?) {
        let bytes = Array((query ?? "").utf8)
        let pairs = bytes.isEmpty ? [] : bytes.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        parameters = pairs.map { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return Parameter(name: Array(parts[0]), value: parts.count > 1 ? Array(parts[1]) : nil)
        }
    }

    /// The query; `nil` where no parameter is left.
    var query: String? {
        guard !parameters.isEmpty else { return nil }
        let pairs = parameters.map { pair in pair.value.map { pair.name + [UInt8(ascii: "=")] + $0 } ?? pair.name }
        return String(decoding: Array(pairs.joined(separator: [UInt8(ascii: "&")])), as: UTF8.self)
    }
}

extension QueryParameters: NamedValues {
    func position(of name: FieldName?, from start: Int) -> Int? {
        parameters.indices.dropFirst(start).first { position in
            let parameter = parameters[position]
            // Between two `&` there is no parameter.
            if parameter.name.isEmpty, parameter.value == nil { return false }
            return name.map { FieldName(self.name(at: position)) == $0 } ?? true
        }
    }

    func name(at position: Int) -> String { FormFields.decode(parameters[position].name) }
    func valueBytes(at position: Int) -> [UInt8] { PercentEncoding.decode(parameters[position].value ?? []) }

    mutating func append(_ name: String, _ value: [UInt8]) {
        let value = PercentEncoding.encode(value[...], keeping: PercentEncoding.queryValue)
        let name = PercentEncoding.encode(name, keeping: PercentEncoding.queryName)
        parameters.append(Parameter(name: name, value: value))
    }

    mutating func setName(_ name: String, at position: Int) {
        parameters[position].name = PercentEncoding.encode(name, keeping: PercentEncoding.queryName)
    }

    mutating func setValue(_ value: [UInt8], at position: Int) {
        let old = parameters[position].value ?? []
        parameters[position].value = PercentEncoding.edit(old, to: value, keeping: PercentEncoding.queryValue)
    }

    mutating func remove(at position: Int) { parameters.remove(at: position) }

    static func fault(ofName name: String) -> String? { name.isEmpty ? "a parameter must have a name" : nil }

    static func text(_ name: String, _ value: String) -> String { "\(name)=\(value)" }
}

/// Percent-encoding (RFC 3986 §2.1).
enum PercentEncoding {
    private static let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
    /// What is not encoded in the name of a parameter.
    static let queryName = unreserved.union("!$()*,:@/?[]".utf8)
    /// What is not encoded in the value of a parameter.
    static let queryValue = queryName.union("=".utf8)
    /// What is not encoded in a part of a URL, percent signs included.
    static let urlText = unreserved.union("!$&'()*+,;=:@/?[]%".utf8)

    static func encode(_ text: String, keeping kept: Set<UInt8>) -> [UInt8] {
        encode(Array(text.utf8)[...], keeping: kept)
    }

    static func encode(_ bytes: ArraySlice<UInt8>, keeping kept: Set<UInt8>) -> [UInt8] {
        bytes.flatMap { kept.contains($0) ? [$0] : encoded($0) }
    }

    /// A byte as `%` and two digits.
    static func encoded(_ byte: UInt8) -> [UInt8] {
        let digits = Array("0123456789ABCDEF".utf8)
        return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }

    static func decode(_ encoded: [UInt8]) -> [UInt8] { pieces(of: encoded).map(\.byte) }

    /// Encodes bytes that replace encoded ones; a common beginning and end stay as they were.
    static func edit(_ old: [UInt8], to new: [UInt8], keeping kept: Set<UInt8>) -> [UInt8] {
        let pieces = pieces(of: old)
        let head = zip(pieces, new).prefix { $0.0.byte == $0.1 }.count
        let rest = min(pieces.count, new.count) - head
        let tail = zip(pieces.reversed(), new.reversed()).prefix(rest).prefix { $0.0.byte == $0.1 }.count
        let before = pieces[..<head].flatMap { old[$0.range] }
        let after = pieces[(pieces.count - tail)...].flatMap { old[$0.range] }
        return before + encode(new[head..<(new.count - tail)], keeping: kept) + after
    }

    /// Each decoded byte, and where it stands in the encoded text.
    private static func pieces(of encoded: [UInt8]) -> [(byte: UInt8, range: Range<Int>)] {
        var pieces: [(byte: UInt8, range: Range<Int>)] = []
        var position = 0
        while position < encoded.count {
            let byte = encoded[position]
            if byte == UInt8(ascii: "%"), position + 2 < encoded.count,
                let value = UInt8(String(decoding: encoded[(position + 1)...(position + 2)], as: UTF8.self), radix: 16),
                encoded[position + 1] != UInt8(ascii: "+")
            {
                pieces.append((value, position..<(position + 3)))
                position += 3
            } else {
                pieces.append((byte == UInt8(ascii: "+") ? 0x20 : byte, position..<(position + 1)))
                position += 1
            }
        }
        return pieces
    }
}
