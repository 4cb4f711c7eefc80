import Content
package import HTTPModel
package import NIOCore

/// One exchange of an archive, as far as a session can hold it; the members have HAR 1.2's names.
package struct ArchiveEntry {
    package struct Message {
        /// `HTTP/1.1`, `h2` and the like; empty where the archive does not say.
        package var version = ""
        package var fields: [(name: String, value: String)] = []
        /// The values that are not UTF-8, by the places of their fields.
        var valueBytes: [Int: [UInt8]] = [:]
        package var trailers: [(name: String, value: String)] = []
        /// The body without content coding.
        package var text = ""
        /// Whether the archive says that `text` stands for bytes.
        var isEncoded = false
        /// What `text` was in; `nil` where the archive does not say.
        var charset: Charset?
        /// Whether the archive does not have the body, or only its beginning.
        package var isCut = false
        /// How many bytes the body had of which the archive has none, or not all; `nil` where unknown.
        var lostSize: Int64?
        package var bytes: ByteBuffer?
        /// Whether `bytes` have the content codings that the fields name; `nil` where the archive does not say.
        package var isCoded: Bool?
        /// Whether the archive says that the body never had the content codings that the fields name.
        var isAsReceived = false
        package var mediaType = ""
        /// How many bytes the message had on the wire; `nil` where unknown.
        package var wireSize: Int64?
    }

    package var kind = ExchangeRecord.Kind.http
    package var method = ""
    package var url = ""
    package var target: RequestURL?
    /// Path and query as they were sent, where `target` may have them otherwise.
    var targetBytes: [UInt8]?
    package var status = 0
    package var reason = ""
    package var request = Message()
    package var response = Message()
    /// Microseconds since 1970; `nil` where the archive does not say, or not so that it can be read.
    package var startedAt: Int64?
    /// Milliseconds.
    package var time: Double?
    /// Milliseconds, by HAR's names; phases that did not happen are left out.
    package var timings: [String: Double] = [:]
    package var serverAddress = ""
    /// What the archive calls the connection to the server: exchanges with the same are shown on one.
    var connection = ""
    package var serverPort = ""
    /// `host:port`; empty where the archive does not say.
    package var clientAddress = ""
    package var tls: TLSDetails?
    package var error = ""
    /// The state that Sluice gave it, of those that nothing else tells: blocked, interrupted.
    var state: ExchangeRecord.State?
    /// Whether what passed a tunnel was TLS.
    var isTunnelledTLS = false
    /// Whether it is a request that nobody has sent yet, so that no response is missing.
    package var isUnsent = false
    var notes: [String] = []
    package var comment = ""
    package var colour = ""
    /// The parts whose secrets were replaced when Sluice wrote the archive.
    package var masked: [String] = []
    var messages: [SocketMessage] = []
    /// When the events of the response came, in seconds since 1970; `nil` where one's time cannot be read.
    var eventTimes: [Double?] = []

    struct SocketMessage {
        var isSent = false
        /// Seconds since 1970.
        var time = 0.0
        /// RFC 6455's number for its kind.
        var opcode = 1
        /// Text; of all but text messages base64.
        var data = ""
        var bytes: ByteBuffer?
    }

    package init() {}

    /// How many bytes it holds in memory, about.
    package var cost: Int {
        let bodies = [request, response].reduce(0) { $0 + $1.text.utf8.count + ($1.bytes?.readableBytes ?? 0) }
        return messages.reduce(bodies + 2_048) { $0 + $1.data.utf8.count + ($1.bytes?.readableBytes ?? 0) + 64 }
    }
}
