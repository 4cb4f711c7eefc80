import ArgumentParser
import Foundation
import HTTPModel
import Jobs
import Recording
import Runner

/// Limits of a recording: rotation to further files, and a largest size.
struct SessionBounds: ParsableArguments {
    @Option(help: .value("time or size", "Start a new file after this time (1h) or size (100mb); repeatable."))
    var rotate: [String] = []
    @Option(help: .value("count or age", "With --rotate: keep only this many files (24), or these days (7d)."))
    var keep: String?
    @Option(help: .value("size", "Keep each file below this size (500mb); the oldest bodies are dropped first."))
    var maxSession: String?

    var isGiven: Bool { !rotate.isEmpty || keep != nil || maxSession != nil }

    /// In bytes. An empty session already takes a quarter of this.
    private static let smallest: Int64 = 1_000_000

    func check(_ session: String?) throws {
        _ = try rotation(session)
        _ = try largest()
        if keep != nil, rotate.isEmpty { throw ValidationError("--keep needs --rotate.") }
    }

    func apply(to settings: inout RunSettings) throws {
        settings.rotation = try rotation(settings.session)
        settings.largestSession = try largest()
    }

    private func largest() throws -> (bytes: Int64, words: String)? {
        guard let maxSession else { return nil }
        guard let size = Filter.bytes(of: maxSession), size >= Self.smallest else {
            throw ValidationError("--max-session takes a size from 1mb, for example 500mb or 2gb; not '\(maxSession)'.")
        }
        return (size, maxSession)
    }

    private func rotation(_ session: String?) throws -> SessionRotation? {
        guard !rotate.isEmpty else { return nil }
        var rotation: SessionRotation
        do {
            let pattern = try session.map { try SessionPattern($0) } ?? StandardPaths.sessionPattern()
            rotation = SessionRotation(pattern: pattern)
        } catch let error as SessionPattern.PatternError {
            throw ValidationError("--session is a pattern with --rotate: \(error)")
        }
        for text in rotate {
            if let time = Filter.microseconds(of: text), rotation.period == nil,
                (1_000_000...366 * 86_400_000_000).contains(time)
            {
                rotation.period = time
            } else if let size = Filter.bytes(of: text), rotation.size == nil, size >= Self.smallest {
                rotation.size = size
            } else {
                throw ValidationError("--rotate takes one time (1s to 366d) and one size (from 1mb); not '\(text)'.")
            }
        }
        if let keep {
            if let count = Int(keep), (1...1_000_000).contains(count) {
                rotation.keep = .files(count)
            } else if let age = Filter.microseconds(of: keep), age >= 1_000_000 {
                rotation.keep = .age(age)
            } else {
                throw ValidationError("--keep takes a number of files, or an age such as 7d; not '\(keep)'.")
            }
        }
        return rotation
    }
}
