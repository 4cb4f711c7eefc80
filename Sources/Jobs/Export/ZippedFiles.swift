import Description
import Files
import Foundation
import NIOCore

/// Files of our own as a zip.
enum ZippedFiles {
    /// Zips files into `path`, where there must be nothing, and hands the zip over piece by piece. Throws `FileError`, and
    /// what the destination throws.
    static func hand(_ members: [ZipWriter.Member], by path: String, to destination: ExportDestination) throws {
        let onProgress = destination.onPacking
        var path = path
        try ZipWriter.write(members, to: path, onProgress: onProgress)
        // A member whose compression would look like a zip bomb is stored, so that it can be opened.
        let safe = try ZipWriter.storingTraps(members, in: path)
        if safe != members {
            path += "-stored"
            try ZipWriter.write(safe, to: path, onProgress: onProgress)
        }
        let file = FileHandle(fileDescriptor: try InputFile.descriptor(of: path), closeOnDealloc: true)
        while let piece = try file.read(upToCount: 1 << 20), !piece.isEmpty {
            try onProgress(1)
            try destination.sink(ByteBuffer(bytes: piece))
        }
    }
}
