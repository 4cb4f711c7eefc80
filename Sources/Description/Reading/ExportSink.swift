package import NIOCore

/// Writes the next bytes of a text or an export to a file or a terminal.
package typealias ExportSink = (ByteBuffer) throws -> Void
