import Content
import Description
import HTTPModel
import NIOCore

/// What is known of one method of one path.
final class DescribedOperation {
    /// As many parameters are described.
    private static let mostParameters = 200
    /// Of one message as many media types are described.
    private static let mostTypes = 50

    private var count = 0
    private var first: ExchangeID?
    private var pathValues: [(name: String, values: ValueText)] = []
    private var parameters: [Parameter] = []
    private var requests: [String: DescribedContent] = [:]
    private var requestBodies = 0
    /// By status; those that OpenAPI has no key for are at 0.
    private var responses: [Int: [String: DescribedContent]] = [:]
    /// The ways in which clients authenticated, each with how often.
    private var security: [Set<SecurityScheme>] = []
    private(set) var unreadBodies = 0
    /// Queries with something in them that is no parameter with a name.
    private(set) var unreadQueries = 0

    private struct Parameter {
        let name: String
        var values = ValueText()
        /// In how many requests it is.
        var count = 0
        /// Whether a request has it several times.
        var isList = false
    }

    func add(
        _ exchange: RecordedExchange,
        _ heads: ReadHeads,
        _ template: PathTemplate,
        _ schemes: Set<SecurityScheme>,
        _ source: any ExchangeSource
    ) throws {
        let record = exchange.record
        count += 1
        first = first ?? record.id
        if !security.contains(schemes) { security.append(schemes) }
        if pathValues.isEmpty { pathValues = template.values.map { ($0.name, ValueText()) } }
        for (index, value) in template.values.enumerated() where pathValues.indices.contains(index) {
            pathValues[index].values.add(value.value)
        }
        if let query = record.url.query {
            let described = DescribedFields(query: query)
            addFields(described.fields)
            if !described.isWhole { unreadQueries += 1 }
        }
        if try add(.requestReceived, exchange, heads, &requests, source) { requestBodies += 1 }
        guard record.status > 0 else { return }
        let status = (100...599).contains(record.status) ? record.status : 0
        _ = try add(.responseReceived, exchange, heads, &responses[status, default: [:]], source)
    }

    private func addFields(_ fields: [FormField]) {
        var seen: [String: Int] = [:]
        for field in fields {
            var place = parameters.firstIndex { $0.name == field.name }
            if place == nil, parameters.count < DescribedOperation.mostParameters {
                place = parameters.count
                parameters.append(Parameter(name: field.name))
            }
            guard let place else { continue }
            parameters[place].values.add(field.value)
            seen[field.name, default: 0] += 1
            if seen[field.name] == 1 { parameters[place].count += 1 } else { parameters[place].isList = true }
        }
    }

    /// Takes a body in; returns whether there is one.
    private func add(
        _ side: BodySide,
        _ exchange: RecordedExchange,
        _ heads: ReadHeads,
        _ contents: inout [String: DescribedContent],
        _ source: any ExchangeSource
    ) throws -> Bool {
        let body = RecordedBody(source: source, id: exchange.record.id, side: side)
        guard try !body.isEmpty else { return false }
        let type = heads.contentType(of: side).mediaType
        let essence = type?.essence ?? "application/octet-stream"
        guard contents[essence] != nil || contents.count < DescribedOperation.mostTypes else { return true }
        let content = contents[essence] ?? DescribedContent()
        contents[essence] = content
        guard let type, DescribedContent.hasSchema(type) else { return true }
        var bytes = ByteBuffer()
        let codings = heads.fields(of: side).combinedValue(of: .contentEncoding).map { ContentCoding.list($0) } ?? []
        let problem = try body.forEachDecodedPiece(codings, limit: OpenAPIExport.longestBody + 1) {
            bytes.writeBytes($0)
        }
        let isWhole = problem == nil && bytes.readableBytes <= OpenAPIExport.longestBody
        if !isWhole || !content.add(bytes, type) { unreadBodies += 1 }
        return true
    }

    // MARK: - Writing

    func write(named name: String, into writer: inout JSONWriter) throws {
        writer.member("operationId", name)
        let times = count == 1 ? "Seen once" : "Seen \(count) times, first"
        writer.member("description", first.map { "\(times) in exchange \($0)." } ?? times)
        if !pathValues.isEmpty || !parameters.isEmpty {
            writer.key("parameters")
            try writer.array { array in
                for (name, values) in pathValues {
                    try array.object {
                        $0.member("name", name)
                        $0.member("in", "path")
                        $0.member("required", true)
                        try $0.object("schema") { values.write(into: &$0) }
                    }
                }
                for parameter in parameters { try array.object { try write(parameter, into: &$0) } }
            }
        }
        if !requests.isEmpty {
            try writer.object("requestBody") {
                try DescribedContent.write(requests, into: &$0)
                $0.member("required", requestBodies == count)
            }
        }
        try writer.object("responses") { writer in
            for (status, contents) in responses.sorted(by: { $0.key < $1.key }) {
                try writer.object(status > 0 ? "\(status)" : "default") {
                    let reason = status > 0 ? ResponseHead.standardReason(status) : "Another status than 100 to 599"
                    $0.member("description", reason.isEmpty ? "Status \(status)" : reason)
                    if !contents.isEmpty { try DescribedContent.write(contents, into: &$0) }
                }
            }
            if responses.isEmpty { try writer.object("default") { $0.member("description", "No response was seen") } }
        }
        guard security.contains(where: { !$0.isEmpty }) else { return }
        // Each is a way of its own; an empty one is to do without.
        try writer.objects("security", security) { writer, schemes in
            for scheme in schemes.sorted(by: { $0.name < $1.name }) { try writer.strings(scheme.name, []) }
        }
    }

