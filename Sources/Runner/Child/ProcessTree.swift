import Files
import Foundation

/// The running processes of a command: those with a member for a parent, or with the variable that only the command
/// has.
///
/// The variable finds a process whose parent ended before it was seen.
struct ProcessTree {
    private let variable: [UInt8]
    private(set) var members: Set<pid_t> = []
    /// The other processes of the system.
    private var others: Set<pid_t>

    /// Prepares for a command that is not started yet and that alone gets `variable`, as `NAME=VALUE`.
    init(variable: String) {
        self.variable = Array(variable.utf8)
        others = Set(ProcessFiles.all())
    }

    mutating func start(_ root: pid_t) {
        others.remove(root)
        members.insert(root)
    }

    /// Updates the members; returns whether there are new ones.
    mutating func refresh() -> Bool {
        let now = Set(ProcessFiles.all())
        let ended = members.subtracting(now)
        others.formIntersection(now)
        // Parents mostly have lower numbers than their children, so one pass in order nearly always finds all.
        var unknown = now.subtracting(others).subtracting(members).sorted()
        let known = members.count
        var before = Int.max
        while unknown.count < before, !unknown.isEmpty {
            before = unknown.count
            unknown.removeAll { pid in
                guard let parent = ProcessFiles.parent(of: pid), members.contains(parent) else { return false }
                return members.insert(pid).inserted
            }
        }
        for pid in unknown {
            if ProcessFiles.has(variable, pid: pid) { members.insert(pid) } else { others.insert(pid) }
        }
        let hasGrown = members.count > known
        members.subtract(ended)
        return hasGrown
    }
}
