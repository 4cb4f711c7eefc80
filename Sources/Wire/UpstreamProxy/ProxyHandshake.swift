package import NIOCore

/// What a client says to a proxy, and hears from it, before the proxy passes bytes on to a server.
///
/// It belongs to one connection.
package protocol ProxyHandshake: AnyObject {
    /// The first bytes to send.
    func begin() -> ByteBuffer
    /// Takes bytes that the proxy sent, however they are cut; not after ``ProxyAnswer/open(rest:)`` or
    /// a refusal that is whole.
    func receive(_ bytes: ByteBuffer) -> ProxyAnswer
}

/// The result of reading a proxy's bytes.
package enum ProxyAnswer: Sendable, Equatable {
    /// More bytes are needed.
    case more
    /// These bytes are to be sent; what was received beyond what they answer is taken by the next call, without bytes if need be.
    case send(ByteBuffer)
    /// The way to the server is open; what came after the proxy's answer is the server's.
    case open(rest: ByteBuffer?)
    /// It refuses; until `isWhole` the rest of what it says may be waited for.
    case refused(ProxyRefusal, isWhole: Bool)
}

/// Why a proxy refuses a client.
package enum ProxyRefusal: Sendable, Hashable, Error {
    /// The status with which an HTTP proxy answered CONNECT.
    case status(HTTPAnswer)
    /// A SOCKS proxy answered the request with this code (RFC 1928 §6).
    case reply(UInt8)
    /// A SOCKS proxy takes none of the ways of authentication that were offered (RFC 1928 §3).
    case noMethod
    /// A SOCKS proxy does not take the user and the password (RFC 1929 §2).
    case wrongCredentials
    /// Its bytes are not of the protocol; what they look like or what is wrong with them, as the end of a sentence.
    case invalid(String)

    /// An HTTP proxy's refusal.
    package struct HTTPAnswer: Sendable, Hashable {
        package var status: Int
        package var reason: String
        /// The names of the ways of authentication that it offers (RFC 9110 §11.7.1), in its own spelling.
        package var schemes: [String]
        /// The first line of its text, or the title of its page; empty if there is none.
        package var firstLine: String

        package init(status: Int, reason: String, schemes: [String] = [], firstLine: String = "") {
            (self.status, self.reason) = (status, reason)
            (self.schemes, self.firstLine) = (schemes, firstLine)
        }
    }
}
