package import Content
package import Description
package import HTTPModel
import Masking
import NIOCore

/// Exports a description of the API that the exchanges are of, as OpenAPI 3.1.1 in JSON: paths with their parameters,
/// request bodies and responses with schemas that fit everything that was seen, and how clients authenticate.
///
/// No value of an exchange is in it, and no text that passed as a form or a query. Identifiers in paths become parameters. What was not seen is not described; required
/// is what was there each time. Left out are exchanges that are no calls of an API: tunnels, WebSockets, gRPC, style
/// sheets, scripts, images, fonts, media.
package struct OpenAPIExport: ExchangeExport {
    /// More paths are left out.
    static let mostPaths = 2_000
    /// The exchanges of more servers are left out.
    static let mostServers = 1_000
    /// A longer body, decoded, has no schema.
    static let longestBody = 4 << 20

    private let source: any ExchangeSource
    private let version: String
    private let sink: ExportSink
    private let api = DescribedAPI()

    /// Prepares an export, which is written at the end; `version` is that of Sluice.
    package init(source: any ExchangeSource, version: String, sink: @escaping ExportSink) {
        (self.source, self.version, self.sink) = (source, version, sink)
    }

    package mutating func add(_ exchange: RecordedExchange) throws {
        try api.add(exchange, ReadHeads(exchange.messages), source)
    }

    package mutating func finish() throws {
        var writer = JSONWriter(sink)
        try writer.object { try api.write(version: version, into: &$0) }
        try writer.endLine()
        try writer.flush()
    }

    package var remark: String? {
        var parts: [String] = []
        func left(_ count: Int, _ what: String) {
            if count > 0 { parts.append("\(count) \(count == 1 ? "exchange" : "exchanges") left out: \(what)") }
        }
        left(api.others, "no calls of an API (tunnels, WebSockets, gRPC, parts of pages)")
        left(api.unknownMethods, "methods that OpenAPI 3.1 does not know")
        left(api.furtherPaths, "paths beyond the first \(OpenAPIExport.mostPaths)")
        left(api.furtherServers, "servers beyond the first \(OpenAPIExport.mostServers)")
        if api.unreadBodies > 0 {
            parts.append("\(api.unreadBodies) bodies are not in the schemas: no JSON, no form, or too long")
        }
        if api.unreadQueries > 0 {
            parts.append("\(api.unreadQueries) queries are not described in whole: parts of them have no name")
        }
        if api.servers.list.count > 1 {
            let count = api.servers.list.count
            parts.append("\(count) servers are in one description; a filter such as host:NAME takes one")
        }
        return parts.isEmpty ? nil : parts.joined(separator: "; ")
    }
}
