/// Reports that files have changed, once two polls in a row find them in the same new state.
///
/// So a file that is written in pieces, replaced by another of its name, or removed for a moment is reported once. It
/// neither waits nor reads a file: the caller polls and gives the state of each.
struct FileWatch {
    /// The state of a file.
    struct Facts: Sendable, Hashable {
        /// When it was written last: nanoseconds since 1970.
        var modifiedAt: Int64
        /// When its contents, or who may read it, changed last: nanoseconds since 1970.
        var changedAt: Int64 = 0
        /// In bytes.
        var size: Int64
        /// The inode, which another file of the same name does not have.
        var number: UInt64
        var device: UInt64
    }

    /// Gets the state of a file; `nil` where there is none.
    typealias Look = (String) -> Facts?

    /// The files as they were when they were reported last.
    private var reported: [String: Facts?] = [:]
    /// The files as the last poll found them.
    private var seen: [String: Facts?] = [:]

    /// Begins with the files as they are.
    init(_ paths: some Sequence<String>, _ look: Look) { watch(paths, look) }

    /// Watches these files and no others; those watched already keep their states.
    mutating func watch(_ paths: some Sequence<String>, _ look: Look) {
        let (reportedBefore, seenBefore) = (reported, seen)
        (reported, seen) = ([:], [:])
        for path in paths {
            let facts = look(path)
            reported[path] = .some(reportedBefore[path] ?? facts)
            seen[path] = .some(seenBefore[path] ?? facts)
        }
    }

    /// Returns whether a file has changed since it was reported last, and none since the poll before.
    mutating func poll(_ look: Look) -> Bool {
        let now = Dictionary(uniqueKeysWithValues: seen.keys.map { ($0, look($0)) })
        defer { seen = now }
        guard now == seen, now != reported else { return false }
        reported = now
        return true
    }
}
