package import Foundation

/// The status of a file.
package struct FileFacts {
    /// Identifies a file by device and number.
    package struct Identity: Hashable, Sendable {
        package var device: UInt64
        package var number: UInt64
    }

    package var identity: Identity
    package var size: Int64
    package var isDirectory: Bool
    package var isRegular: Bool
    package var owner: uid_t
    /// Whether others may read or write it.
    package var isOpenToOthers: Bool
    /// The last change in microseconds since 1970.
    package var writtenAt: Int64
    /// Whether it has a name; a file that was removed lives on as long as it is open.
    package var hasName: Bool

    /// Whether a path may lead to a file: it does, or nobody can tell at present, as where a folder may not be looked
    /// into.
    package static func mayLead(_ path: String, to identity: Identity) -> Bool {
        if let facts = FileFacts(path: path) { return facts.identity == identity }
        return errno != ENOENT && errno != ENOTDIR
    }

    /// Asks about a path; `nil` if there is nothing, or nothing may be known.
    package init?(path: String) { self.init { stat(path, &$0) } }

    /// The status of a link itself.
    package init?(link path: String) { self.init { lstat(path, &$0) } }

    package init?(descriptor: CInt) { self.init { fstat(descriptor, &$0) } }

    private init?(_ ask: (inout stat) -> CInt) {
        var status = stat()
        guard ask(&status) == 0 else { return nil }
        identity = Identity(
            device: UInt64(truncatingIfNeeded: status.st_dev),
            number: UInt64(truncatingIfNeeded: status.st_ino)
        )
        size = Int64(status.st_size)
        isDirectory = status.st_mode & S_IFMT == S_IFDIR
        isRegular = status.st_mode & S_IFMT == S_IFREG
        owner = status.st_uid
        isOpenToOthers = status.st_mode & 0o077 != 0
        #if canImport(Darwin)
        let written = status.st_mtimespec
        #else
        let written = status.st_mtim
        #endif
        // Some file systems keep any number, which a user may set.
        let seconds = min(max(Int64(written.tv_sec), -(1 << 40)), 1 << 40)
        writtenAt = seconds * 1_000_000 + Int64(written.tv_nsec) / 1_000
        hasName = status.st_nlink > 0
    }
}
