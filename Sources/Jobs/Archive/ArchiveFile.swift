import Content
import Files
package import Formats
import Foundation
import Recording
import Synchronization

package enum ArchiveFile {
    static let bundledSession = "session.sluice"

    /// `nil` for a session or an unreadable file, which is reported later. Throws `FileError` if it is not a file.
    package static func format(of path: String) throws -> ArchiveFormat? {
        do throws(FileError) {
            return ArchiveFormat(beginning: try InputFile.contents(of: path, atMost: ArchiveFormat.tellingBytes))
        } catch {
            // A path that does not exist may be the word 'last'.
            if error.cause == .noFile { throw error }
            return nil
        }
    }

    package static func isArchive(_ path: String) throws -> Bool { try format(of: path) != nil }

    /// `nil` for a zip that is not a bundle. Throws `FileError` if the zip is refused.
    static func bundle(_ path: String) throws -> (zip: ZipReader, session: ZipReader.Entry)? {
        let zip = try ZipReader(path)
        return zip[bundledSession].map { (zip, $0) }
    }

    /// Calls `body` with each exchange; texts and bodies are limited to `textLimit` bytes. `onRead` gets the number of
    /// bytes read so far. Throws ``StartError`` with the position, or `FileError` if a zip is refused.
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
            throw StartError("\(place): the \(title) cannot be read: \(error.message)", isPositioned: true)
        } catch let error as XMLSyntaxError {
            let place = "\(path):\(error.line):\(error.column)"
            throw StartError("\(place): the Charles session cannot be read: \(error.message)", isPositioned: true)
        } catch let error as ArchiveError {
            throw StartError("\(path)\(error.place): it cannot be read: \(error.message)", isPositioned: true)
        }
    }

    /// Records the exchanges of an archive. Before each, `onEntry` gets the number of bytes read so far and the part of
    /// the file; its errors end the recording. Throws like ``forEachEntry(of:textLimit:losses:onRead:_:)``.
    static func record(
        _ path: String,
        _ recording: inout ArchiveRecording,
        by recorder: Recorder,
        losses: ArchiveLosses = ArchiveLosses(),
        onEntry: (_ bytes: Int, _ part: Double) throws -> Void
    ) throws {
        let size = Double(max(1, FileFacts(path: path)?.size ?? 1))
        let output = RecorderOutput(recorder)
        let read = Atomic(0)
        let count: @Sendable (Int) -> Void = { read.store($0, ordering: .relaxed) }
        try forEachEntry(of: path, losses: losses, onRead: count) { entry in
            let bytes = read.load(ordering: .relaxed)
            try onEntry(bytes, Double(bytes) / size)
            for event in recording.events(entry) { output.record(event) }
            output.send()
        }
    }

    /// The format of a file that is not a bundle. Throws like ``forEachEntry(of:textLimit:losses:onRead:_:)``.
    static func content(of path: String) throws -> ArchiveFormat { try ArchiveContent(path) { _ in }.format }

    private static func reader(
        _ path: String,
        _ textLimit: Int,
        _ losses: ArchiveLosses,
        _ onRead: @escaping (Int) -> Void
    ) throws -> any ArchiveReader {
        let content = try ArchiveContent(path, onRead)
        let refill = content.refill
        switch content.format {
        case .charlesJSON: return CharlesJSONReader(textLimit: textLimit, losses: losses, refill: refill)
        case .charlesXML: return CharlesXMLReader(textLimit: textLimit, losses: losses, refill: refill)
        case .mitmproxy: return MitmproxyReader(losses: losses, refill: refill)
        case .curl:
            let text = try content.beginning(atLeast: CurlFileReader.longest + 1)
            guard text.count <= CurlFileReader.longest else {
                let limit = CurlFileReader.longest >> 20
                throw StartError("\(path) has more than \(limit) MiB of commands.", hint: "Split the file.")
            }
            let facts = try? FileManager.default.attributesOfItem(atPath: path)
            let date = facts?[.modificationDate] as? Date ?? Date()
            return CurlFileReader(text, at: Int64(date.timeIntervalSince1970 * 1_000_000), losses: losses)
        case .charlesZip, .fiddlerZip, .zip, .gzip:
            guard let zip = content.zip else { throw unknown(path) }
            return content.format == .fiddlerZip
                ? FiddlerReader(zip, textLimit: textLimit, losses: losses)
                : CharlesZipReader(zip, textLimit: textLimit, losses: losses)
        case .unread(let format): throw StartError("\(path) is \(format.title).", hint: format.hint)
        case .charlesSettings:
            throw StartError("\(path) has settings of Charles.", hint: "Use sluice import charles '\(path)'.")
        case .otherXML:
            throw StartError("\(path) is not a Charles session.", hint: "For settings: sluice import charles '\(path)'")
        case .har:
            return HARReader(textLimit: textLimit, losses: losses, attachments: content.attachments, refill: refill)
        }
    }

    static func unknown(_ path: String) -> StartError {
        StartError(
            "\(path) has nothing in it that can be read.",
            hint:
                "These are: bundles, HAR, sessions of Charles and Fiddler, flows of mitmproxy, files of cURL commands."
        )
    }
}
