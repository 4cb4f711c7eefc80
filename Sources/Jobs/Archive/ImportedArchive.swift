import Files
import Formats
import Foundation
import HTTPModel
import Recording

/// An archive (``ArchiveFile``) as a temporary session.
package struct ImportedArchive: Sendable {
    package let session: String
    package let count: Int
    let inFlight: Int
    private let path: String
    private let directory: TemporaryDirectory

    /// Throws ``StartError`` with the position, `FileError` for a refused zip, and `SessionError`.
    package init(_ path: String, work: LongWork? = nil) throws {
        try self.init(named: path) { session in
            guard try ArchiveFile.format(of: path) == .zip, let (zip, entry) = try ArchiveFile.bundle(path) else {
                return (try ImportedArchive.read(path, into: session, work), 0)
            }
            try zip.extract(entry, to: session)
            return (try Int(clamping: SessionReader(path: session).count()), 0)
        }
    }

    /// Joins sessions and archives into one session with the rules of each; exchanges get new numbers.
    init(joining paths: [String], work: LongWork?) throws {
        try self.init(named: paths.first ?? "") { try ImportedArchive.join(paths, into: $0, work) }
    }

    private init(named path: String, _ write: (String) throws -> (count: Int, inFlight: Int)) throws {
        self.path = path
        directory = try TemporaryDirectory(.archive)
        session = directory.path + "/archive.sluice"
        do {
            (count, inFlight) = try write(session)
        } catch {
            directory.remove()
            throw (error as? SessionError)?.naming(path, for: session) ?? error
        }
    }

    private static func join(_ paths: [String], into session: String, _ work: LongWork?) throws -> (Int, Int) {
        let recorder = try recorder(session)
        defer { recorder.close() }
        let imports = SessionImport(recorder: recorder)
        var (count, inFlight) = (0, 0)
        for path in paths {
            work?.begin("reading \((path as NSString).lastPathComponent)", .things("exchange"))
            if try !ArchiveFile.isArchive(path) {
                for rules in try SessionQuery.open(path).rules() {
                    recorder.noteRules(sources: rules.sources, switchedOff: rules.switchedOff, at: rules.at)
                }
            }
            let outcome = try imports.run(path) { (try? work?.report(nil, part: $0)) != nil || work == nil }
            if let interruption = work?.interruption { throw interruption }
            if let problem = outcome.problem { throw StartError("\(path) could not be read whole: \(problem)") }
            (count, inFlight) = (count + outcome.count, inFlight + outcome.unfinished)
        }
        if let error = recorder.close().error { throw error }
        return (count, inFlight)
    }

    func reader() throws -> SessionReader {
        do {
            return try SessionReader(path: session)
        } catch let error as SessionError {
            throw error.naming(path, for: session)
        }
    }

    package func remove() { directory.remove() }

    private static func read(_ path: String, into session: String, _ work: LongWork?) throws -> Int {
        let recorder = try recorder(session)
        defer { recorder.close() }
        var recording = ArchiveRecording()
        work?.begin("reading \((path as NSString).lastPathComponent)", .bytes)
        try ArchiveFile.record(path, &recording, by: recorder) { bytes, part in
            // The caller may have been cancelled.
            try Task.checkCancellation()
            try work?.report(Int64(bytes), part: part)
        }
        if let error = recorder.close().error { throw error }
        return recording.count
    }

    private static func recorder(_ session: String) throws -> Recorder {
        var configuration = RecorderConfiguration(path: session, sluiceVersion: "sluice \(SluiceVersion.current)")
        configuration.isTraffic = false
        return try Recorder(configuration)
    }
}
