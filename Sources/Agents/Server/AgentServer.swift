package import Foundation
import Jobs

/// The Model Context Protocol on standard input and output: one JSON-RPC 2.0 message a line. It speaks the revision
/// 2026-07-28, in which each request names its version, and those before it, which begin with `initialize`.
package actor AgentServer {
    /// The revision without a handshake.
    static let version = "2026-07-28"
    /// The revisions with a handshake, the newest first.
    static let handshakeVersions = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
    /// In bytes.
    package static let longestLine = 4 << 20
    /// How long a client may take the list of tools as current, in milliseconds.
    private static let freshness: JSON = 3_600_000

    private let tools: [AgentTool]
    private let instructions: String
    private let write: @Sendable (String) -> Void
    private var hasHandshake = false
    /// The calls that run, by their request; finishing one cancels it.
    private var calls: [JSON: AsyncStream<Void>.Continuation] = [:]
    private var limit = CallLimit(most: 10, within: .seconds(1))

    /// `write` gets each message, without a line end.
    package init(_ tools: [AgentTool], instructions: String, write: @escaping @Sendable (String) -> Void) {
        (self.tools, self.instructions, self.write) = (tools, instructions, write)
    }

    /// An error of the protocol, with its code.
    private struct Refusal: Error {
        let code: Int64
        let message: String
        let data: JSON?

        init(_ code: Int64, _ message: String, data: JSON? = nil) {
            (self.code, self.message, self.data) = (code, message, data)
        }
    }

    /// Answers the lines of `input` until it ends; then calls that still run are cancelled.
    package func serve(_ input: AsyncStream<Data?>) async {
        await withDiscardingTaskGroup { group in
            for await line in input {
                if let call = receive(line) { group.addTask { await self.run(call) } }
            }
            // Calls that are cancelled so get no answer.
            calls = [:]
            group.cancelAll()
        }
    }

    private struct Call: Sendable {
        let id: JSON
        let tool: AgentTool
        let arguments: JSON
        let isStateless: Bool
        /// The time until the tool may be called.
        let wait: Duration?
        /// Ends when the call is cancelled.
        let cancellation: AsyncStream<Void>
    }

    private func run(_ call: Call) async {
        let outcome = await withTaskGroup(of: [String: JSON]?.self) { race in
            race.addTask { await call.tool.call(call.arguments, refusedFor: call.wait) }
            race.addTask {
                for await _ in call.cancellation {}
                return nil
            }
            let first = await race.next() ?? nil
            race.cancelAll()
            return first
        }
        // A call that was cancelled meanwhile gets no answer.
        guard calls.removeValue(forKey: call.id) != nil, let outcome else { return }
        answer(call.id, result(outcome, isStateless: call.isStateless))
    }

    /// Answers a message, or returns the call that it asks for.
    private func receive(_ line: Data?) -> Call? {
        var request = JSON.null
        do throws(Refusal) {
            guard let line else { throw Refusal(-32600, "a message is at most \(Self.longestLine >> 20) MiB") }
            if line.allSatisfy({ $0 == 0x20 || $0 == 0x09 || $0 == 0x0D }) { return nil }
            guard let message = JSON(line) else {
                throw Refusal(-32700, "the line is not JSON, or is nested too deep")
            }
            guard message["jsonrpc"]?.string == "2.0", let method = message["method"]?.string else {
                // A response has no method; this server sends no requests.
                if message["id"] != nil, message["result"] != nil || message["error"] != nil { return nil }
                throw Refusal(-32600, "the line is not a request of JSON-RPC 2.0")
            }
            let parameters = message["params"] ?? [:]
            guard let id = message["id"] else {
                notice(method, parameters)
                return nil
            }
            switch id {
            case .string, .integer: break
            default: throw Refusal(-32600, "the id of a request is a text or an integer")
            }
            request = id
            if calls[id] != nil { throw Refusal(-32600, "a request with this id still runs") }
            return try answer(id, method, parameters)
        } catch {
            answer(request, error)
            return nil
        }
    }

    private func notice(_ method: String, _ parameters: JSON) {
        guard method == "notifications/cancelled", let id = parameters["requestId"] else { return }
        calls.removeValue(forKey: id)?.finish()
    }

    private func answer(_ id: JSON, _ method: String, _ parameters: JSON) throws(Refusal) -> Call? {
        if method == "initialize" {
            hasHandshake = true
            let asked = parameters["protocolVersion"]?.string ?? ""
            let version = Self.handshakeVersions.first { $0 == asked } ?? Self.handshakeVersions[0]
            let members: [String: JSON] = [
                "protocolVersion": .string(version), "capabilities": capabilities, "serverInfo": server,
                "instructions": .string(instructions),
            ]
            answer(id, .object(members))
            return nil
        }
        let isStateless = try isStateless(parameters)
        switch method {
        case "server/discover":
            let members: [String: JSON] = [
                "supportedVersions": [.string(Self.version)], "capabilities": capabilities,
                "instructions": .string(instructions),
            ]
            answer(id, result(members, isStateless: isStateless, isKept: true))
        case "tools/list":
            let members: [String: JSON] = ["tools": .array(tools.map(\.description))]
            answer(id, result(members, isStateless: isStateless, isKept: true))
        case "ping" where !isStateless: answer(id, [:])
        case "tools/call":
            let name = parameters["name"]?.string ?? ""
            guard let tool = tools.first(where: { $0.name == name }) else {
                throw Refusal(-32602, "unknown tool: \(name.prefix(60))")
            }
            let arguments = parameters["arguments"] ?? [:]
            guard case .object = arguments else { throw Refusal(-32602, "the arguments of a tool are an object") }
            let (cancellation, end) = AsyncStream<Void>.makeStream()
            calls[id] = end
            return Call(
                id: id,
                tool: tool,
                arguments: arguments,
                isStateless: isStateless,
                wait: limit.take(),
                cancellation: cancellation
            )
        default: throw Refusal(-32601, "there is no method '\(method.prefix(60))'")
        }
        return nil
    }

    /// A result with what the revision without a handshake has besides the members; `isKept` for one that a client may
    /// keep for a while.
    private func result(_ members: [String: JSON], isStateless: Bool, isKept: Bool = false) -> JSON {
        guard isStateless else { return .object(members) }
        let meta: JSON = ["io.modelcontextprotocol/serverInfo": server]
        var members = members.merging(["resultType": "complete", "_meta": meta]) { own, _ in own }
        if isKept { members.merge(["ttlMs": Self.freshness, "cacheScope": "private"]) { own, _ in own } }
        return .object(members)
    }

    /// Whether a request is of the revision without a handshake.
    private func isStateless(_ parameters: JSON) throws(Refusal) -> Bool {
        let prefix = "io.modelcontextprotocol/"
        guard let version = parameters["_meta"]?["\(prefix)protocolVersion"] else {
            if hasHandshake { return false }
            let message = "params._meta lacks \(prefix)protocolVersion; or begin with initialize"
            throw Refusal(-32602, message)
        }
        guard version.string == Self.version else {
            let data: JSON = ["supported": [.string(Self.version)], "requested": version]
            throw Refusal(-32022, "Unsupported protocol version", data: data)
        }
        guard case .object? = parameters["_meta"]?["\(prefix)clientCapabilities"] else {
            throw Refusal(-32602, "params._meta lacks \(prefix)clientCapabilities")
        }
        return true
    }

    private var capabilities: JSON { ["tools": [:]] }
    private var server: JSON { ["name": "sluice", "title": "Sluice", "version": .string(SluiceVersion.current)] }

    private func answer(_ id: JSON, _ result: JSON) {
        write(JSON.object(["jsonrpc": "2.0", "id": id, "result": result]).line)
    }

    private func answer(_ id: JSON, _ refusal: Refusal) {
        let error = JSON.members([
            "code": .integer(refusal.code), "message": .string(refusal.message), "data": refusal.data,
        ])
        write(JSON.object(["jsonrpc": "2.0", "id": id, "error": error]).line)
    }
}

/// How often something may be done.
struct CallLimit {
    let most: Int
    let within: Duration
    private var times: [ContinuousClock.Instant] = []

    init(most: Int, within: Duration) { (self.most, self.within) = (most, within) }

    /// Counts one if it may be done; else the time to wait.
    mutating func take(now: ContinuousClock.Instant = .now) -> Duration? {
        times.removeAll { now - $0 >= within }
        if let first = times.first, times.count >= most { return within - (now - first) }
        times.append(now)
        return nil
    }
}
