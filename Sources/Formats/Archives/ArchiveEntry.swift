import Content
package import HTTPModel
package import NIOCore

/// One exchange of an archive, as far as a session can hold it; the members have HAR 1.2's names.
package struct ArchiveEntry {
    package struct Message {
        /// `HTTP/1.1`, `h2` and the like; empty if unknown.
        package var version = ""
        package var fields: [(name: String, value: String)] = []
        /// The values that are not UTF-8, by the indices of their fields.
        var valueBytes: [Int: [UInt8]] = [:]
        package var trailers: [(name: String, value: String)] = []
        /// The body without content coding.
        package var text = ""
        /// Whether the archive says that `text` encodes bytes.
        var isEncoded = false
        /// The original encoding of `text`; `nil` if unknown.
        var charset: Charset?
        /// Whether the archive does not have the body, or only its beginning.
        package var isCut = false
        /// The original length of a body that is missing or incomplete, in bytes; `nil` if unknown.
        var lostSize: Int64?
        package var bytes: ByteBuffer?
        /// Whether `bytes` have the content codings that the fields name; `nil` if unknown.
        package var isCoded: Bool?
        /// Whether the archive says that the body never had the content codings that the fields name.
        var isAsReceived = false
        package var mediaType = ""
        /// How many bytes the message had on the wire; `nil` if unknown.
        package var wireSize: Int64?
    }

    package var kind = ExchangeRecord.Kind.http
    package var method = ""
    package var url = ""
    package var target: RequestURL?
    /// Path and query as they were sent, if they may differ in `target`.
    var targetBytes: [UInt8]?
    package var status = 0
    package var reason = ""
    package var request = Message()
    package var response = Message()
    /// Microseconds since 1970; `nil` if the time is missing or cannot be read.
    package var startedAt: Int64?
    /// Milliseconds.
    package var time: Double?
    /// Milliseconds, by HAR's names; phases that did not happen are left out.
    package var timings: [String: Double] = [:]
    package var serverAddress = ""
    /// The archive's name of the connection to the server. Exchanges with the same name are shown on one connection.
    var connection = ""
    package var serverPort = ""
    /// `host:port`; empty if unknown.
    package var clientAddress = ""
    package var tls: TLSDetails?
    package var error = ""
    /// The state in an archive of Sluice, if other members do not show it: blocked or interrupted.
    var state: ExchangeRecord.State?
    /// Whether the bytes in a tunnel were TLS.
    var isTunnelledTLS = false
    /// Whether the exchange is complete without a response, for example because its request was not sent yet.
    package var isUnsent = false
    var notes: [String] = []
    package var comment = ""
    package var colour = ""
    /// The parts whose secrets were replaced when Sluice wrote the archive.
    package var masked: [String] = []
    var messages: [SocketMessage] = []
    /// The times of the response's events, in seconds since 1970; `nil` for an unreadable time.
    var eventTimes: [Double?] = []

    struct SocketMessage {
        var isSent = false
        /// Seconds since 1970.
        var time = 0.0
        /// The opcode of RFC 6455.
        var opcode = 1
        /// Text, or base64 if the message is not a text message.
        var data = ""
        var bytes: ByteBuffer?
    }

    package init() {}

    /// The approximate size in memory, in bytes.
    package var cost: Int {
        let bodies = [request, response].reduce(0) { $0 + $1.text.utf8.count + ($1.bytes?.readableBytes ?? 0) }
        return messages.reduce(bodies + 2_048) { $0 + $1.data.utf8.count + ($1.bytes?.readableBytes ?? 0) + 64 }
    }
}
