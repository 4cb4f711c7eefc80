import Content
import ExchangeCore
import Files
import HTTPModel
import Masking
import NIOCore
import ProxyServer
import Recording
import Rules
import Sharing
import Tools
import Wire

/// The numbers of the guide's page about limits, from where they are kept to.
enum LimitsTable {
    static let head = ["of", "limit", "where it is reached"]
    static var rows: [[String]] { connections + heads + times + flow + bodies + files }

    private enum Unit {
        case bytes, seconds
    }

    // No literal where it is used: the compiler would unroll the loop over it, each time with other bytes.
    private static let sizes = [(30, "GiB"), (20, "MiB"), (10, "KiB")]

    /// A number as people read it: `1,000`, `64 KiB`, `60 s`.
    private static func text(_ number: Int, _ unit: Unit? = nil) -> String {
        switch unit {
        case .seconds: return "\(text(number)) s"
        case .bytes:
            for (power, name) in sizes where number >= 1 << power && number.trailingZeroBitCount >= power {
                return "\(text(number >> power)) \(name)"
            }
            return "\(text(number)) B"
        case nil:
            let digits = Array(String(number))
            return digits.indices.map { index in
                let isFirstOfThree = index > 0 && (digits.count - index).isMultiple(of: 3)
                return (isFirstOfThree ? "," : "") + String(digits[index])
            }.joined()
        }
    }

    private static func text(_ time: TimeAmount) -> String { text(Int(time.nanoseconds / 1_000_000_000), .seconds) }

    private static func text(_ rate: HTTP2FloodLimits.Rate) -> String {
        "\(text(rate.burst)) and \(text(rate.perSecond)) a second"
    }

    private static func row(_ of: String, _ limit: String, _ reached: String) -> [String] { [of, limit, reached] }

    private static var connections: [[String]] {
        [
            row(
                "connections of all clients",
                "half of what `ulimit -n` leaves beside \(text(ConnectionLimits.files)) descriptors for files, at least "
                    + "\(text(ConnectionLimits.least)); `--max-connections`",
                "idle ones are closed, else the one that has been still the longest (below); then new ones wait, at no cost"
            ),
            row(
                "connections of one client",
                "\(text(ConnectionLimits.perForeignClient)) of another machine, but at the most half of all; any number of "
                    + "this one; `--max-client-connections` for both",
                "closed at once; said once a minute"
            ),
            row(
                "descriptors",
                "`ulimit -n`",
                "idle connections are closed, those to servers first; then new ones wait"
            ),
            row(
                "connections to one server, HTTP/2",
                "\(text(ProxyLimits.connectionsToOrigin)), on each of \(text(ProxyLimits.loops)) event loops",
                "requests wait, and the exchange says so"
            ),
            row(
                "a response of which a client of HTTP/2 takes nothing while requests wait for a stream of its server",
                text(timeouts.streamForOthers),
                "its stream is reset for one of them, and the exchange says so"
            ),
            row("connections to a server that nobody needs", text(timeouts.pooled), "closed"),
            row(
                "names that are looked up",
                "\(text(ProxyLimits.lookUps)) at a time, \(text(ProxyLimits.waitingLookUps)) wait; of both seven eighths for one client",
                "the exchange fails"
            ),
            row(
                "wrong passwords of one address",
                "\(text(ProxyLimits.wrongPasswords.count)), then one in \(text(ProxyLimits.wrongPasswords.pause))",
                "429"
            ),
            row(
                "different passwords that wait to be checked",
                "\(text(ProxyLimits.waitingPasswords)), of one client seven eighths",
                "503"
            ),
            row(
                "recorded requests of one client that `--proxy-auth` refuses",
                "\(text(ProxyLimits.recordedRefusals)), then one a second; "
                    + "\(text(ExchangeRecord.refusedHeadLimit, .bytes)) of each head, nothing of bodies",
                "not recorded; the next one that is recorded has their number"
            ),
        ]
    }

    private static var heads: [[String]] {
        let (request, response) = (HTTP1Limits.request, HTTP1Limits.response)
        let proxy = ConnectHandshake.answerLimits
        return [
            row("a request line", text(request.startLine, .bytes), "414"),
            row(
                "a request head",
                "\(text(request.head, .bytes)), \(text(request.fieldCount)) fields; over HTTP/2 "
                    + "\(text(http2.maxHeaderListSize, .bytes)), \(text(http2.maxFieldCount)) fields",
                "431, over HTTP/2 a stream error"
            ),
            row(
                "a response head",
                "\(text(response.head, .bytes)), \(text(response.fieldCount)) fields",
                "502 with the reason"
            ),
            row(
                "a line with a chunk's size; trailers",
                "\(text(request.chunkLine, .bytes)); as a head",
                "400, or the exchange fails"
            ),
            row(
                "the answer of an upstream proxy to CONNECT",
                "\(text(proxy.head, .bytes)), \(text(proxy.fieldCount)) fields; \(text(ConnectHandshake.limit, .bytes)) in all",
                "the exchange fails"
            ),
            row(
                "heads and trailers of all exchanges under way",
                "\(text(HeadAccount.limit, .bytes)) of one connection, \(text(ByteBudget.heads.total, .bytes)) of all, of one client "
                    + "seven eighths of that",
                "503, over HTTP/2 REFUSED_STREAM; little of it is recorded"
            ),
            row("a client's TLS hello", text(ClientHello.maximumLength, .bytes), "it is not decrypted"),
            row("interim responses before one answer", text(ExchangeMachine.interimLimit), "the exchange fails"),
            row(
                "the heads of these",
                text(HeadAccount.interimLimit, .bytes),
                "further ones are dropped, and the trace says so"
            ),
        ]
    }

