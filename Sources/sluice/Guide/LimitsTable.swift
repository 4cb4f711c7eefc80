import Content
import ExchangeCore
import Files
import Formats
import HTTPModel
import Masking
import NIOCore
import ProxyServer
import Recording
import Rules
import Runner
import Telemetry
import Text
import Tools
import Wire

/// The table of the guide's page `limits`, with constants of the modules.
enum LimitsTable {
    static var markdown: String {
        ["| of | limit | when it is reached |", "| --- | --- | --- |", connections, heads, times, flow, bodies, files]
            .joined(separator: "\n")
    }

    private static var connections: String {
        """
        | connections of all clients | half of what `ulimit -n` leaves beside \(ConnectionLimits.files.grouped) descriptors for files, at least \(ConnectionLimits.least.grouped); `--max-connections` | idle ones are closed, else the one that has been still the longest (below); then new ones wait, at no cost |
        | connections of one client | \(ConnectionLimits.perForeignClient.grouped) of another machine, but at most half of all; any number of this one; `--max-client-connections` for both | closed at once; reported once a minute |
        | descriptors | `ulimit -n` | idle connections are closed, those to servers first; then new ones wait |
        | connections to one server, HTTP/2 | \(ProxyLimits.connectionsToOrigin.grouped), on each of \(ProxyLimits.loops.grouped) event loops | requests wait, and the exchange says so |
        | an HTTP/2 response that its client does not read while requests wait for a stream of its server | \(seconds(timeouts.streamForOthers)) | its stream is reset for one of them, and the exchange says so |
        | unused connections to a server | \(seconds(timeouts.pooled)) | closed |
        | name lookups | \(ProxyLimits.lookUps.grouped) at a time, \(ProxyLimits.waitingLookUps.grouped) wait; of both seven eighths for one client | the exchange fails |
        | wrong passwords of one address | \(ProxyLimits.wrongPasswords.count.grouped), then one in \(seconds(ProxyLimits.wrongPasswords.pause)) | 429 |
        | different passwords that wait to be checked | \(ProxyLimits.waitingPasswords.grouped), of one client seven eighths | 503 |
        | recorded requests of one client that `--proxy-auth` refuses | \(ProxyLimits.recordedRefusals.grouped), then one a second; \(bytes(ExchangeRecord.refusedHeadLimit)) of each head, nothing of bodies | not recorded; the next one that is recorded has their number |
        """
    }

    private static var heads: String {
        let (request, response) = (HTTP1Limits.request, HTTP1Limits.response)
        let proxy = ConnectHandshake.answerLimits
        return """
            | a request line | \(bytes(request.startLine)) | 414 |
            | a request head | \(bytes(request.head)), \(request.fieldCount.grouped) fields; over HTTP/2 \(bytes(http2.maxHeaderListSize)), \(http2.maxFieldCount.grouped) fields | 431, over HTTP/2 a stream error |
            | a response head | \(bytes(response.head)), \(response.fieldCount.grouped) fields | 502 with the reason |
            | a line with a chunk's size; trailers | \(bytes(request.chunkLine)); as a head | 400, or the exchange fails |
            | the answer of an upstream proxy to CONNECT | \(bytes(proxy.head)), \(proxy.fieldCount.grouped) fields; \(bytes(ConnectHandshake.limit)) in all | the exchange fails |
            | heads and trailers of all exchanges under way | \(bytes(HeadAccount.limit)) of one connection, \(bytes(ByteBudget.heads.total)) of all, of one client seven eighths of that | 503, over HTTP/2 REFUSED_STREAM; little of it is recorded |
            | a client's TLS hello | \(bytes(ClientHello.maximumLength)) | it is not decrypted |
            | interim responses before one answer | \(ExchangeMachine.interimLimit.grouped) | the exchange fails |
            | the heads of these | \(bytes(HeadAccount.interimLimit)) | further ones are dropped, and the trace says so |
            """
    }

    private static var times: String {
        """
        | time for a request head, a client's TLS handshake, a frame | \(seconds(timeouts.requestHead)) from the first byte, `--head-timeout` | 408, or the connection ends; recorded |
        | time to the first byte of a connection, and between requests on it | \(seconds(timeouts.keepAlive)), `--keep-alive-timeout` | the connection is closed |
        | time until a server begins its response, once it has the request | as the silence of an exchange; `--response-timeout` | 504 |
        | silence of an exchange | \(seconds(timeouts.idle)), `--idle-timeout`; not of tunnels, WebSockets and event streams | 504, or the connection ends |
        | silence of a tunnel that is not read, in both directions | \(seconds(timeouts.tunnel)), `--tunnel-timeout` | the tunnel is closed, and recorded as failed |
        | names, TCP and TLS with a server | \(seconds(timeouts.connect)) each, `--connect-timeout` | 504 |
        """
    }

