package enum Column: String, CaseIterable, Sendable, Hashable {
    case id, start, method, scheme, host, path, status, type, size, time, version, process, server, comment, waterfall

    /// Those that a list can be sorted by.
    package static let sortable = allCases.filter { $0 != .waterfall && $0 != .comment }

    var title: String {
        switch self {
        case .id: "#"
        case .start: "START"
        default: rawValue.uppercased()
        }
    }

    /// What it shows.
    var meaning: String {
        switch self {
        case .id: "the number in the session"
        case .start: "the time of day at which it began"
        case .method: "the method"
        case .scheme: "http, https, ws, wss or tunnel"
        case .host: "the host, with its port where that is unusual"
        case .path: "path and query"
        case .status: "the status (of gRPC its own, as rpc14), and signs for what happened"
        case .type: "the response's media type"
        case .size: "bytes of the response's body, as received"
        case .time: "how long it took in all"
        case .version: "HTTP with the client, and the server where it differs"
        case .process: "the client's program and its number; (not found): it had gone, or is another user's"
        case .server: "the server's address"
        case .comment: "what you noted"
        case .waterfall: "when it began and how long it took, as a bar; pauses between exchanges are shortened"
        }
    }
}
