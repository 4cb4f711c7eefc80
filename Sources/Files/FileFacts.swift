package import Foundation

package struct FileFacts: Hashable, Sendable {
    package struct Identity: Hashable, Sendable {
        package var device: UInt64
        package var number: UInt64
    }

    package var identity: Identity
    package var size: Int64
    package var isDirectory: Bool
    package var isRegular: Bool
    package var owner: uid_t
    package var isOpenToOthers: Bool
    /// Microseconds since 1970.
    package var writtenAt: Int64
    /// When the contents or the permissions changed last, in microseconds since 1970.
    package var changedAt: Int64
    /// `false` for an open file that was deleted.
    package var hasName: Bool

    /// Whether the path may lead to a file. True if that is unknown, for example without access to the folder.
    package static func mayLead(_ path: String, to identity: Identity) -> Bool {
        if let facts = FileFacts(path: path) { return facts.identity == identity }
        return errno != ENOENT && errno != ENOTDIR
    }

    /// `nil` if it is missing or inaccessible.
    package init?(path: String) { self.init { stat(path, &$0) } }

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
        let (written, changed) = (status.st_mtimespec, status.st_ctimespec)
        #else
        let (written, changed) = (status.st_mtim, status.st_ctim)
        #endif
        (writtenAt, changedAt) = (FileFacts.microseconds(written), FileFacts.microseconds(changed))
        hasName = status.st_nlink > 0
    }

    private static func microseconds(_ time: timespec) -> Int64 {
        // Some file systems accept any number.
        min(max(Int64(time.tv_sec), -(1 << 40)), 1 << 40) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }
}
