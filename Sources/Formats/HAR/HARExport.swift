package import Content

/// Exports exchanges as an HTTP Archive, HAR 1.2, as browsers' developer tools open it.
///
/// An entry has the messages that the client sent and received; the other form of a changed message is in `_sluice`,
/// with trace, failure, addresses and TLS. HAR 1.2 requires that `connect` includes `ssl`, and that `time` is the sum
/// of the phases; the measured duration is `_sluice.duration`. Bodies are without content coding: text, or base64
/// (`encoding`; `_encoding` for requests). A WebSocket's URL has `ws` or `wss`; `_sluice.scheme` is the recorded one.
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
        // Firefox reads `pages` without checking whether it exists.
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
