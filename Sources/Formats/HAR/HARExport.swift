package import Content

/// Exports exchanges as an HTTP Archive, HAR 1.2, as browsers' developer tools open it.
///
/// An entry has the messages as the client saw them; the other form of a changed one is in its `_sluice`, with trace,
/// failure, addresses and TLS. `connect` includes `ssl`, and `time` is the sum of the phases, as HAR 1.2 demands; the
/// measured duration is `_sluice.duration`. Bodies are without content coding: text, or base64 (`encoding`; of requests
/// `_encoding`). The URL of a WebSocket has `ws` or `wss`, like browsers'; the recorded scheme is `_sluice.scheme`.
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
