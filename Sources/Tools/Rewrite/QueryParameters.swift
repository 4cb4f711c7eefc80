import Content
import HTTPModel
import Rules

/// The parameters of a query; a parameter keeps its bytes as sent until it is edited.
///
/// Names and values are compared and edited decoded: without percent-encoding, and with `+` for a space (WHATWG URL
/// §5.1). New text is percent-encoded, a space as `%20`, which every server understands; the unedited part of a value
/// keeps its bytes as sent.
struct QueryParameters {
    private struct Parameter {
        var name: [UInt8]
        /// `nil` if there is no `=`.
        var value: [UInt8]?
    }

    private var parameters: [Parameter]

    /// Splits a query; `nil` has no parameters.
    init(_ query: String?) {
        let bytes = Array((query ?? "").utf8)
        let pairs = bytes.isEmpty ? [] : bytes.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false)
        parameters = pairs.map { pair in
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return Parameter(name: Array(parts[0]), value: parts.count > 1 ? Array(parts[1]) : nil)
        }
    }

    /// The query; `nil` if no parameter is left.
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
            // Two adjacent `&` have no parameter between them.
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
