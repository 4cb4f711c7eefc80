import Content

/// A GraphQL request in JSON: its query with its line breaks, and its variables.
struct GraphQLRequest {
    private let query: String
    private let operation: String?
    private let variables: [UInt8]?

    /// Reads a request; `nil` where the JSON is none.
    init?(_ bytes: [UInt8]) {
        // Most JSON is distinguished without reading it whole.
        guard bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "{"), let tree = try? JSONTree(bytes),
            let member = tree.member("query", of: 0), let query = tree.string(of: member),
            query.contains("{")
        else { return nil }
        self.query = query
        operation = tree.member("operationName", of: 0).flatMap { tree.string(of: $0) }
        variables = tree.member("variables", of: 0).flatMap { node in
            tree.nodes[node].children.isEmpty ? nil : Array(bytes[tree.nodes[node].range])
        }
    }

    func write(into writer: inout DetailWriter) {
        writer.section("GraphQL", notes: operation.map { [$0] } ?? []) { writer in
            ScriptLayout(Array(query.utf8), language: .graphQL).write(into: &writer)
        }
        if let variables { writer.section("Variables") { $0.json(variables) } }
        writer.gap()
    }
}
