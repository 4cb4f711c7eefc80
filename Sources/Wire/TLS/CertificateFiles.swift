#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The few operations on files that certificates need, with errors that say path, reason and what to try.
enum CertificateFiles {
    /// Far more than any certificate file holds; protects from `--ca /dev/zero`.
    private static let maximumSize = 16 << 20

    /// The whole content of a file; `nil` where there is none.
    static func contentIfPresent(of path: String) throws(CertificateFailure) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw failure(path, "cannot be opened", "Check the path and its permissions.")
        }
        defer { close(file) }
        var content: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = read(file, &chunk, chunk.count)
            if count == 0 { return content }
            guard count > 0 else { throw failure(path, "cannot be read", "Check that it is a file.") }
            content.append(contentsOf: chunk[..<count])
            if content.count > maximumSize {
                throw CertificateFailure(path: path, reason: "is too large to be a certificate file")
            }
        }
    }

    /// The whole content of a file that has to be there.
    static func content(of path: String) throws(CertificateFailure) -> [UInt8] {
        guard let content = try contentIfPresent(of: path) else {
            throw CertificateFailure(path: path, reason: "no such file", advice: "Check the path.")
        }
        return content
    }

    /// Creates a directory and those above it; makes it ours alone (0700).
    static func makePrivateDirectory(_ path: String) throws(CertificateFailure) {
        var parent = ""
        let components = path.split(separator: "/", omittingEmptySubsequences: true)
        for (index, component) in components.enumerated() {
            parent += (index > 0 || path.hasPrefix("/") ? "/" : "") + component
            if mkdir(parent, 0o700) == 0 { continue }
            let error = failure(parent, "the directory cannot be created", "Choose a directory that you may write.")
            if !isDirectory(parent) { throw error }
        }
        try restrict(path, to: 0o700)
    }

    /// Takes away what others may do with a file or directory.
    static func restrict(_ path: String, to mode: mode_t) throws(CertificateFailure) {
        var information = stat()
        guard stat(path, &information) == 0 else { throw failure(path, "cannot be examined", nil) }
        if information.st_mode & 0o777 & ~mode == 0 { return }
        guard chmod(path, mode) == 0 else {
            let advice = "It holds or guards a private key: only you should have access. Change its owner or mode."
            throw failure(path, "others have access, and the permissions cannot be changed", advice)
        }
    }

    /// Creates a file with this content unless one of that name is there; says whether it did.
    ///
    /// The content is complete and on disk before the name appears, so of two processes one wins and the other
    /// finds a whole file.
    static func create(_ path: String, _ content: [UInt8], mode: mode_t) throws(CertificateFailure) -> Bool {
        let temporary = try writeTemporary(beside: path, content, mode: mode)
        defer { unlink(temporary) }
        if link(temporary, path) == 0 { return true }
        if errno == EEXIST { return false }
        let advice = "The file system must support hard links; choose another directory."
        throw failure(path, "cannot be created", advice)
    }

    /// Replaces a file's content in one step.
    static func replace(_ path: String, _ content: [UInt8], mode: mode_t) throws(CertificateFailure) {
        let temporary = try writeTemporary(beside: path, content, mode: mode)
        if rename(temporary, path) == 0 { return }
        let error = failure(path, "cannot be replaced", "Check the permissions of the directory.")
        unlink(temporary)
        throw error
    }

    private static func writeTemporary(
        beside path: String,
        _ content: [UInt8],
        mode: mode_t
    ) throws(CertificateFailure) -> String {
        let temporary = "\(path).\(getpid()).\(UInt64.random(in: .min ... .max))"
        let advice = "Check the permissions of the directory and the space on the disk."
        let file = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode)
        guard file >= 0 else { throw failure(temporary, "cannot be created", advice) }
        var written = 0
        var succeeded = true
        while succeeded, written < content.count {
            let count = content[written...].withUnsafeBytes { write(file, $0.baseAddress, $0.count) }
            if count > 0 { written += count } else { succeeded = count < 0 && errno == EINTR }
        }
        succeeded = succeeded && fsync(file) == 0
        let error = failure(temporary, "cannot be written", advice)
        if close(file) != 0 || !succeeded {
            unlink(temporary)
            throw error
        }
        return temporary
    }

    /// Whether a directory has certificates under the hash of their subject (`c_rehash`).
    static func isHashedDirectory(_ path: String) -> Bool {
        guard let directory = opendir(path) else { return false }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let isHashed = withUnsafeBytes(of: &entry.pointee.d_name) { name in
                // Eight hexadecimal digits, then `.0`.
                name.count > 10 && name[8] == 0x2E && name[9] == 0x30 && name[10] == 0
            }
            if isHashed { return true }
        }
        return false
    }

    /// This machine's name, without its domain.
    static var machineName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        let bytes = name.prefix { $0 != 0 && $0 != 0x2E }.map { UInt8(bitPattern: $0) }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isDirectory(_ path: String) -> Bool {
        var information = stat()
        return stat(path, &information) == 0 && information.st_mode & S_IFMT == S_IFDIR
    }

    private static func failure(_ path: String, _ what: String, _ advice: String?) -> CertificateFailure {
        CertificateFailure(path: path, reason: "\(what) (\(String(cString: strerror(errno))))", advice: advice)
    }
}
