/// Notices that files have changed, and waits until they are quiet.
///
/// Pure: it is told when to look, and with what eyes. A file that is written in pieces, replaced by another of its
/// name, or away for a moment is reported once, when one further look finds it as the last one did.
struct FileWatch {
    /// What tells one state of a file from another.
    struct Facts: Sendable, Hashable {
        /// When it was written last: nanoseconds since 1970.
        var modifiedAt: Int64
        /// Its size in bytes.
        var size: Int64
        /// Its number in the file system, which another file of the same name does not have.
        var number: UInt64
        /// The file system.
        var device: UInt64
    }

    /// Looks at a file; `nil` where there is none.
    typealias Look = (String) -> Facts?

    /// The files as they were when they were reported last.
    private var reported: [String: Facts?] = [:]
    /// The files as the last look found them.
    private var seen: [String: Facts?] = [:]

    /// Begins with the files as they are.
    init(_ paths: some Sequence<String>, _ look: Look) {
        watch(paths, look)
    }

    /// Watches these files and no others; those it watched already keep what is known of them.
    mutating func watch(_ paths: some Sequence<String>, _ look: Look) {
        let (reportedBefore, seenBefore) = (reported, seen)
        (reported, seen) = ([:], [:])
        for path in paths {
            let facts = look(path)
            reported[path] = .some(reportedBefore[path] ?? facts)
            seen[path] = .some(seenBefore[path] ?? facts)
        }
    }

    /// Looks at all files; returns whether something has changed since it was reported last, and nothing since the look
    /// before.
    mutating func poll(_ look: Look) -> Bool {
        var now: [String: Facts?] = [:]
        for path in seen.keys { now[path] = .some(look(path)) }
        defer { seen = now }
        guard now == seen, now != reported else { return false }
        reported = now
        return true
    }
}
