import Description
import Files
import Foundation
import NIOCore

/// Files of our own as a zip.
enum ZippedFiles {
    /// Zips files beside `path`, where there must be nothing, and hands the zip over piece by piece.
    ///
    /// - Parameter onProgress: called often with the part that is done, from 0 to 1; what it throws ends the work.
    /// - Throws: `FileError`, and what `onProgress` and the sink throw.
    static func hand(
        _ members: [ZipWriter.Member],
        by path: String,
        to sink: ExportSink,
        onProgress: @escaping (Double) throws -> Void
    ) throws {
        var path = path
        try ZipWriter.write(members, to: path, onProgress: onProgress)
        // What compression makes as short as traps are is stored, so that it can be opened.
        let safe = try ZipWriter.storingTraps(members, in: path)
        if safe != members {
            path += "-stored"
            try ZipWriter.write(safe, to: path, onProgress: onProgress)
        }
        let file = FileHandle(fileDescriptor: try InputFile.descriptor(of: path), closeOnDealloc: true)
        while let piece = try file.read(upToCount: 1 << 20), !piece.isEmpty {
            try onProgress(1)
            try sink(ByteBuffer(bytes: piece))
        }
    }
}
