package import Content
package import Description
package import HTTPModel
import Text

/// Exports a description of the recorded API, as OpenAPI 3.1.1 in JSON: paths with parameters, bodies with schemas that
/// fit all recorded values, and how clients authenticate. It contains no values of exchanges, and no other text that
/// was sent as a form or a query. Members that were always present are required.
package struct OpenAPIExport: ExchangeExport {
    /// The methods that a path may have (OpenAPI 3.1.1 §4.8.9), in the order of the output.
    private static let methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]
    private static let keys = ["x-api-key", "api-key", "apikey", "x-auth-token", "x-access-token"]
    private static let partsOfPages = ["image", "font", "audio", "video", "css", "javascript", "x-javascript", "wasm"]

    private let source: any ExchangeSource
    private let version: String
    private let sink: ExportSink
    private var count = 0
    private var paths: [String: (operations: [String: DescribedOperation], servers: Set<String>)] = [:]
    private var servers: [String] = []
    /// How many exchanges, or parts of exchanges, are not described, by reason.
    private var gaps: [String: Int] = [:]

    package init(source: any ExchangeSource, version: String, sink: @escaping ExportSink) {
        (self.source, self.version, self.sink) = (source, version, sink)
    }

    package mutating func add(_ exchange: RecordedExchange) throws {
        let (record, heads) = (exchange.record, ReadHeads(exchange.messages))
        let method = record.method.lowercased()
        let template = PathTemplate(record.url.path)
        let server = "\(record.url.scheme)://\(record.url.authority)"
        var path = paths[template.text] ?? ([:], [])
        let isKnown = path.servers.contains(server) || servers.contains(server)
        let (mostPaths, mostServers) = (2_000, 1_000)
        let type = heads.contentType(of: .responseReceived).mediaType
        let isOfPage = [type?.type, type?.subtype].contains { OpenAPIExport.partsOfPages.contains($0 ?? "") }
        let isHTTP = record.kind == .http && ["http", "https"].contains(record.url.scheme) && record.grpc == nil
        let isCall = isHTTP && !isOfPage && record.status != 101 && record.url.path.hasPrefix("/")
        let reasons: KeyValuePairs = [
            "not calls of an API (tunnels, WebSockets, gRPC, parts of pages)": !isCall,
            "methods that OpenAPI 3.1 does not know": !OpenAPIExport.methods.contains(method),
            "paths beyond the first \(mostPaths)": path.servers.isEmpty && paths.count >= mostPaths,
            "servers beyond the first \(mostServers)": !isKnown && servers.count >= mostServers,
        ]
        if let reason = reasons.first(where: { $0.value })?.key {
            gaps["exchanges left out, \(reason)", default: 0] += 1
            return
        }
        count += 1
        if !isKnown { servers.append(server) }
        let operation = path.operations[method] ?? DescribedOperation()
        if operation.count == 0 { operation.first = record.id }
        path.operations[method] = operation
        path.servers.insert(server)
        paths[template.text] = path
        let fields = heads.fields(of: .requestReceived)
        let scheme = fields.value(of: "authorization")?.split(separator: " ").first?.lowercased()
        let schemes: [String] = ["basic", "bearer", "digest"].filter { $0 == scheme }
        let ways = Set(schemes + OpenAPIExport.keys.filter { fields.contains(FieldName($0)) })
        if !operation.security.contains(ways) { operation.security.append(ways) }
        let query = DescribedFields((record.url.query ?? "").utf8)
        if !query.isWhole { gaps["queries with parts that have no name", default: 0] += 1 }
        operation.count += 1
        operation.path.add(template.values)
        operation.query.add(query.fields)
        for side in [BodySide.requestReceived, .responseReceived] where side.isRequest || record.status > 0 {
            let body = RecordedBody(source: source, id: record.id, side: side)
            let status = side.isRequest ? nil : record.status
            if try operation.add(body, heads.fields(of: side), status: status) { continue }
            gaps["bodies without a schema (not JSON, not a form, or too long)", default: 0] += 1
        }
    }

    package mutating func finish() throws {
        var writer = JSONWriter(sink)
        try description.write(into: &writer)
        try writer.endLine()
        try writer.flush()
    }

    private var description: OpenAPIValue {
        let hosts = Set(servers.compactMap { $0.split(separator: "/").last }).sorted().prefix(3)
        let title = hosts.isEmpty ? "Nothing was recorded" : hosts.joined(separator: ", ")
        let seen = count.of("recorded exchange")
        let words = "Inferred by Sluice \(version) from \(seen). What was not seen is not described."
        func list(_ servers: [String]) -> OpenAPIValue { .list(servers.map { ["url": .text($0)] }) }
        var names: Set<String> = []
        let described = paths.sorted { $0.key < $1.key }.map { template, path -> (String, OpenAPIValue?) in
            let own = path.servers.count < servers.count ? list(servers.filter(path.servers.contains)) : nil
            let words = template.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
            var members = [("servers", own)]
            for method in OpenAPIExport.methods {
                guard let operation = path.operations[method] else { continue }
                var name = method + words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
                while !names.insert(name).inserted { name += "2" }
                members.append((method, operation.described(as: name)))
            }
            return (template, .object(members))
        }
        let ways = Set(paths.values.flatMap { $0.operations.values.flatMap { $0.security.joined() } })
        let schemes = ways.sorted().map { name -> (String, OpenAPIValue?) in
            let key: OpenAPIValue = ["type": "apiKey", "in": "header", "name": .text(name)]
            return (name, OpenAPIExport.keys.contains(name) ? key : ["type": "http", "scheme": .text(name)])
        }
        return [
            "openapi": "3.1.1", "info": ["title": .text(title), "version": "inferred", "description": .text(words)],
            "servers": list(servers), "paths": .object(described),
            "components": schemes.isEmpty ? nil : ["securitySchemes": .object(schemes)],
        ]
    }

    package var remark: String? {
        let several = ["servers in one description (a filter such as host:NAME chooses one)": servers.count]
        let counts = gaps.sorted { $0.key < $1.key } + several.filter { $0.value > 1 }
        return counts.isEmpty ? nil : counts.map { "\($0): \($1)" }.joined(separator: "; ")
    }
}

/// A value of a description in JSON; members without a value are left out.
enum OpenAPIValue: ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral {
    case text(String)
    case flag(Bool)
    case list([OpenAPIValue])
    case object([(String, OpenAPIValue?)])

    init(stringLiteral text: String) { self = .text(text) }
    init(dictionaryLiteral members: (String, OpenAPIValue?)...) { self = .object(members) }

    func write(into writer: inout JSONWriter) throws {
        switch self {
        case .text(let text): writer.value(text)
        case .flag(let flag): writer.value(flag)
        case .list(let values): try writer.array { for value in values { try value.write(into: &$0) } }
        case .object(let members):
            try writer.object { writer in
                for case (let name, let value?) in members {
                    // Each path begins on a new line.
                    if name.first == "/" { writer.lineBreak() }
                    writer.key(name)
                    try value.write(into: &writer)
                }
            }
        }
    }
}
