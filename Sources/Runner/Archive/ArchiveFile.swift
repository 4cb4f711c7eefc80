import Content
import Files
import Foundation
package import Sharing

/// A file with exchanges that is no session of ours, by what is in it.
package enum ArchiveFile {
    /// The session within a bundle.
    static let bundledSession = "session.sluice"
    private static let pieceSize = 1 << 20

    /// What a file is; `nil` for a session, and for a file that cannot be read, which is reported when it is opened.
    /// Throws `FileError` for what is no file.
    package static func format(of path: String) throws -> ArchiveFormat? {
        do throws(FileError) {
            return ArchiveFormat(beginning: try InputFile.contents(of: path, atMost: ArchiveFormat.tellingBytes))
        } catch {
            // A missing file may be 'last'.
            if error.cause == .noFile { throw error }
            return nil
        }
    }

    /// Whether a file has to be read into a session before it can be shown.
    package static func isArchive(_ path: String) throws -> Bool { try format(of: path) != nil }

    /// The bundle that a zip is; `nil` for another zip. Throws `FileError` where the zip is refused.
    static func bundle(_ path: String) throws -> (zip: ZipReader, session: ZipReader.Entry)? {
        let zip = try ZipReader(path)
        return zip[bundledSession].map { (zip, $0) }
    }

    /// Calls `body` with each exchange of a file, of which texts and bodies have at most `textLimit` bytes.
    ///
    /// `onRead` gets how many bytes were read in all. Throws ``StartError`` where the file cannot be read, with the
    /// position, `FileError` where a zip is refused.
    static func forEachEntry(
        of path: String,
        textLimit: Int = 64 << 20,
        losses: ArchiveLosses = ArchiveLosses(),
        onRead: @escaping (Int) -> Void = { _ in },
        _ body: (ArchiveEntry) throws -> Void
    ) throws {
        var reader = try reader(path, textLimit, losses, onRead)
        do {
            try reader.forEach(body)
        } catch let error as JSONSyntaxError {
            let place = "\(path):\(error.line):\(error.column)"
            let title = reader is HARReader ? "HAR" : "Charles session"
            throw StartError("\(place): no \(title) that can be read: \(error.message)", isPositioned: true)
        } catch let error as ArchiveError {
            throw StartError("\(path)\(error.place): it cannot be read: \(error.message)", isPositioned: true)
        }
    }

    private static func reader(
        _ path: String,
        _ textLimit: Int,
        _ losses: ArchiveLosses,
        _ onRead: @escaping (Int) -> Void
    ) throws -> any ArchiveReader {
        switch try format(of: path) {
        case .charlesJSON:
            return CharlesJSONReader(textLimit: textLimit, losses: losses, refill: try pieces(of: path, onRead))
        case .charlesXML:
            return CharlesXMLReader(textLimit: textLimit, losses: losses, refill: try pieces(of: path, onRead))
        case .mitmproxy: return MitmproxyReader(losses: losses, refill: try pieces(of: path, onRead))
        case .curl:
            let text = try InputFile.contents(of: path, atMost: CurlFileReader.longest + 1)
            guard text.count <= CurlFileReader.longest else {
                let limit = CurlFileReader.longest >> 20
                throw StartError(
                    "\(path) has more than \(limit) MiB of commands.",
                    hint: "Split it into several files."
                )
            }
            let facts = try? FileManager.default.attributesOfItem(atPath: path)
            let date = facts?[.modificationDate] as? Date ?? Date()
            return CurlFileReader(text, at: Int64(date.timeIntervalSince1970 * 1_000_000), losses: losses)
        case .zip:
            let zip = try ZipReader(path)
            guard CharlesZipReader.isSession(zip) else {
                throw StartError("\(path) is a zip, but neither a bundle of Sluice nor a session of Charles.")
            }
            return CharlesZipReader(zip, textLimit: textLimit, losses: losses)
        case .javaObjects:
            throw StartError(
                "\(path) is a Charles session of Java objects, which only Charles reads.",
                hint: "Open it in Charles and export as .chlsj: File > Export Session, JSON Session File."
            )
        case .charlesSettings:
            throw StartError(
                "\(path) has settings of Charles and no exchanges.",
                hint: "sluice import charles '\(path)' makes a profile of them."
            )
        case .otherXML:
            throw StartError(
                "\(path) is XML, but no session of Charles.",
                hint: "If it has settings of Charles, sluice import charles '\(path)' makes a profile of them."
            )
        case .har, nil: return HARReader(textLimit: textLimit, losses: losses, refill: try pieces(of: path, onRead))
        }
    }

    private static func pieces(of path: String, _ onRead: @escaping (Int) -> Void) throws -> () throws -> [UInt8] {
        let file = FileHandle(fileDescriptor: try InputFile.descriptor(of: path), closeOnDealloc: true)
        var count = 0
        return {
            let piece = Array(try file.read(upToCount: pieceSize) ?? Data())
            count += piece.count
            onRead(count)
            return piece
        }
    }
}
