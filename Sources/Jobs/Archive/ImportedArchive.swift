import Dispatch
import Files
import Formats
import Foundation
import HTTPModel
import Recording
import Synchronization

/// An archive (``ArchiveFile``) that was written into a temporary session, so that all functions for sessions can be used.
package struct ImportedArchive: Sendable {
    package let session: String
    package let count: Int
    /// Exchanges that were skipped, since they were in flight.
    private(set) var inFlight = 0
    private let path: String
    private let directory: TemporaryDirectory

    /// Throws ``StartError`` with the position, `FileError` if a zip is refused, `SessionError` if a session cannot be read
    /// or written.
    ///
    /// A HAR has bodies without content coding; if a field names one, it is applied again.
    package init(_ path: String, work: LongWork? = nil) throws {
        self.path = path
        directory = try TemporaryDirectory("archive")
        session = directory.path + "/archive.sluice"
        do {
            if try ArchiveFile.format(of: path) == .zip, let (zip, entry) = try ArchiveFile.bundle(path) {
                try zip.extract(entry, to: session)
                count = try Int(clamping: SessionReader(path: session).count())
            } else {
                count = try ImportedArchive.read(path, into: session, work)
            }
        } catch {
            directory.remove()
            throw (error as? SessionError)?.naming(path, for: session) ?? error
        }
    }

    /// Joins sessions and archives into one session with the rules of each; exchanges get new numbers.
    init(joining paths: [String], work: LongWork?) throws {
        path = paths.first ?? ""
        directory = try TemporaryDirectory("archive")
        session = directory.path + "/archive.sluice"
        do {
            (count, inFlight) = try ImportedArchive.join(paths, into: session, work)
        } catch {
            directory.remove()
            throw error
        }
    }

    private static func join(_ paths: [String], into session: String, _ work: LongWork?) throws -> (Int, Int) {
        var configuration = RecorderConfiguration(path: session, sluiceVersion: "sluice \(SluiceVersion.current)")
        configuration.isTraffic = false
        let recorder = try Recorder(configuration)
        defer { recorder.close() }
        let exchanges = Atomic<Int64>(1)
        let connections = Atomic<Int64>(1)
        var (count, inFlight) = (0, 0)
        for path in paths {
            work?.begin("reading \((path as NSString).lastPathComponent)", .things("exchange"))
            if try !ArchiveFile.isArchive(path) {
                for rules in try SessionQuery.open(path).rules() {
                    recorder.noteRules(sources: rules.sources, switchedOff: rules.switchedOff, at: rules.at)
                }
            }
            let outcome = try SessionImport(
                session: session,
                recorder: recorder,
                makeExchange: { ExchangeID(exchanges.wrappingAdd(1, ordering: .relaxed).oldValue) },
                makeConnection: { ConnectionID(connections.wrappingAdd(1, ordering: .relaxed).oldValue) },
                progress: { part in (try? work?.report(nil, part: part)) != nil || work == nil }
            ).run(path)
            if let interruption = work?.interruption { throw interruption }
            if let problem = outcome.problem { throw StartError("\(path) could not be read whole: \(problem)") }
            (count, inFlight) = (count + outcome.count, inFlight + outcome.unfinished)
        }
        if let error = recorder.close().error { throw error }
        return (count, inFlight)
    }

    /// Throws `SessionError` that names the archive.
    func reader() throws -> SessionReader {
        do {
            return try SessionReader(path: session)
        } catch let error as SessionError {
            throw error.naming(path, for: session)
        }
    }

    package func remove() { directory.remove() }

    private static func read(_ path: String, into session: String, _ work: LongWork?) throws -> Int {
        let version = "sluice \(SluiceVersion.current)"
        var configuration = RecorderConfiguration(path: session, sluiceVersion: version)
        configuration.isTraffic = false
        let recorder = try Recorder(configuration)
        let credit = DispatchSemaphore(value: 0)
        let producer = recorder.makeProducer { credit.signal() }
        var recording = ArchiveRecording()
        let size = max(
            1,
            (try? FileManager.default.attributesOfItem(atPath: path)[.size] as? NSNumber)?.doubleValue ?? 1
        )
        work?.begin("reading \((path as NSString).lastPathComponent)", .bytes)
        do {
            defer { recorder.close() }
            let read = Atomic(0)
            let count: @Sendable (Int) -> Void = { read.store($0, ordering: .relaxed) }
            try ArchiveFile.forEachEntry(of: path, onRead: count) { entry in
                // The caller may have been cancelled.
                try Task.checkCancellation()
                let bytes = read.load(ordering: .relaxed)
                try work?.report(Int64(bytes), part: Double(bytes) / size)
                let events = recording.events(entry)
                let cost = events.reduce(0) { $0 + $1.cost }
                if !producer.submit(events, cost: cost) { credit.wait() }
            }
        }
        if let error = recorder.close().error { throw error }
        return recording.count
    }
}
