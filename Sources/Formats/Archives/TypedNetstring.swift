import HTTPModel

/// A typed netstring of mitmproxy: length, colon, bytes, and a character for the type (tnetstrings.info; `;` is text).
indirect enum TypedNetstring: Hashable {
    case bytes(ArraySlice<UInt8>)
    case text(String)
    case integer(Int64)
    case real(Double)
    case boolean(Bool)
    case null
    case list([TypedNetstring])
    case dictionary([String: TypedNetstring])

    private static let deepest = 32
    /// The maximum number of values, because each value needs several times its three bytes in memory.
    static let mostValues = 4_000_000

    /// Reads one value and moves after it; `nil` if it is invalid, nested too deep, or contains too many values.
    init?(_ rest: inout ArraySlice<UInt8>, atMost count: Int = mostValues) {
        var left = count
        self.init(&rest, depth: 0, &left)
    }

    private init?(_ rest: inout ArraySlice<UInt8>, depth: Int, _ left: inout Int) {
        left -= 1
        guard left >= 0, depth < TypedNetstring.deepest, let count = TypedNetstring.length(&rest), count < rest.count
        else { return nil }
        var content = rest.prefix(count)
        let kind = rest[rest.startIndex + count]
        rest = rest.dropFirst(count + 1)
        switch kind {
        case UInt8(ascii: ","): self = .bytes(content)
        case UInt8(ascii: ";"): self = .text(String(decoding: content, as: UTF8.self))
        case UInt8(ascii: "#"):
            guard count <= 20, let number = Int64(String(decoding: content, as: UTF8.self)) else { return nil }
            self = .integer(number)
        case UInt8(ascii: "^"):
            guard count <= 40, let number = Double(String(decoding: content, as: UTF8.self)), number.isFinite else {
                return nil
            }
            self = .real(number)
        case UInt8(ascii: "!"): self = .boolean(content.elementsEqual("true".utf8))
        case UInt8(ascii: "~"):
            guard content.isEmpty else { return nil }
            self = .null
        case UInt8(ascii: "]"):
            var values: [TypedNetstring] = []
            while !content.isEmpty {
                guard let value = TypedNetstring(&content, depth: depth + 1, &left) else { return nil }
                values.append(value)
            }
            self = .list(values)
        case UInt8(ascii: "}"):
            var values: [String: TypedNetstring] = [:]
            while !content.isEmpty {
                guard let key = TypedNetstring(&content, depth: depth + 1, &left)?.string,
                    let value = TypedNetstring(&content, depth: depth + 1, &left)
                else { return nil }
                values[key] = value
            }
            self = .dictionary(values)
        default: return nil
        }
    }

    static func length(_ rest: inout ArraySlice<UInt8>) -> Int? {
        let digits = rest.prefix(13).prefix { $0 &- 0x30 < 10 }
        guard (1...12).contains(digits.count), digits.endIndex < rest.endIndex,
            rest[digits.endIndex] == UInt8(ascii: ":")
        else { return nil }
        rest = rest[(digits.endIndex + 1)...]
        return digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
    }

    subscript(key: String) -> TypedNetstring? { if case .dictionary(let values) = self { values[key] } else { nil } }

    var list: [TypedNetstring]? { if case .list(let values) = self { values } else { nil } }

    var string: String? {
        switch self {
        case .text(let text): text
        case .bytes(let bytes): String(fieldBytes: bytes)
        default: nil
        }
    }

    var data: ArraySlice<UInt8>? {
        switch self {
        case .bytes(let bytes): bytes
        case .text(let text): Array(text.utf8)[...]
        default: nil
        }
    }

    var number: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .real(let number): number
        default: nil
        }
    }

    var isTrue: Bool { self == .boolean(true) }
}
