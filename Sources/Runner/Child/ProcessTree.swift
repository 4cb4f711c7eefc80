import Files
import Foundation

/// The running processes of a command: processes whose parent is a member, or that have the variable which only the
/// command was given. The variable finds a process whose parent has ended.
struct ProcessTree {
    private let variable: [UInt8]
    private(set) var members: Set<pid_t> = []
    private var others: Set<pid_t>

    init(variable: String) {
        self.variable = Array(variable.utf8)
        others = Set(ProcessFiles.all())
    }

    mutating func start(_ root: pid_t) {
        others.remove(root)
        members.insert(root)
    }

    /// Returns whether there are new members.
    mutating func refresh() -> Bool {
        let now = Set(ProcessFiles.all())
        let ended = members.subtracting(now)
        others.formIntersection(now)
        // Parents mostly have lower numbers than their children, so one pass in order usually finds all.
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
