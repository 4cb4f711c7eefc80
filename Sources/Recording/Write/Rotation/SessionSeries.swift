import Files
import Foundation
import HTTPModel

/// The files of a rotation: makes the next one, and removes those that need not stay.
///
/// A session of a series says so by a label. Only such files are removed, and only while nobody has them open.
struct SessionSeries: Sendable {
    /// The label of a session that has the pattern that it was named by.
    static let label = "series"
    /// How many names are tried for a file.
    private static let mostNames = 10_000

    let rotation: SessionRotation
    private let order = SeriesOrder()
    private let clock: SteadyClock

    init(rotation: SessionRotation, clock: SteadyClock = SteadyClock()) {
        (self.rotation, self.clock) = (rotation, clock)
    }

    /// The label's value: the name's pattern, wherever the folder is.
    var name: String { (rotation.pattern.text as NSString).lastPathComponent }

    /// The ending of a file that is being made; one that is older than this, in microseconds, was left by a crash.
    private static let (ending, oldestPart) = (".part", Int64(60_000_000))

    /// Makes the next file, which was not there before, and opens it. It has its name once it is a whole session, so that no
    /// crash leaves a part of one under it.
    func next(_ configuration: RecorderConfiguration, following: Int64) throws -> WritableSession {
        let path = try claim(labels: configuration.labels)
        do {
            let session = try WritableSession(path: path, configuration: configuration, following: following)
            noteMade(path)
            return session
        } catch {
            // It was made just now, and nothing is in it.
            unlink(path)
            throw error
        }
    }

    private func claim(labels: [String: String], at time: time_t = Foundation.time(nil)) throws -> String {
        let pattern = rotation.pattern
        removeParts()
        // A number that was removed is not given again: the order of the names stays that of the files.
        let taken = names().filter { pattern.isNumbered || $0.name == pattern.name(at: time, number: $0.number) }
        var number = (taken.map(\.number).max() ?? 0) + 1
        for _ in 0..<Self.mostNames {
            let path = pattern.path(of: pattern.name(at: time, number: number))
            number += 1
            guard FileFacts(link: path) == nil else { continue }
            let part = "\(path)\(Self.ending)"
            let descriptor = open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            if descriptor < 0 {
                // Another Sluice makes it.
                if errno == EEXIST { continue }
                throw SessionError.cannotOpen(path, errno)
            }
            close(descriptor)
            defer { unlink(part) }
            try WritableSession.make(part, labels: labels)
            if try Self.give(part, path) { return path }
        }
        throw SessionError.exists(pattern.path(of: pattern.name(at: time, number: number)))
    }

    /// Gives a file its name; `false` if there is one of that name.
    private static func give(_ part: String, _ path: String) throws -> Bool {
        if link(part, path) == 0 { return true }
        switch errno {
        case EEXIST: return false
        case EPERM, EOPNOTSUPP, ENOSYS, EMLINK:
            // A file system without a second name for a file.
            guard FileFacts(link: path) == nil else { return false }
            if rename(part, path) == 0 { return true }
            throw SessionError.cannotOpen(path, errno)
        default: throw SessionError.cannotOpen(path, errno)
        }
    }

