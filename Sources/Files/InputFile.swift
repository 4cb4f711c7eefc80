import Foundation

/// Reads files named by users without blocking on a pipe, terminal or device.
package enum InputFile {
    /// Milliseconds.
    package static let patience: CInt = 5_000

    /// Reads at most `count` bytes. With `takesPipes` a pipe such as `<(…)` is read, unless it is silent for five
    /// seconds.
    package static func contents(
        of path: String,
        atMost count: Int,
        takesPipes: Bool = false,
        patience: CInt = patience
    ) throws(FileError) -> [UInt8] {
        let descriptor = try descriptor(of: path, takesPipes: takesPipes)
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: min(64 << 10, count))
        while bytes.count < count {
            // A regular file is always ready.
            var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if takesPipes, poll(&entry, 1, patience) == 0 {
                let seconds = max(1, patience / 1_000)
                throw FileError(path, "cannot be read: the pipe sent nothing for \(seconds) seconds")
            }
            let got = read(descriptor, &piece, min(piece.count, count - bytes.count))
            if got == 0 { break }
            if got > 0 {
                bytes += piece[..<got]
            } else if errno != EINTR, errno != EAGAIN {
                throw FileError(path, "cannot be read", errno: errno)
            }
        }
        return bytes
    }

    /// Opens a file without blocking; the caller closes it.
    package static func descriptor(of path: String, takesPipes: Bool = false) throws(FileError) -> CInt {
        var facts = stat()
        // The file is checked before it is opened, because opening a device may have effects.
        guard stat(path, &facts) == 0 else { throw FileError(path, "cannot be read", errno: errno) }
        try check(path, facts, takesPipes)
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard descriptor >= 0 else { throw FileError(path, "cannot be read", errno: errno) }
        do throws(FileError) {
            guard fstat(descriptor, &facts) == 0 else { throw FileError(path, "cannot be read", errno: errno) }
            try check(path, facts, takesPipes)
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    package static func isPipe(_ path: String) -> Bool {
        var facts = stat()
        return stat(path, &facts) == 0 && FileKind(facts) == .pipe
    }

    private static func check(_ path: String, _ facts: stat, _ takesPipes: Bool) throws(FileError) {
        let kind = FileKind(facts)
        if kind == .file || kind == .pipe && takesPipes { return }
        throw FileError(path, "cannot be read: it is \(kind.rawValue), not a file", .noFile)
    }
}
