import Content
import Dispatch
import Files
import Foundation
import HTTPModel
import Recording
import Sharing

/// A HAR that was written into a temporary session, so that every function for sessions can be used.
package struct ImportedArchive: Sendable {
    /// The session's file, in a directory that only the user can read.
    package let session: String
    /// How many entries the archive had.
    package let count: Int
    private let directory: TemporaryDirectory

    /// Reads a HAR 1.2 of any size; throws ``StartError`` where it cannot be read, with the position, or the session
    /// cannot be written.
    ///
    /// A HAR has bodies without content coding; where a field names one, it is applied again.
    package init(_ path: String) throws {
        directory = try TemporaryDirectory("har")
        session = directory.path + "/archive.sluice"
        do {
            count = try ImportedArchive.read(path, into: session)
        } catch {
            directory.remove()
            throw error
        }
    }

    package func remove() { directory.remove() }

    private static func read(_ path: String, into session: String) throws -> Int {
        let version = "sluice \(SluiceVersion.current)"
        let recorder = try Recorder(RecorderConfiguration(path: session, sluiceVersion: version))
        let credit = DispatchSemaphore(value: 0)
        let producer = recorder.makeProducer { credit.signal() }
        var recording = HARRecording()
        do {
            defer { recorder.close() }
            try forEachEntry(of: path) { entry in
                // The caller may have been cancelled.
                try Task.checkCancellation()
                let events = recording.events(entry)
                let cost = events.reduce(0) { $0 + $1.cost }
                if !producer.submit(events, cost: cost) { credit.wait() }
            }
        }
        if let error = recorder.close().error { throw error }
        return recording.count
    }

    /// Calls `body` with each entry of a HAR, of which texts and bodies have at most `textLimit` bytes.
    ///
    /// `onRead` gets how many bytes were read in all. Throws ``StartError`` where it cannot be read, with the position.
    static func forEachEntry(
        of path: String,
        textLimit: Int = 64 << 20,
        onRead: @escaping (Int) -> Void = { _ in },
        _ body: (HAREntry) throws -> Void
    ) throws {
        let file = FileHandle(fileDescriptor: try InputFile.descriptor(of: path), closeOnDealloc: true)
        var count = 0
        var reader = HARReader(textLimit: textLimit) {
            let piece = Array(try file.read(upToCount: 1 << 20) ?? Data())
            count += piece.count
            onRead(count)
            return piece
        }
        do {
            try reader.forEach(body)
        } catch let error as JSONSyntaxError {
            let place = "\(path):\(error.line):\(error.column)"
            throw StartError("\(place): no HAR that can be read: \(error.message)", isPositioned: true)
        }
    }
}