    /// Removes what a Sluice that was killed has not made whole.
    private func removeParts() {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: rotation.pattern.directory)) ?? []
        for name in all where name.hasSuffix(Self.ending) {
            guard rotation.pattern.number(in: String(name.dropLast(Self.ending.count))) != nil else { continue }
            let path = rotation.pattern.path(of: name)
            guard let facts = FileFacts(link: path), facts.isRegular, facts.owner == geteuid(),
                WallClock.now() - facts.writtenAt > Self.oldestPart
            else { continue }
            unlink(path)
        }
    }

    private func names() -> [(name: String, number: Int)] {
        let all = (try? FileManager.default.contentsOfDirectory(atPath: rotation.pattern.directory)) ?? []
        return all.compactMap { name in rotation.pattern.number(in: name).map { (name, $0) } }
    }

    // MARK: - Removing

    /// Notes that this recorder has made a file: it is newer than all others.
    func noteMade(_ path: String) {
        if rotation.keep != nil { order.note((path as NSString).lastPathComponent) }
    }

    /// A file of the series that nobody records.
    private struct Finished {
        var name: String
        var path: String
        var identity: FileFacts.Identity
        /// Its running number, 0 if the names have none: a clock that is set back does not change it.
        var number: Int
        /// When it was begun, in microseconds since 1970.
        var begunAt: Int64
    }

    /// Removes the files that need not stay, and returns their paths. What is not surely of this series, and what
    /// somebody has open, stays.
    ///
    /// - Parameter current: how many files of the series are being recorded by this process.
    func prune(current: Int, now: Int64? = nil) -> [String] {
        guard let keep = rotation.keep else { return [] }
        let now = now ?? clock.now()
        let newest = order.newest
        let names = names()
        var finished = names.compactMap { old($0.name, $0.number, keep, now) }
        let ranks = order.ranks(of: finished.map(\.name), present: names.map(\.name), upTo: newest)
        func place(_ file: Finished) -> (Int, Int64, Int64, String) {
            (file.number, ranks[file.name] ?? 0, file.begunAt, file.path)
        }
        finished.sort { place($0) < place($1) }
        if case .files(let count) = keep { finished = Array(finished.prefix(max(0, finished.count + current - count))) }
        return finished.filter(Self.remove).map(\.path)
    }

    /// A finished file of the series that is old enough, if files go by their age.
    private func old(_ name: String, _ number: Int, _ keep: SessionRotation.Keep, _ now: Int64) -> Finished? {
        let path = rotation.pattern.path(of: name)
        // A link is not a file that a rotation wrote.
        guard let facts = FileFacts(link: path), facts.isRegular, facts.owner == geteuid(), facts.size > 0
        else { return nil }
        if case .age(let age) = keep, now - facts.writtenAt <= age { return nil }
        guard !SessionLock.isHeldHere(facts.identity), let reader = try? SessionReader(path: path),
            let labels = try? reader.identity().labels, labels[Self.label] == self.name,
            let run = try? reader.runs().first
        else { return nil }
        let isNumbered = rotation.pattern.isNumbered
        return Finished(
            name: name,
            path: path,
            identity: facts.identity,
            number: isNumbered ? number : 0,
            begunAt: run.startedAt
        )
    }

    /// Removes a file, unless somebody has it open or it is another so far.
    private static func remove(_ file: Finished) -> Bool {
        let descriptor = open(file.path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return false }
        // No lock of SQLite's is on it in this process, which closing it would take away: nobody here records it.
        defer { close(descriptor) }
        guard FileFacts(descriptor: descriptor)?.identity == file.identity, flock(descriptor, LOCK_EX | LOCK_NB) == 0,
            OpenFiles.isAlone(descriptor), FileFacts(link: file.path)?.identity == file.identity,
            unlink(file.path) == 0
        else { return false }
        // What a crash left beside it belongs to it.
        for companion in SessionPath.companions(of: file.path) where FileFacts(link: companion)?.isRegular == true {
            unlink(companion)
        }
        return true
    }
}

/// The time since 1970 by a clock that nobody can set forward: files would be old at once if it were.
struct SteadyClock: Sendable {
    private let startedAt: Int64
    private let uptime: Int64

    /// - Parameter startedAt: the time at present, in microseconds since 1970.
    init(startedAt: Int64 = WallClock.now()) { (self.startedAt, uptime) = (startedAt, Self.uptime()) }

    /// The start and the time that has passed since then, but not more than the machine's time.
    func now() -> Int64 { min(WallClock.now(), startedAt + Self.uptime() - uptime) }

    /// In microseconds; the time of a suspended machine counts.
    private static func uptime() -> Int64 {
        #if os(Linux)
        let clock = CLOCK_BOOTTIME
        #else
        let clock = CLOCK_MONOTONIC
        #endif
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}

/// Whether others have a file open.
enum OpenFiles {
    #if os(Linux)
    private static let (setLease, setSignal): (CInt, CInt) = (1_024, 10)
    #endif

    /// Whether nobody else has the file of a descriptor open, in this process or another. Where the system does not say,
    /// it is taken to be so.
    static func isAlone(_ descriptor: CInt) -> Bool {
        #if os(Linux)
        // Linux gives a write lease only to who alone has the file open (fcntl(2)). Whoever opens it meanwhile waits for the
        // lease's end, and is announced by a signal: by one that does nothing.
        guard fcntl(descriptor, setSignal, SIGURG) == 0 else { return true }
        if fcntl(descriptor, setLease, CInt(F_WRLCK)) == 0 {
            _ = fcntl(descriptor, setLease, CInt(F_UNLCK))
            return true
        }
        // Some file systems have no leases.
        return errno != EAGAIN && errno != EACCES
        #else
        return true
        #endif
    }
}
