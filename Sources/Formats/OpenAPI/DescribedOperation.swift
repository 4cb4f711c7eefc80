import Content
import HTTPModel
import NIOCore

/// One method of one path, with the values that were seen at the places of its messages.
final class DescribedOperation {
    var (count, first) = (0, ExchangeID(0))
    let path = SeenValues()
    let query = SeenValues()
    /// By status, `nil` for requests, and by media type. A status that OpenAPI has no key for is 0.
    private var bodies: [Int?: [String: SeenValues]] = [:]
    private var requestBodies = 0
    var security: [Set<String>] = []

    /// Adds a message's body; a request has no status. Returns whether all of the body could be read.
    func add(_ body: RecordedBody, _ fields: FieldSection, status: Int?) throws -> Bool {
        let status = status.map { (100...599).contains($0) ? $0 : 0 }
        let isEmpty = try body.isEmpty
        if status != nil || !isEmpty { bodies[status] = bodies[status] ?? [:] }
        if isEmpty { return true }
        if status == nil { requestBodies += 1 }
        let type = fields.value(of: .contentType).flatMap { MediaType($0) }
        let essence = type?.essence ?? "application/octet-stream"
        guard bodies[status]?[essence] != nil || bodies[status]?.count ?? 0 < 50 else { return true }
        let values = bodies[status]?[essence] ?? SeenValues()
        bodies[status]?[essence] = values
        let isForm = essence == "application/x-www-form-urlencoded"
        guard let type, type.isJSON || isForm || type.type == "multipart" else { return true }
        var bytes = ByteBuffer()
        let codings = fields.combinedValue(of: .contentEncoding).map { ContentCoding.list($0) } ?? []
        // A body that is longer when decoded has no schema.
        let limit = 4 << 20
        let (problem, _) = try body.forEachDecodedPiece(codings, limit: limit + 1) { bytes.writeBytes($0) }
        guard problem == nil, bytes.readableBytes <= limit else { return false }
        // curl sends JSON with the type of a form, unless a type is given.
        let start = bytes.readableBytesView.first { $0 > 0x20 }
        let mayBeJSON = type.isJSON || isForm && (start == UInt8(ascii: "{") || start == UInt8(ascii: "["))
        if mayBeJSON, let tree = try? JSONTree(Array(bytes.readableBytesView)) {
            values.add(0, of: tree)
            return true
        }
        if isForm {
            let form = DescribedFields(bytes.readableBytesView, isForm: true)
            if form.isWhole || !form.fields.isEmpty { values.add(form.fields) }
            return form.isWhole
        }
        guard let parts = Multipart(bytes, mediaType: type)?.parts.filter({ $0.name != nil }) else { return false }
        let named = parts.filter { DescribedFields.isName($0.name ?? "") }
        values.add(named.map { ($0.name ?? "", $0.fileName == nil ? String(buffer: $0.content) : nil) })
        return named.count == parts.count
    }

    func described(as name: String) -> OpenAPIValue {
        let parameters = [("path", path), ("query", query)].flatMap { location, values in
            values.members.map { member -> OpenAPIValue in
                let (name, isRequired) = (OpenAPIValue.text(member.name), OpenAPIValue.flag(member.isRequired))
                return ["name": name, "in": .text(location), "required": isRequired, "schema": member.values.schema]
            }
        }
        let known = bodies.compactMap { status, types in status.map { ($0, types) } }.sorted { $0.0 < $1.0 }
        let responses = known.map { status, types -> (String, OpenAPIValue?) in
            let reason = status > 0 ? ResponseHead.standardReason(status) : "Another status than 100 to 599"
            let words = OpenAPIValue.text(reason.isEmpty ? "Status \(status)" : reason)
            let content = types.isEmpty ? nil : DescribedOperation.content(types)
            return (status > 0 ? "\(status)" : "default", ["description": words, "content": content])
        }
        // Each object is an alternative; an empty object means no authentication.
        let ways = security.map { OpenAPIValue.object($0.sorted().map { ($0, .list([])) }) }
        return [
            "operationId": .text(name),
            "description": .text("Seen \(count == 1 ? "once" : "\(count) times, first") in exchange \(first)."),
            "parameters": parameters.isEmpty ? nil : .list(parameters),
            "requestBody": bodies[nil].map { types in
                ["content": DescribedOperation.content(types), "required": .flag(requestBodies == count)]
            },
            "responses": known.isEmpty ? ["default": ["description": "No response was seen"]] : .object(responses),
            "security": security.contains { !$0.isEmpty } ? .list(ways) : nil,
        ]
    }

    private static func content(_ types: [String: SeenValues]) -> OpenAPIValue {
        let described = types.sorted { $0.key < $1.key }.map { type, values -> (String, OpenAPIValue?) in
            let isText = type.hasPrefix("text/") || type.hasSuffix("xml")
            return (type, ["schema": !values.kinds.isEmpty ? values.schema : isText ? ["type": "string"] : nil])
        }
        return .object(described)
    }
}
