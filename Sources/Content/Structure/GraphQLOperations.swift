/// One GraphQL operation of a request (GraphQL over HTTP: JSON, a batch, a query string, `application/graphql`).
package struct GraphQLOperation: Sendable, Equatable {
    package enum Kind: String, Sendable {
        case query, mutation, subscription
    }

    /// The most operations (or errors) that are read from one message.
    private static let most = 50

    package let query: String
    /// The `operationName` that was sent; if it is missing, the name in the query.
    package let name: String?
    package let kind: Kind
    /// The JSON of its variables, as sent; `nil` if there are no variables.
    package let variables: [UInt8]?

    init(query: String, name: String?, variables: [UInt8]?) {
        self.query = query
        self.variables = variables
        let (kind, first) = GraphQLOperation.heading(query, wanted: name)
        self.kind = kind
        self.name = name ?? first
    }

    /// The operations of a JSON body: one, or a batch; empty if the JSON is something else.
    package static func inJSON(_ bytes: [UInt8]) -> [GraphQLOperation] {
        // Bodies that are not an object or an array are rejected without parsing them.
        let first = bytes.first { $0 > 0x20 }
        guard first == UInt8(ascii: "{") || first == UInt8(ascii: "["), let tree = try? JSONTree(bytes) else {
            return []
        }
        let nodes = first == UInt8(ascii: "{") ? [0] : tree.nodes[0].children
        let operations = nodes.prefix(most).map { node -> GraphQLOperation? in
            let query = tree.member("query", of: node).flatMap { tree.string(of: $0) } ?? ""
            let extensions = query.isEmpty ? tree.member("extensions", of: node) : nil
            let hash = extensions.flatMap { persistedHash(in: tree, $0) }
            guard query.contains("{") || hash != nil else { return nil }
            let name = tree.member("operationName", of: node).flatMap { tree.string(of: $0) } ?? hash
            let variables = tree.member("variables", of: node).flatMap { node in
                tree.nodes[node].children.isEmpty ? nil : Array(bytes[tree.nodes[node].range])
            }
            return GraphQLOperation(query: query, name: name, variables: variables)
        }
        // A list with other elements is not a batch of operations, even if one element has a `query` member.
        return operations.contains(nil) ? [] : operations.compactMap { $0 }
    }

    /// The hash of a persisted query, whose text the server has (Apollo's automatic persisted queries).
    private static func persistedHash(in tree: JSONTree, _ extensions: Int) -> String? {
        tree.member("persistedQuery", of: extensions).flatMap { tree.member("sha256Hash", of: $0) }
            .flatMap { tree.string(of: $0) }
    }

    /// The operation of a query string such as `query=…&variables=…`; `nil` if it is something else.
    package static func inQuery(_ fields: [FormField]) -> GraphQLOperation? {
        let query = fields.first { $0.name == "query" }?.value ?? ""
        let extensions = query.isEmpty ? fields.first { $0.name == "extensions" } : nil
        let hash = extensions.flatMap { try? JSONTree(Array($0.value.utf8)) }.flatMap { persistedHash(in: $0, 0) }
        guard query.contains("{") && query.contains("}") || hash != nil else { return nil }
        let name = fields.first { $0.name == "operationName" }?.value ?? hash
        let variables = fields.first { $0.name == "variables" }.map { Array($0.value.utf8) }
        return GraphQLOperation(query: query, name: name, variables: variables.flatMap { $0.count > 2 ? $0 : nil })
    }

    /// The operation of a body of the type `application/graphql`.
    package static func inDocument(_ text: String) -> GraphQLOperation? {
        text.contains("{") ? GraphQLOperation(query: text, name: nil, variables: nil) : nil
    }

    /// For example `mutation AddItem`.
    package var title: String { name.map { "\(kind.rawValue) \($0)" } ?? kind.rawValue }

    /// The kind and name of the operation named `wanted`; if no operation has this name, of the first.
    private static func heading(_ query: String, wanted: String?) -> (Kind, String?) {
        var depth = 0
        var first: (Kind, String?)?
        var rest = Substring(query.prefix(64 * 1024)).unicodeScalars
        while let scalar = rest.first {
            switch scalar {
            case "#": rest = rest.drop { $0 != "\n" }
            case "\"":
                rest.removeFirst()
                while let inside = rest.popFirst(), inside != "\"" { if inside == "\\" { _ = rest.popFirst() } }
            case "{", "(":
                depth += 1
                rest.removeFirst()
            case "}", ")":
                depth -= 1
                rest.removeFirst()
            case _ where depth == 0 && isName(scalar):
                let word = String(rest.prefix(while: isName))
                rest = rest.drop(while: isName)
                guard let kind = Kind(rawValue: word) else { continue }
                let name = String(rest.drop { $0.properties.isWhitespace }.prefix(while: isName))
                if !name.isEmpty, name == wanted { return (kind, name) }
                first = first ?? (kind, name.isEmpty ? nil : name)
            default: rest.removeFirst()
            }
        }
        return first ?? (.query, nil)
    }

    private static func isName(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar.isASCII && (scalar.properties.isAlphabetic || (0x30...0x39).contains(scalar.value))
    }

    /// The messages and paths of the errors in a response, in order; empty if it has no errors.
    package static func errors(_ bytes: [UInt8]) -> [String] {
        guard bytes.first(where: { $0 > 0x20 }) == UInt8(ascii: "{"), let tree = try? JSONTree(bytes),
            let errors = tree.member("errors", of: 0)
        else { return [] }
        return tree.nodes[errors].children.prefix(most).map { error in
            let message = tree.member("message", of: error).flatMap { tree.string(of: $0) }
            let path = tree.member("path", of: error).map { " at \(tree.text(of: $0))" } ?? ""
            return (message ?? tree.text(of: error)) + path
        }
    }
}
