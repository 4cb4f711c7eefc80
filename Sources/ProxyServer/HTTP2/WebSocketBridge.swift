import HTTPModel
import Wire

/// Translates between Upgrade (RFC 9110 §7.8), which exchanges know, and extended CONNECT (RFC 8441) of HTTP/2.
struct WebSocketBridge {
    let protocolName: String
    var isOpen = false
    private let key: String?

    // Notes for the trace about how the request was received or sent.
    static let upstreamNote = "sent as extended CONNECT on an HTTP/2 stream (RFC 8441)"
    static let clientNote = "received as extended CONNECT on an HTTP/2 stream (RFC 8441)"
    static let fallbackNote =
        "the server offers no WebSocket over HTTP/2; sent as an HTTP/1.1 Upgrade with Sluice's own key"

    init(_ protocolName: String, makingUpgrade head: inout RequestHead) {
        self.protocolName = protocolName
        key = nil
        head.method = "GET"
        head.fields.append("Connection", "Upgrade")
        head.fields.append("Upgrade", protocolName)
        if protocolName.lowercased() == "websocket" {
            head.fields.append("Sec-WebSocket-Key", WebSocketHandshake.makeKey())
        }
        // Shown, exported and compared as the equivalent upgrade.
        head = StoredHead.request(head.serialized()) ?? head
    }

    func makeConnectAnswer(_ head: inout ResponseHead) {
        head.status = 200
        head.fields.removeAll(.connection)
        head.fields.removeAll(.upgrade)
        head.fields.removeAll("sec-websocket-accept")
    }

    /// Changes an upgrade to an extended CONNECT; `nil` if the head is not one.
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
