import Foundation

/// What the file system says about a file.
struct FileFacts {
    /// Which file it is, whatever it is called.
    struct Identity: Hashable, Sendable {
        var device: UInt64
        var number: UInt64
    }

    var identity: Identity
    var size: Int64
    var isDirectory: Bool
    var isRegular: Bool
    /// The user whose file it is.
    var owner: uid_t
    /// Whether others than its owner may read or write it.
    var isOpenToOthers: Bool
    /// When it was written last: microseconds since 1970.
    var writtenAt: Int64
    /// Whether it has a name; a file that was removed lives on as long as it is open.
    var hasName: Bool

    /// Asks about a path; `nil` where there is nothing, or nothing may be known.
    init?(path: String) { self.init { stat(path, &$0) } }

    /// Asks about a path, and about a link itself where it is one.
    init?(link path: String) { self.init { lstat(path, &$0) } }

    init?(descriptor: CInt) { self.init { fstat(descriptor, &$0) } }

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
        writtenAt = Int64(written.tv_sec) * 1_000_000 + Int64(written.tv_nsec) / 1_000
        hasName = status.st_nlink > 0
    }
}

/// How many bytes may still be written to the disk of a file or a directory; `nil` where that is not known.
func freeSpace(beside path: String) -> Int64? {
    var facts = statvfs()
    let parent = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
    guard statvfs(parent, &facts) == 0 else { return nil }
    let (bytes, overflows) = Int64(clamping: facts.f_bavail).multipliedReportingOverflow(by: Int64(facts.f_frsize))
    return overflows ? .max : bytes
}

/// Microseconds since 1970.
func wallClock() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
}
