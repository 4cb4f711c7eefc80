package import NIOCore

/// The messages between a client and a proxy on one connection, before the proxy passes bytes to a server.
package protocol ProxyHandshake: AnyObject {
    func begin() -> ByteBuffer
    /// Accepts the proxy's bytes in any pieces; not to be called after ``ProxyAnswer/open(rest:)`` or a whole refusal.
    func receive(_ bytes: ByteBuffer) -> ProxyAnswer
}

package enum ProxyAnswer: Sendable, Equatable {
    case more
    /// Bytes to send. Surplus bytes are kept for the next call, which may pass no new bytes.
    case send(ByteBuffer)
    /// The connection to the server is open, with its first bytes.
    case open(rest: ByteBuffer?)
    /// A refusal; its text may follow until `isWhole`.
    case refused(ProxyRefusal, isWhole: Bool)
}

package enum ProxyRefusal: Sendable, Hashable, Error {
    case status(HTTPAnswer)
    /// The code of a SOCKS proxy (RFC 1928 §6).
    case reply(UInt8)
    /// A SOCKS proxy accepts no offered method of authentication (RFC 1928 §3).
    case noMethod
    /// A SOCKS proxy rejects user and password (RFC 1929 §2).
    case wrongCredentials
    /// Bytes of another protocol; explained as the end of a sentence.
    case invalid(String)

    package struct HTTPAnswer: Sendable, Hashable {
        package var status: Int
        package var reason: String
        /// The offered schemes (RFC 9110 §11.7.1), as spelled.
        package var schemes: [String] = []
        /// The first line of its text, or the title of its page; empty if there is none.
        package var firstLine = ""
    }
}