    private static var times: [[String]] {
        [
            row(
                "time for a request head, a client's TLS handshake, a frame",
                "\(text(timeouts.requestHead)) from the first byte, `--head-timeout`",
                "408, or the connection ends; recorded"
            ),
            row(
                "time to the first byte of a connection, and between requests on it",
                "\(text(timeouts.keepAlive)), `--keep-alive-timeout`",
                "the connection is closed"
            ),
            row(
                "time until a server begins its response, once it has the request",
                "as the silence of an exchange; `--response-timeout`",
                "504"
            ),
            row(
                "silence of an exchange",
                "\(text(timeouts.idle)), `--idle-timeout`; not of tunnels, WebSockets and event streams",
                "504, or the connection ends"
            ),
            row(
                "silence of a tunnel that is not read, in both directions",
                "\(text(timeouts.tunnel)), `--tunnel-timeout`",
                "the tunnel is closed, and recorded as failed"
            ),
            row("names, TCP and TLS with a server", "\(text(timeouts.connect)) each, `--connect-timeout`", "504"),
        ]
    }

    private static var flow: [[String]] {
        let (limits, lingering, wide) = (http2.limits, ProxyLimits.lingering, ProxyLimits.wideStream)
        return [
            row(
                "streams of one client's HTTP/2 connection",
                "\(text(Int(http2.maxConcurrentStreams))) at once; resets: \(text(limits.resets))",
                "refused; ENHANCE_YOUR_CALM"
            ),
            row(
                "other frames of HTTP/2",
                "settings: \(text(limits.settings)); pings: \(text(limits.pings)); empty: \(text(limits.emptyData)); "
                    + "unknown: \(text(limits.idleFrames)); window updates: \(text(limits.windowUpdates)); "
                    + "continuations: \(text(limits.continuations)) in a head",
                "ENHANCE_YOUR_CALM"
            ),
            row(
                "bytes on their way to a slow client",
                "\(text(ProxyLimits.streamFromServer, .bytes)) of each HTTP/2 stream; "
                    + "\(text(wide.bytes, .bytes)) of up to \(text(wide.count)) on a connection to a server, whose bytes were "
                    + "taken as they came",
                "its server is not read"
            ),
            row(
                "bytes on their way to a slow server",
                "\(text(Int(http2.initialWindow), .bytes)) of each HTTP/2 stream, "
                    + "\(text(Int(http2.connectionWindow), .bytes)) of each connection",
                "its client is not read"
            ),
            row(
                "what a refused client goes on sending",
                "\(text(lingering.bytes, .bytes)), \(text(lingering.time)), \(text(lingering.silence)) of silence",
                "dropped, then the connection is closed"
            ),
        ]
    }

    private static var bodies: [[String]] {
        [
            row(
                "bodies that rules or breakpoints gather",
                "\(text(BodyLimits.edited, .bytes)) and \(text(BodyLimits.held, .bytes)) each, "
                    + "\(text(ByteBudget.bodies.total, .bytes)) in all, of one client seven eighths of that",
                "the message passes unmodified (at a breakpoint its head is held), and the trace says so"
            ),
            row("a body that rules decode", text(WholeBody.decodedLimit, .bytes), "as above"),
            row(
                "what is recorded and not yet written",
                text(RecorderConfiguration(path: nil).credit, .bytes),
                "traffic waits (`--recorder lossy`: bodies are cut short)"
            ),
            row(
                "another program that writes into the session",
                text(RecorderLimits.patienceMilliseconds / 1_000, .seconds),
                "the recording stops, and says so; the traffic goes on"
            ),
        ]
    }

    private static var files: [[String]] {
        let page = PageExport.Limits()
        let images = Thumbnail.formats.map(\.rawValue).sorted().joined(separator: ", ")
        return [
            row(
                "a profile",
                "\(text(ProfileText.limit, .bytes)), or about \(text(10_000)) rules",
                "refused, with the place"
            ),
            row(
                "a masked export's small body that expands enormously",
                "\(text(MaskedSource.growth.always, .bytes)), or \(text(MaskedSource.growth.times)) times its size where "
                    + "that is more",
                "it ends there, and the export says so"
            ),
            row(
                "files in a zip of `export --format raw`",
                text(ZipReader.mostEntries),
                "refused; a folder may have any number"
            ),
            row(
                "a body in `export --format html`",
                "\(text(page.text, .bytes)) of text, \(text(page.binary, .bytes)) of other bytes; an image of "
                    + text(page.image, .bytes),
                "cut, and the page says so"
            ),
            row(
                "images that the console previews",
                "\(images); \(text(Thumbnail.mostPixels)) pixels",
                "not previewed, nor are images that move"
            ),
        ]
    }

    private static let http2 = HTTP2Settings()
    private static let timeouts = ProxyConfiguration.Timeouts()
}
