import Foundation

/// The processes that came of a command, as far as they are still there.
///
/// A process belongs to it if its parent does, or if it has the variable that only our command was given: so one whose
/// parent ended before we looked is found, too.
struct ProcessTree {
    private let variable: [UInt8]
    private(set) var members: Set<pid_t> = []
    /// Processes that do not belong to it.
    private var strangers: Set<pid_t>

    /// Prepares for a command that is not started yet; no other process will have `variable` with its value.
    init(variable: String) {
        self.variable = Array(variable.utf8)
        strangers = Set(ProcessFiles.all())
    }

    /// The command was started.
    mutating func start(_ root: pid_t) {
        strangers.remove(root)
        members.insert(root)
    }

    /// Looks for processes that have come and gone; returns whether any has come.
    mutating func refresh() -> Bool {
        let now = Set(ProcessFiles.all())
        let ended = members.subtracting(now)
        strangers.formIntersection(now)
        // Parents mostly have lower numbers than their children, so one pass in order nearly always finds all.
        var unknown = now.subtracting(strangers).subtracting(members).sorted()
        var hasGrown = false
        var before = Int.max
        while unknown.count < before, !unknown.isEmpty {
            before = unknown.count
            unknown.removeAll { pid in
                guard let parent = ProcessFiles.parent(of: pid), members.contains(parent) else { return false }
                members.insert(pid)
                hasGrown = true
                return true
            }
        }
        for pid in unknown {
            if ProcessFiles.has(variable, pid: pid) {
                members.insert(pid)
                hasGrown = true
            } else {
                strangers.insert(pid)
            }
        }
        members.subtract(ended)
        return hasGrown
    }
}
