package import HTTPModel
package import NIOCore

/// Identifies a held message.
package struct HoldID: Sendable, Hashable, CustomStringConvertible {
    package let exchange: ExchangeID
    /// The number of the hold in its exchange, from 1.
    package let ordinal: Int
    package init(exchange: ExchangeID, ordinal: Int) {
        self.exchange = exchange
        self.ordinal = ordinal
    }

    /// For example `12.1`.
    package var description: String { "\(exchange).\(ordinal)" }
}

/// A message that waits for a decision. Its body is `nil` when only the head is held and the body streams on after; it
/// is as received, with its content coding still on.
package enum HeldMessage: Sendable {
    /// A request before it is sent, and where to. An edited destination counts; Host is left to the editor.
    case request(RequestHead, body: ByteBuffer?, destination: Destination)
    /// A response before it is sent to the client.
    case response(ResponseHead, body: ByteBuffer?)
}

/// The decision about a held message, in Charles' words.
package enum HoldResolution: Sendable {
    /// Go on with the message as edited, `nil` for unedited; a body is ignored if only the head was held.
    case execute(HeldMessage?)
    /// Send the message as it was when it was held.
    case cancel
    /// Close the client's connection.
    case abort
}
