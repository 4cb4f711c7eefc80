/// Reports a changed file once two polls in a row find the same new state, so that a file is reported only once even if
/// a program writes it in several steps. The caller polls and passes the state of each file.
struct FileWatch<Facts: Hashable> {
    /// `nil` if there is no file.
    typealias Look = (String) -> Facts?

    /// The states at the last report.
    private var reported: [String: Facts?] = [:]
    /// The states at the last poll.
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

    /// True if a file has changed since the last report, but no file since the last poll.
    mutating func poll(_ look: Look) -> Bool {
        let now = Dictionary(uniqueKeysWithValues: seen.keys.map { ($0, look($0)) })
        defer { seen = now }
        guard now == seen, now != reported else { return false }
        reported = now
        return true
    }
}
