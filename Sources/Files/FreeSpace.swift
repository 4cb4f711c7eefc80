import Foundation

package enum FreeSpace {
    /// For a user without privileges; `nil` if unknown.
    package static func bytes(beside file: String) -> UInt64? {
        var facts = statvfs()
        let directory = (file as NSString).deletingLastPathComponent
        guard statvfs(directory.isEmpty ? "." : directory, &facts) == 0 else { return nil }
        let (bytes, isOver) = UInt64(facts.f_bavail).multipliedReportingOverflow(by: UInt64(facts.f_frsize))
        return isOver ? nil : bytes
    }
}
