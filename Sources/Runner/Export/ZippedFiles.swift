import Files
import Foundation
import NIOCore
import Sharing

/// Files of our own as a zip.
enum ZippedFiles {
    /// Zips files beside `path`, where there must be nothing, and hands the zip over piece by piece. Throws `FileError`, and
    /// what the sink throws.
    static func hand(_ members: [ZipWriter.Member], by path: String, to sink: ExportSink) throws {
        var path = path
        try ZipWriter.write(members, to: path)
        // What compression makes as short as traps are is stored, so that it can be opened.
        let safe = try ZipWriter.storingTraps(members, in: path)
        if safe != members {
            path += "-stored"
            try ZipWriter.write(safe, to: path)
        }
        let file = FileHandle(fileDescriptor: try InputFile.descriptor(of: path), closeOnDealloc: true)
        while let piece = try file.read(upToCount: 1 << 20), !piece.isEmpty { try sink(ByteBuffer(bytes: piece)) }
    }
}
