package import HTTPModel
package import NIOCore

/// The values of one message, read on demand.
package final class MessagePlaces {
    /// In bytes, without content coding. A longer body has only the place `body`, which is cut at this length.
    package static let longestBody = 16 << 20

    private let head: ByteBuffer?
    private let trailers: ByteBuffer?
    private let isRequest: Bool
    /// The URL's query; `nil` if there is none, and in responses.
    private let query: String?
    private let isCoded: Bool
    private let loadBody: () throws -> ByteBuffer
    private lazy var fields = head.map { StoredHead.fieldsAfterStartLine($0) } ?? FieldSection()
    private lazy var mediaType = fields.value(of: .contentType).flatMap { MediaType($0) }
    private var loaded: (bytes: ByteBuffer, isWhole: Bool)?

    /// Why the last call found no values in the body: a sentence without a full stop; `nil` if the body was read.
    package private(set) var problem: String?

    /// `isCoded`: the body has the content coding that the head names. `body` reads up to ``longestBody`` + 1 bytes.
    package init(
        isRequest: Bool,
        head: ByteBuffer?,
        trailers: ByteBuffer? = nil,
        query: String? = nil,
        isCoded: Bool = true,
        body: @escaping () throws -> ByteBuffer
    ) {
        (self.isRequest, self.head, self.trailers, self.query) = (isRequest, head, trailers, query)
        (self.isCoded, loadBody) = (isCoded, body)
    }

    /// A message whose head was read already.
    package convenience init(
        isRequest: Bool,
        fields: FieldSection,
        query: String? = nil,
        body: @escaping () throws -> ByteBuffer
    ) {
        self.init(isRequest: isRequest, head: ByteBuffer(), query: query, body: body)
        self.fields = fields
    }

    /// Whether a body of this media type can have the part.
    package static func canHave(_ part: Place.Part, in mediaType: MediaType?) -> Bool {
        switch part {
        case .json: mayBeJSON(mediaType)
        case .operation, .type, .variables: mayBeJSON(mediaType) || mediaType?.essence == "application/graphql"
        case .form: mediaType?.essence == "application/x-www-form-urlencoded"
        case .part: mediaType?.type == "multipart"
        case .xml: mediaType.map { $0.isXML || $0.essence == "text/plain" } ?? true
        default: mediaType.map { $0.isTextual || !["image", "audio", "video", "font"].contains($0.type) } ?? true
        }
    }

    /// The values at `steps` in a part of the message, in order. Throws the errors of reading the body.
    package func values(_ part: Place.Part, _ steps: [Place.Step]) throws -> [PlaceValue] {
        problem = nil
        switch part {
        case .header: return fieldValues(fields, steps)
        case .trailer: return fieldValues(trailers.map { StoredHead.fields($0) } ?? FieldSection(), steps)
        case .cookie:
            let cookies =
                isRequest
                ? Cookies.request(fields).map { ($0.name, $0.value) }
                : Cookies.response(fields).map { ($0.name, $0.value) }
            return named(cookies.map { ($0.0, PlaceValue($0.1)) }, steps)
        case .query: return named(MessagePlaces.form(Array((query ?? "").utf8)), steps)
        case .operation, .type, .variables: return try operations().flatMap { values(of: $0, part, steps) }
        case .body: return head == nil ? [] : [PlaceValue(try text())]
        case .form:
            guard Self.canHave(.form, in: mediaType) else { return [] }
            return named(MessagePlaces.form(try wholeText() ?? []), steps)
        case .part: return named(try parts(), steps)
        case .json:
            return Self.mayBeJSON(mediaType) ? try values(in: "JSON") { try JSONPlaces.values(of: $0, at: steps) } : []
        case .xml:
            return Self.canHave(.xml, in: mediaType)
                ? try values(in: "XML") { try XMLPlaces.values(of: $0, at: steps) } : []
        case .method, .url, .host, .path, .status, .field: return []
        }
    }

    private func fieldValues(_ fields: FieldSection, _ steps: [Place.Step]) -> [PlaceValue] {
        guard case .member(let name)? = steps.first else { return [] }
        let values = fields.filter { $0.name.lowercased() == name }.map { PlaceValue($0.valueBytes) }
        return MessagePlaces.picked(values, steps.dropFirst().first)
    }

    private func named(_ pairs: [(name: String, value: PlaceValue)], _ steps: [Place.Step]) -> [PlaceValue] {
        guard case .member(let name)? = steps.first else { return [] }
        let values = pairs.filter { $0.name.utf8.elementsEqual(name.utf8) }.map(\.value)
        return MessagePlaces.picked(values, steps.dropFirst().first)
    }

    private static func picked(_ values: [PlaceValue], _ step: Place.Step?) -> [PlaceValue] {
        guard case .element(let number)? = step else { return values }
        return values.index(counted: number).map { [values[$0]] } ?? []
    }

    private static func form(_ bytes: [UInt8]) -> [(name: String, value: PlaceValue)] {
        FormFields.parse(bytes).map { ($0.name, PlaceValue($0.value, .percentEncoded)) }
    }

    private func parts() throws -> [(name: String, value: PlaceValue)] {
        guard let mediaType, mediaType.type == "multipart", let bytes = try whole(),
            let multipart = Multipart(bytes, mediaType: mediaType)
        else { return [] }
        return multipart.parts.compactMap { part in part.name.map { ($0, PlaceValue(part.content.readableBytesView)) } }
    }

    private func values(in form: String, _ read: ([UInt8]) throws -> [PlaceValue]) throws -> [PlaceValue] {
        guard let text = try wholeText() else { return [] }
        do {
            return try read(text)
        } catch {
            problem = "the body is not valid \(form): \(error)"
            return []
        }
    }

    /// Forms count too: curl sends JSON with the type of a form by default. Some programs send no type.
    private static func mayBeJSON(_ mediaType: MediaType?) -> Bool {
        guard let mediaType else { return true }
        if mediaType.isJSON { return true }
        let isOther = mediaType.isXML || ["html", "css", "event-stream"].contains(mediaType.subtype)
        return mediaType.type == "text" && !isOther
            || ["application/x-www-form-urlencoded", "application/octet-stream", "application/javascript"]
                .contains(mediaType.essence)
    }

    private func operations() throws -> [GraphQLOperation] {
        guard isRequest else { return [] }
        if let query, let operation = GraphQLOperation.inQuery(FormFields.parse(query: query)) { return [operation] }
        if mediaType?.essence == "application/graphql" {
            let text = String(decoding: try wholeText() ?? [], as: UTF8.self)
            return GraphQLOperation.inDocument(text).map { [$0] } ?? []
        }
        return Self.mayBeJSON(mediaType) ? GraphQLOperation.inJSON(try wholeText() ?? []) : []
    }

    private func values(of operation: GraphQLOperation, _ part: Place.Part, _ steps: [Place.Step]) -> [PlaceValue] {
        switch part {
        case .operation: operation.name.map { [PlaceValue($0)] } ?? []
        case .type: [PlaceValue(operation.kind.rawValue)]
        default: operation.variables.flatMap { try? JSONPlaces.values(of: $0, at: steps) } ?? []
        }
    }

    private func body() throws -> (bytes: ByteBuffer, isWhole: Bool) {
        if let loaded { return loaded }
        let raw = try loadBody()
        let codings = isCoded ? ContentCoding.list(fields.combinedValue(of: .contentEncoding)) : []
        let decoded = DecodedContent.shown(raw, codings: codings, limit: MessagePlaces.longestBody)
        let isWhole = raw.readableBytes <= MessagePlaces.longestBody && !decoded.stoppedAtLimit
        loaded = (decoded.bytes, isWhole)
        return (decoded.bytes, isWhole)
    }

    /// The bytes of the body without content coding; `nil` if it is longer than ``longestBody``.
    private func whole() throws -> ByteBuffer? {
        let body = try body()
        if !body.isWhole { problem = "the body is longer than \(MessagePlaces.longestBody >> 20) MiB" }
        return body.isWhole ? body.bytes : nil
    }

    private func wholeText() throws -> [UInt8]? { try whole() == nil ? nil : text() }

    /// The body up to ``longestBody``, converted to UTF-8 if the head names another charset.
    private func text() throws -> [UInt8] {
        let bytes = try body().bytes
        guard let label = mediaType?.parameter("charset"), Charset(label) != .utf8 else {
            return Array(bytes.readableBytesView)
        }
        return Array(TextDecoder.decode(bytes, as: Charset(label)).text.utf8)
    }
}
