import Files
import Foundation
import HTTPModel

/// The files of a rotation. Only unused files whose label names the series are removed.
struct SessionSeries: Sendable {
    /// The label's value is the name's pattern.
    static let label = "series"
    private static let mostNames = 10_000

    let rotation: SessionRotation
    private let order = SeriesOrder()
    private let clock: SteadyClock

    init(rotation: SessionRotation, clock: SteadyClock = SteadyClock()) {
        self.rotation = rotation
        self.clock = clock
    }

    var name: String { (rotation.pattern.text as NSString).lastPathComponent }

    /// Ending of incomplete files; a crash has left those that are older than `oldestPart` microseconds.
    private static let (ending, oldestPart) = (".part", Int64(60_000_000))

    /// A new file gets its name when it is complete, so that a crash leaves no incomplete file under that name.
    func next(_ configuration: RecorderConfiguration, following: Int64) throws -> WritableSession {
        let path = try claim(labels: configuration.labels)
        do {
            let session = try WritableSession(path: path, configuration: configuration, following: following)
            noteMade(path)
            return session
        } catch {
            unlink(path)
            throw error
        }
    }

    private func claim(labels: [String: String], at time: time_t = Foundation.time(nil)) throws -> String {
        let pattern = rotation.pattern
        removeParts()
        // Numbers below the highest one are not used again, so that the names stay in order.
        let taken = names().filter { pattern.isNumbered || $0.name == pattern.name(at: time, number: $0.number) }
        var number = (taken.map(\.number).max() ?? 0) + 1
        for _ in 0..<Self.mostNames {
            let path = pattern.path(at: time, number: number)
            number += 1
            guard FileFacts(link: path) == nil else { continue }
            let part = "\(path)\(Self.ending)"
            let descriptor = open(part, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0o600)
            if descriptor < 0 {
                if errno == EEXIST { continue }
                throw SessionError.cannotOpen(path, errno)
            }
            close(descriptor)
            defer { unlink(part) }
            try WritableSession.make(part, labels: labels)
            if try Self.give(part, path) { return path }
        }
        throw SessionError.exists(pattern.path(at: time, number: number))
    }

    /// `false` if the name is taken.
    private static func give(_ part: String, _ path: String) throws -> Bool {
        if link(part, path) == 0 { return true }
        switch errno {
        case EEXIST: return false
        case EPERM, EOPNOTSUPP, ENOSYS, EMLINK:
            // The file system has no hard links.
            guard FileFacts(link: path) == nil else { return false }
            if rename(part, path) == 0 { return true }
            throw SessionError.cannotOpen(path, errno)
        default: throw SessionError.cannotOpen(path, errno)
        }
    }

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

    func noteMade(_ path: String) {
        if rotation.keep != nil { order.note((path as NSString).lastPathComponent) }
    }

    private struct Finished {
        var name: String
        var path: String
        var identity: FileFacts.Identity
        /// The running number in the name, which no clock affects; 0 if the pattern has no number.
        var number: Int
        var begunAt: Int64
    }

    /// Removes old files of the series, and returns their paths. Keeps files that are in use or may not be of this
    /// series. `current` is the number of files that are being recorded here.
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

    /// `nil` if the file must stay, for example because it is too young.
    private func old(_ name: String, _ number: Int, _ keep: SessionRotation.Keep, _ now: Int64) -> Finished? {
        let path = rotation.pattern.path(of: name)
        // A rotation does not write links.
        guard let facts = FileFacts(link: path), facts.isRegular, facts.owner == geteuid(), facts.size > 0
        else { return nil }
        if case .age(let age) = keep, now - facts.writtenAt <= age { return nil }
        guard !SessionLock.isHeldHere(facts.identity), let reader = try? SessionReader(path: path),
            let labels = try? reader.identity().labels, labels[Self.label] == self.name,
            let run = try? reader.runs().first
        else { return nil }
        let place = rotation.pattern.isNumbered ? number : 0
        return Finished(name: name, path: path, identity: facts.identity, number: place, begunAt: run.startedAt)
    }

    /// Removes the file, unless it is in use or was replaced.
    private static func remove(_ file: Finished) -> Bool {
        let descriptor = open(file.path, O_RDWR | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return false }
        // This process does not record the file, so closing it releases no lock of SQLite.
        defer { close(descriptor) }
        guard FileFacts(descriptor: descriptor)?.identity == file.identity, flock(descriptor, LOCK_EX | LOCK_NB) == 0,
            OpenFiles.isAlone(descriptor), FileFacts(link: file.path)?.identity == file.identity,
            unlink(file.path) == 0
        else { return false }
        for companion in SessionPath.companions(of: file.path) where FileFacts(link: companion)?.isRegular == true {
            unlink(companion)
        }
        return true
    }
}

/// Microseconds since 1970. Ignores that a clock is set forward, because files would then be old at once.
struct SteadyClock: Sendable {
    private let startedAt: Int64
    private let uptime: Int64

    init(startedAt: Int64 = WallClock.now()) { (self.startedAt, uptime) = (startedAt, Self.uptime()) }

    /// Never later than the machine's time.
    func now() -> Int64 { min(WallClock.now(), startedAt + Self.uptime() - uptime) }

    /// Includes suspended time.
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

enum OpenFiles {
    #if os(Linux)
    private static let (setLease, setSignal): (CInt, CInt) = (1_024, 10)
    #endif

    /// Whether no process, including this one, has the file open; `true` if the system does not say.
    static func isAlone(_ descriptor: CInt) -> Bool {
        #if os(Linux)
        // The system grants a write lease only if nobody else has the file open (fcntl(2)). A process that opens the
        // file meanwhile waits for the lease's end, and causes a signal that does nothing.
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