    private static var flow: String {
        let (limits, lingering, wide) = (http2.limits, ProxyLimits.lingering, ProxyLimits.wideStream)
        return """
            | streams of one client's HTTP/2 connection | \(http2.maxConcurrentStreams.grouped) at once; resets: \(rate(limits.resets)) | refused; ENHANCE_YOUR_CALM |
            | other frames of HTTP/2 | settings: \(rate(limits.settings)); pings: \(rate(limits.pings)); empty: \(rate(limits.emptyData)); unknown: \(rate(limits.idleFrames)); window updates: \(rate(limits.windowUpdates)); continuations: \(limits.continuations.grouped) in a head | ENHANCE_YOUR_CALM |
            | bytes on their way to a slow client | \(bytes(ProxyLimits.streamFromServer)) of each HTTP/2 stream; \(bytes(wide.bytes)) of up to \(wide.count.grouped) on a connection to a server, whose bytes were read as they arrived | its server is not read |
            | bytes on their way to a slow server | \(bytes(Int(http2.initialWindow))) of each HTTP/2 stream, \(bytes(Int(http2.connectionWindow))) of each connection | its client is not read |
            | bytes of a client after it was refused | \(bytes(lingering.bytes)), \(seconds(lingering.time)), \(seconds(lingering.silence)) of silence | dropped, then the connection is closed |
            """
    }

    private static var bodies: String {
        """
        | bodies that rules or breakpoints gather | \(bytes(BodyLimits.edited)) and \(bytes(BodyLimits.held)) each, \(bytes(ByteBudget.bodies.total)) in all, of one client seven eighths of that | the message passes unmodified (at a breakpoint its head is held), and the trace says so |
        | a body that rules decode | \(bytes(WholeBody.decodedLimit)) | as above |
        | recorded bytes that are not yet written | \(bytes(RecorderConfiguration(path: nil).credit)) | traffic waits (`--recorder lossy`: bodies are cut short) |
        | spans that wait for their receiver (`--otlp`) | \(SpanQueue.usualSize.grouped), with \(bytes(SpanQueue.headLimit)) of heads | dropped, and counted at the end |
        | time in which a batch of \(SpanQueue.usualBatch.grouped) spans is tried again | \(RetryPlan.timeLimit.components.seconds.grouped) s; at the end of a run \(SpanExporter.flushLimit.components.seconds.grouped) s | not sent, and counted at the end |
        | another program that writes into the session | \((RecorderLimits.patienceMilliseconds / 1_000).grouped) s | the recording stops, and says so; the traffic goes on |
        """
    }

    private static var files: String {
        let page = PageExport.Limits()
        let images = Thumbnail.formats.map(\.rawValue).sorted().joined(separator: ", ")
        return """
            | a profile | \(bytes(ProfileText.limit)), or about 10,000 rules | refused, with the place |
            | a masked export's small body that expands enormously | \(bytes(MaskedSource.growth.always)), or \(MaskedSource.growth.times.grouped) times its size if that is more | it ends there, and the export says so |
            | files in a zip of `export --format raw` | \(ZipReader.mostEntries.grouped) | refused; a folder may have any number |
            | a body in `export --format html` | \(bytes(page.text)) of text, \(bytes(page.binary)) of other bytes; an image of \(bytes(page.image)) | cut, and the page says so |
            | images that the console previews | \(images); \(Thumbnail.mostPixels.grouped) pixels | not previewed, nor are images that move |
            """
    }

    // With a literal in the function, the compiler would unroll the loop, differently each time.
    private static let sizes = [(30, "GiB"), (20, "MiB"), (10, "KiB")]

    /// For example `64 KiB`.
    private static func bytes(_ number: Int) -> String {
        for (power, name) in sizes where number >= 1 << power && number.trailingZeroBitCount >= power {
            return "\((number >> power).grouped) \(name)"
        }
        return "\(number.grouped) B"
    }

    private static func seconds(_ time: TimeAmount) -> String { "\((time.nanoseconds / 1_000_000_000).grouped) s" }

    private static func rate(_ rate: HTTP2FloodLimits.Rate) -> String {
        "\(rate.burst.grouped) and \(rate.perSecond.grouped) a second"
    }

    private static let http2 = HTTP2Settings()
    private static let timeouts = ProxyConfiguration.Timeouts()
}
