/// Reports changed files once two polls in a row find the same new state, so that a file that is written in pieces or
/// replaced is reported once. The caller polls and passes the state of each.
struct FileWatch<Facts: Hashable> {
    /// `nil` if there is no file.
    typealias Look = (String) -> Facts?

    /// At the last report.
    private var reported: [String: Facts?] = [:]
    /// At the last poll.
    private var seen: [String: Facts?] = [:]

    init(_ paths: some Sequence<String>, _ look: Look) { watch(paths, look) }

    /// Files that are watched already keep their states.
    mutating func watch(_ paths: some Sequence<String>, _ look: Look) {
        let (reportedBefore, seenBefore) = (reported, seen)
        (reported, seen) = ([:], [:])
        for path in paths {
            let facts = look(path)
            reported[path] = .some(reportedBefore[path] ?? facts)
            seen[path] = .some(seenBefore[path] ?? facts)
        }
    }

    /// Whether a file has changed since the last report, and none since the poll before.
    mutating func poll(_ look: Look) -> Bool {
        let now = Dictionary(uniqueKeysWithValues: seen.keys.map { ($0, look($0)) })
        defer { seen = now }
        guard now == seen, now != reported else { return false }
        reported = now
        return true
    }
}
