import ExchangeCore
import Foundation
import HTTPModel
import NIOCore
import Testing

@testable import Runner

/// Messages to hold, and a look at what became of them.
enum Held {
    static func request(
        _ method: String = "POST",
        _ url: String = "https://api.example.com/v1/users?page=1&size=20",
        fields: [(String, String)] = [],
        body: ByteBuffer? = ByteBuffer()
    ) throws -> HeldMessage {
        let url = try #require(RequestURL(url))
        var text = "\(method) \(url.pathAndQuery) HTTP/1.1\r\nHost: \(url.authority)\r\n"
        for (name, value) in fields { text += "\(name): \(value)\r\n" }
        let head = try #require(StoredHead.request(ByteBuffer(string: text + "\r\n")))
        return .request(head, body: body, destination: Destination(scheme: url.scheme, host: url.host, port: url.port))
    }

    static func response(
        _ status: Int = 200,
        _ reason: String = "OK",
        fields: [(String, String)] = [],
        body: ByteBuffer? = ByteBuffer()
    ) throws -> HeldMessage {
        var text = "HTTP/1.1 \(status) \(reason)\r\n"
        for (name, value) in fields { text += "\(name): \(value)\r\n" }
        return .response(try #require(StoredHead.response(ByteBuffer(string: text + "\r\n"))), body: body)
    }

    static func json(_ text: String, _ fields: [(String, String)] = []) throws -> HeldMessage {
        try request(fields: [("Content-Type", "application/json")] + fields, body: ByteBuffer(string: text))
    }

    static func form(_ text: String) throws -> HeldMessage {
        try request(
            fields: [("Content-Type", "application/x-www-form-urlencoded; charset=utf-8")],
            body: ByteBuffer(string: text)
        )
    }
}

extension HeldMessage {
    var requestHead: RequestHead? {
        if case .request(let head, _, _) = self { head } else { nil }
    }

    var responseHead: ResponseHead? {
        if case .response(let head, _) = self { head } else { nil }
    }

    var place: Destination? {
        if case .request(_, _, let destination) = self { destination } else { nil }
    }

    /// The head as it would be written.
    var headText: String {
        switch self {
        case .request(let head, _, _): String(buffer: head.serialized())
        case .response(let head, _): String(buffer: head.serialized())
        }
    }

    /// The body without its coding.
    var bodyText: String? {
        decodedBody(limit: 1 << 20).map { String(buffer: $0.0) }
    }
}

extension HoldEdit {
    init(_ change: (inout HoldEdit) -> Void) {
        self.init()
        change(&self)
    }

    /// The edit after a journey over the socket.
    func sent() throws -> HoldEdit {
        let line = try ControlLine.encode(ControlRequest(command: .holdEdit, id: "1.1", edit: self))
        return try #require(try ControlLine.decode(StrictRequest.self, line).request.edit)
    }
}

/// Why an edit cannot be done.
func failure<Value>(_ body: () throws -> Value) -> ControlError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? ControlError
    }
}
