package import Content
package import HTTPModel

/// A GraphQL operation: its query with its line breaks, and its variables.
package struct GraphQLView {
    private let operation: GraphQLOperation

    init(_ operation: GraphQLOperation) { self.operation = operation }

    func write(into writer: inout DetailWriter) {
        writer.section("GraphQL", notes: [operation.title]) { writer in
            ScriptLayout(Array(operation.query.utf8), language: .graphQL).write(into: &writer)
        }
        if let variables = operation.variables {
            writer.section("Variables") { writer in
                guard writer.json(variables, at: Place(.graphql, .variables)) != nil else { return }
                writer.add(String(decoding: variables, as: UTF8.self), .string)
            }
        }
        writer.gap()
    }

    /// Adds the errors of a response, which are shown before the rest of the response.
    static func errors(_ bytes: [UInt8], into writer: inout DetailWriter) {
        let errors = GraphQLOperation.errors(bytes)
        guard !errors.isEmpty else { return }
        writer.section("GraphQL errors", notes: ["\(errors.count)"]) { writer in
            for error in errors { writer.add(error, .failure) }
        }
        writer.gap()
    }

    /// The operations of a request: in its query, or in a body of at most `longestBody` bytes.
    static func operations(_ exchange: RecordedExchange, source: any ExchangeSource) -> [GraphQLOperation] {
        if let query = exchange.record.url.query, query.contains("query="),
            let operation = GraphQLOperation.inQuery(FormFields.parse(query: query))
        {
            return [operation]
        }
        let size = exchange.record.sizes.requestBody
        guard exchange.record.kind == .http, (1...longestBody).contains(size) else { return [] }
        let type = exchange.messages.fields(of: .requestReceived).value(of: .contentType).flatMap { MediaType($0) }
        guard let type, type.isJSON || type.essence == "application/graphql" else { return [] }
        let body = LoadedBody(exchange, .requestReceived, source: source, limit: Int(longestBody))
        guard let text = body.text?.text else { return [] }
        return type.isJSON
            ? GraphQLOperation.inJSON(Array(text.utf8)) : GraphQLOperation.inDocument(text).map { [$0] } ?? []
    }

    /// A request's operations in a few words; `nil` if it has none. The record usually shows this without the body.
    package static func title(_ record: ExchangeRecord, source: any ExchangeSource) -> String? {
        let isPosted = record.method == "POST" && (1...longestListed).contains(record.sizes.requestBody)
        let mayBe = isPosted && (record.mediaType.hasSuffix("json") || record.url.path.lowercased().contains("graphql"))
        guard mayBe || record.url.query?.contains("query=") ?? false,
            let exchange = try? source.exchange(record.id)
        else { return nil }
        let operations = operations(exchange, source: source)
        guard let first = operations.first else { return nil }
        return first.title + (operations.count > 1 ? " +\(operations.count - 1)" : "")
    }

    private static let longestBody: Int64 = 256 * 1024
    /// A longer body is not read for the list.
    private static let longestListed: Int64 = 32 * 1024
}