    private func write(_ parameter: Parameter, into writer: inout JSONWriter) throws {
        writer.member("name", parameter.name)
        writer.member("in", "query")
        writer.member("required", parameter.count == count)
        try writer.object("schema") { writer in
            guard parameter.isList else { return parameter.values.write(into: &writer) }
            writer.member("type", "array")
            try writer.object("items") { parameter.values.write(into: &$0) }
        }
    }
}

/// What is known of the bodies of one media type.
final class DescribedContent {
    /// How many bodies have the fields.
    private var count = 0
    private var shape: JSONShape?
    private var fields: [(name: String, values: ValueText, count: Int, isFile: Bool)] = []

    static func hasSchema(_ type: MediaType) -> Bool { type.isJSON || isForm(type) || type.type == "multipart" }

    private static func isForm(_ type: MediaType) -> Bool { type.essence == "application/x-www-form-urlencoded" }

    /// Takes a decoded body in; returns whether all of it could be read.
    func add(_ bytes: ByteBuffer, _ type: MediaType) -> Bool {
        if type.isJSON {
            guard let tree = try? JSONTree(Array(bytes.readableBytesView)) else { return false }
            add(tree)
            return true
        }
        if DescribedContent.isForm(type) {
            if let tree = DescribedContent.tree(bytes) {
                add(tree)
                return true
            }
            let described = DescribedFields(form: bytes.readableBytesView)
            if described.isWhole || !described.fields.isEmpty {
                add(described.fields.map { ($0.name, $0.value, false) })
            }
            return described.isWhole
        }
        guard let multipart = Multipart(bytes, mediaType: type) else { return false }
        let values = multipart.parts.compactMap { part in
            let isFile = part.fileName != nil
            return part.name.map { ($0, isFile ? "" : String(buffer: part.content), isFile) }
        }
        let named = values.filter { DescribedFields.isName($0.0) }
        add(named)
        return named.count == values.count
    }

    /// The JSON that a body is which is called a form; `nil` for another one.
    private static func tree(_ bytes: ByteBuffer) -> JSONTree? {
        let first = bytes.readableBytesView.first { ![0x20, 0x09, 0x0A, 0x0D].contains($0) }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "[") else { return nil }
        return try? JSONTree(Array(bytes.readableBytesView))
    }

    private func add(_ tree: JSONTree) {
        let known = shape ?? JSONShape()
        shape = known
        known.add(tree)
    }

    private func add(_ values: [(name: String, text: String, isFile: Bool)]) {
        count += 1
        var seen: Set<String> = []
        for value in values {
            var place = fields.firstIndex { $0.name == value.name }
            if place == nil, fields.count < 256 {
                place = fields.count
                fields.append((value.name, ValueText(), 0, false))
            }
            guard let place else { continue }
            if value.isFile { fields[place].isFile = true } else { fields[place].values.add(value.text) }
            if seen.insert(value.name).inserted { fields[place].count += 1 }
        }
    }

    static func write(_ contents: [String: DescribedContent], into writer: inout JSONWriter) throws {
        try writer.object("content") { writer in
            for (type, content) in contents.sorted(by: { $0.key < $1.key }) {
                try writer.object(type) { try content.write(type, into: &$0) }
            }
        }
    }

    private func write(_ type: String, into writer: inout JSONWriter) throws {
        guard shape != nil || !fields.isEmpty else {
            guard type.hasPrefix("text/") || type.hasSuffix("xml") else { return }
            return try writer.object("schema") { $0.member("type", "string") }
        }
        try writer.object("schema") { writer in
            guard let shape else { return try writeFields(into: &writer) }
            guard !fields.isEmpty else { return try shape.write(into: &writer) }
            try writer.objects("anyOf", [true, false]) { writer, isShape in
                if isShape { try shape.write(into: &writer) } else { try writeFields(into: &writer) }
            }
        }
    }

    private func writeFields(into writer: inout JSONWriter) throws {
        writer.member("type", "object")
        try writer.object("properties") { writer in
            for field in fields {
                try writer.object(field.name) {
                    // The content of a file has no type (OpenAPI 3.1.1 §4.8.14.3).
                    if !field.isFile { field.values.write(into: &$0) }
                }
            }
        }
        let required = fields.filter { $0.count == count }.map(\.name)
        if !required.isEmpty { try writer.strings("required", required) }
    }
}
