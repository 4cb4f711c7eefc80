package import Content

/// Exports exchanges as an HTTP Archive, HAR 1.2, as browsers' developer tools open it.
///
/// The archive shows what the client saw: the request as the client sent it and the response as it was given to the
/// client. Where a stage changed either, the other form is in the entry's `_sluice` member, with the trace, failure,
/// addresses and TLS details. `connect` includes `ssl`, and `time` is the sum of the phases, as HAR 1.2 demands; the
/// duration that was measured is `_sluice.duration`. Bodies are without content coding: as text where they are text,
/// else in base64 (`encoding`; for requests `_encoding`, which HAR 1.2 does not foresee). What WebSockets and event
/// streams carried is in `_webSocketMessages` and `_eventSourceMessages`. The URL of a WebSocket has `ws` or `wss`, as
/// browsers write it; the recorded scheme is `_sluice.scheme`.
package typealias HARExport = EntryExport<HAREntry>

extension HAREntry {
    package static func open(_ writer: inout JSONWriter, _ options: EntryOptions) throws {
        writer.open(UInt8(ascii: "{"))
        writer.key("log")
        writer.open(UInt8(ascii: "{"))
        writer.member("version", "1.2")
        try writer.object("creator") {
            $0.member("name", "Sluice")
            $0.member("version", options.creatorVersion)
        }
        // Firefox walks through the pages without asking whether there are any.
        writer.key("pages")
        try writer.array { _ in }
        writer.key("entries")
        writer.open(UInt8(ascii: "["))
    }

    package static func close(_ writer: inout JSONWriter) throws {
        try writer.close(UInt8(ascii: "]"))
        try writer.close(UInt8(ascii: "}"))
        try writer.close(UInt8(ascii: "}"))
    }
}
