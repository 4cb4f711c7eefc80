import Foundation

/// Free space on a file system.
package enum FreeSpace {
    /// How many bytes a user without privileges can still write beside a file; `nil` if the system does not say.
    package static func bytes(beside file: String) -> UInt64? {
        var facts = statvfs()
        let directory = (file as NSString).deletingLastPathComponent
        guard statvfs(directory.isEmpty ? "." : directory, &facts) == 0 else { return nil }
        let (bytes, isOver) = UInt64(facts.f_bavail).multipliedReportingOverflow(by: UInt64(facts.f_frsize))
        return isOver ? nil : bytes
    }
}
