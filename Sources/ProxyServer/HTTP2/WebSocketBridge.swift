import HTTPModel
import Wire

/// Between the two ways to ask for another protocol: Upgrade (RFC 9110 §7.8), which exchanges know, and extended CONNECT
/// (RFC 8441), which HTTP/2 has instead.
struct WebSocketBridge {
    /// The protocol that is asked for, for example `websocket`.
    let protocolName: String
    /// Whether the server has agreed.
    var isOpen = false
    private let key: String?

    // For the trace: how the server was asked, or the client asked.
    static let upstreamNote = "the server was asked by extended CONNECT on an HTTP/2 stream (RFC 8441)"
    static let clientNote = "the client asked by extended CONNECT on an HTTP/2 stream (RFC 8441)"
    static let fallbackNote =
        "the server offers no WebSocket over HTTP/2, so it was asked by an HTTP/1.1 Upgrade with a key of Sluice's own"

    // MARK: - From the client

    /// Makes an upgrade of a client's extended CONNECT.
    init(_ protocolName: String, makingUpgrade head: inout RequestHead) {
        self.protocolName = protocolName
        key = nil
        head.method = "GET"
        head.fields.append("Connection", "Upgrade")
        head.fields.append("Upgrade", protocolName)
        if protocolName.lowercased() == "websocket" {
            head.fields.append("Sec-WebSocket-Key", WebSocketHandshake.makeKey())
        }
        // Shown, exported and compared as the upgrade that it means.
        head = StoredHead.request(head.serialized()) ?? head
    }

    /// Makes the answer to an extended CONNECT of a 101.
    func makeConnectAnswer(_ head: inout ResponseHead) {
        head.status = 200
        head.fields.removeAll(.connection)
        head.fields.removeAll(.upgrade)
        head.fields.removeAll("sec-websocket-accept")
    }

    // MARK: - To the server

    /// Makes an extended CONNECT of an upgrade; `nil` where the head is none.
    init?(makingConnect head: inout RequestHead) {
        guard let name = head.fields.value(of: .upgrade), head.fields.contains(.connection, token: "upgrade") else {
            return nil
        }
        protocolName = name
        key = head.fields.value(of: WebSocketBridge.keyField)
        head.method = "CONNECT"
        head.fields.removeAll(.connection)
        head.fields.removeAll(.upgrade)
        head.fields.removeAll(WebSocketBridge.keyField)
    }

    /// Makes a 101 of the answer to an extended CONNECT.
    func makeSwitchingProtocols(_ head: inout ResponseHead) {
        head.status = 101
        head.reason = ResponseHead.standardReason(101)
        head.fields.append("Upgrade", protocolName)
        head.fields.append("Connection", "Upgrade")
        if let key { head.fields.append("Sec-WebSocket-Accept", WebSocketHandshake.accept(key)) }
        head = StoredHead.response(head.serialized()) ?? head
    }

    private static let keyField: FieldName = "sec-websocket-key"
}
