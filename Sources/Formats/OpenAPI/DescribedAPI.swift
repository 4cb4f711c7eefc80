import Content
import Description
import HTTPModel
import NIOCore

/// What is known of an API: its servers, its operations by path and method, and how its clients authenticate.
final class DescribedAPI {
    /// The methods that a path may have (OpenAPI 3.1.1 §4.8.9), in the order in which they are written.
    private static let methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"]
    private static let partsOfPages: Set<String> = ["image", "font", "audio", "video"]
    private static let essencesOfPages: Set<String> = [
        "text/css", "text/javascript", "application/javascript", "application/x-javascript", "application/wasm",
    ]

    private(set) var servers = SeenServers()
    private(set) var others = 0
    private(set) var unknownMethods = 0
    private(set) var furtherPaths = 0
    private(set) var furtherServers = 0
    private var schemes: Set<SecurityScheme> = []
    private var count = 0
    private var paths: [String: DescribedPath] = [:]

    private final class DescribedPath {
        var operations: [String: DescribedOperation] = [:]
        var servers = SeenServers()
    }

    /// The addresses of servers in the order in which they were seen.
    struct SeenServers {
        private(set) var list: [String] = []
        private var seen: Set<String> = []

        var isFull: Bool { list.count >= OpenAPIExport.mostServers }

        func contains(_ server: String) -> Bool { seen.contains(server) }

        mutating func add(_ server: String) { if seen.insert(server).inserted { list.append(server) } }
    }

    var unreadBodies: Int {
        paths.values.flatMap { $0.operations.values }.reduce(0) { $0 + $1.unreadBodies }
    }

    var unreadQueries: Int {
        paths.values.flatMap { $0.operations.values }.reduce(0) { $0 + $1.unreadQueries }
    }

    func add(_ exchange: RecordedExchange, _ heads: ReadHeads, _ source: any ExchangeSource) throws {
        let record = exchange.record
        guard isCall(record, heads) else {
            others += 1
            return
        }
        let method = record.method.lowercased()
        guard DescribedAPI.methods.contains(method) else {
            unknownMethods += 1
            return
        }
        let template = PathTemplate(record.url.path)
        guard paths[template.text] != nil || paths.count < OpenAPIExport.mostPaths else {
            furtherPaths += 1
            return
        }
        let server = "\(record.url.scheme)://\(record.url.authority)"
        guard servers.contains(server) || !servers.isFull else {
            furtherServers += 1
            return
        }
        count += 1
        servers.add(server)
        let path = paths[template.text] ?? DescribedPath()
        path.servers.add(server)
        let operation = path.operations[method] ?? DescribedOperation()
        path.operations[method] = operation
        paths[template.text] = path
        let found = SecurityScheme.all(of: heads.fields(of: .requestReceived))
        schemes.formUnion(found)
        try operation.add(exchange, heads, template, found, source)
    }

    private func isCall(_ record: ExchangeRecord, _ heads: ReadHeads) -> Bool {
        guard record.kind == .http, ["http", "https"].contains(record.url.scheme), record.url.path.hasPrefix("/"),
            record.status != 101, record.grpc == nil
        else { return false }
        guard let type = heads.contentType(of: .responseReceived).mediaType else { return true }
        return !DescribedAPI.partsOfPages.contains(type.type) && !DescribedAPI.essencesOfPages.contains(type.essence)
    }

    // MARK: - Writing

    func write(version: String, into writer: inout JSONWriter) throws {
        writer.member("openapi", "3.1.1")
        try writer.object("info") {
            let hosts = Set(servers.list.compactMap { $0.split(separator: "/").last }).sorted()
            $0.member("title", hosts.isEmpty ? "Nothing was recorded" : hosts.prefix(3).joined(separator: ", "))
            $0.member("version", "inferred")
            $0.member(
                "description",
                "Inferred by Sluice \(version) from \(count) recorded \(count == 1 ? "exchange" : "exchanges"). "
                    + "What was not seen is not described."
            )
        }
        try writer.objects("servers", servers.list) { $0.member("url", $1) }
        var names: Set<String> = []
        try writer.object("paths") { writer in
            for (template, path) in paths.sorted(by: { $0.key < $1.key }) {
                writer.lineBreak()
                try writer.object(template) { writer in
                    if path.servers.list.count < servers.list.count {
                        try writer.objects("servers", path.servers.list) { $0.member("url", $1) }
                    }
                    for method in DescribedAPI.methods {
                        guard let operation = path.operations[method] else { continue }
                        let name = DescribedAPI.name(method, template, &names)
                        try writer.object(method) { try operation.write(named: name, into: &$0) }
                    }
                }
            }
        }
        guard !schemes.isEmpty else { return }
        try writer.object("components") { writer in
            try writer.object("securitySchemes") { writer in
                for scheme in schemes.sorted(by: { $0.name < $1.name }) {
                    try writer.object(scheme.name) { scheme.write(into: &$0) }
                }
            }
        }
    }

    /// A name for an operation that no other has: `getUsersUserId`.
    private static func name(_ method: String, _ template: String, _ taken: inout Set<String>) -> String {
        let words = template.split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        let name = method + words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
        let free = (1...).lazy.map { $0 == 1 ? name : "\(name)\($0)" }.first { !taken.contains($0) } ?? name
        taken.insert(free)
        return free
    }
}

/// How clients of an API authenticate.
enum SecurityScheme: Hashable {
    /// `Authorization` with a scheme of HTTP, in lower case.
    case http(String)
    /// A header field that has a key.
    case header(String)

    private static let keys: [FieldName] = ["x-api-key", "api-key", "apikey", "x-auth-token", "x-access-token"]

    static func all(of fields: FieldSection) -> Set<SecurityScheme> {
        var schemes: Set<SecurityScheme> = []
        if let value = fields.value(of: "authorization"), let scheme = value.split(separator: " ").first,
            ["basic", "bearer", "digest"].contains(scheme.lowercased())
        {
            schemes.insert(.http(scheme.lowercased()))
        }
        for key in keys where fields.contains(key) { schemes.insert(.header(key.description)) }
        return schemes
    }

    var name: String {
        switch self {
        case .http(let scheme): scheme
        case .header(let name): name
        }
    }

    func write(into writer: inout JSONWriter) {
        switch self {
        case .http(let scheme):
            writer.member("type", "http")
            writer.member("scheme", scheme)
        case .header(let name):
            writer.member("type", "apiKey")
            writer.member("in", "header")
            writer.member("name", name)
        }
    }
}
