import Foundation
import HTTPModel
import NIOCore

/// Requests over one HTTP/2 connection, each exactly as written, and their answers.
enum HTTP2Client {
    /// A request; pseudo-headers that are missing are added.
    struct Request: Encodable {
        var fields: [[String]] = []
        var body = ""
        var trailers: [[String]]?
        /// Whether it is cancelled once the response has begun.
        var cancel = false
        /// Whether its side of the stream stays open.
        var stays = false

        static func get(_ path: String, _ fields: [[String]] = []) -> Request {
            Request(fields: [[":path", path]] + fields)
        }

        static func post(_ path: String, _ body: String, trailers: [[String]]? = nil) -> Request {
            Request(fields: [[":method", "POST"], [":path", path]], body: body, trailers: trailers)
        }
    }

    /// What came back for a request.
    struct Answer: Decodable {
        let status: String?
        let interim: [String]
        let fields: [[String]]
        let body: String
        let trailers: [[String]]?
        /// The name of the code with which the stream was reset.
        let reset: String?

        func values(_ name: String) -> [String] { fields.filter { $0[0] == name }.map { $0[1] } }
    }

    /// All that came back on the connection.
    struct Session: Decodable {
        let answers: [Answer]
        /// How the connection ended, if it did.
        let ended: String?
        /// The server's SETTINGS, by number.
        let settings: [String: Int]
    }

    /// How to reach the server.
    enum Way {
        /// TLS inside a tunnel.
        case intercepted
        /// Without TLS, inside a tunnel.
        case tunnelled
        /// Without TLS, to the proxy itself.
        case straight
    }

    /// Sends all requests at once.
    static func send(
        _ requests: [Request],
        through sluice: SluiceProcess,
        to port: Int,
        _ way: Way = .intercepted
    ) async throws -> Session {
        try await Peers.run(
            "h2_client.py",
            arguments(sluice, port, way),
            input: Array(try JSONEncoder().encode(requests)),
            within: 120
        )
    }

    /// What the scripts take to reach a server through the proxy.
    static func arguments(_ sluice: SluiceProcess, _ port: Int, _ way: Way = .intercepted) -> [String] {
        let common = ["localhost:\(port)", "--proxy", "\(sluice.port)"]
        return switch way {
        case .intercepted: common + ["--ca", sluice.authority]
        case .tunnelled: common
        case .straight: common + ["--straight"]
        }
    }
}

extension RecordedExchange {
    /// A recorded head or trailer section as text; empty where there is none.
    func text(_ part: KeyPath<ExchangeMessages, ByteBuffer?>) -> String {
        latin1(messages[keyPath: part].map { Array($0.readableBytesView) } ?? [])
    }
}
