internal import Files
internal import Foundation
internal import NIOCore

enum CertificateFiles {
    /// Protects from `--ca /dev/zero`.
    private static let maximumSize = 16 << 20

    static func contentIfPresent(of path: String, takesPipes: Bool = false) throws(CertificateError) -> [UInt8]? {
        do throws(FileError) {
            let content = try InputFile.contents(of: path, atMost: maximumSize + 1, takesPipes: takesPipes)
            if content.count <= maximumSize { return content }
        } catch {
            if error.cause == .missing { return nil }
            throw CertificateError(path: path, reason: error.reason, advice: "Check the path and its permissions.")
        }
        throw CertificateError(path: path, reason: "is too large for a certificate file")
    }

    static func content(of path: String, takesPipes: Bool = false) throws(CertificateError) -> [UInt8] {
        guard let content = try contentIfPresent(of: path, takesPipes: takesPipes) else {
            throw CertificateError(path: path, reason: "no such file", advice: "Check the path.")
        }
        return content
    }

    /// Creates a directory and those above it; only this user has access to it (0700).
    static func makePrivateDirectory(_ path: String) throws(CertificateError) {
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

    static func restrict(_ path: String, to mode: mode_t) throws(CertificateError) {
        var information = stat()
        guard stat(path, &information) == 0 else { throw failure(path, "cannot be examined", nil) }
        if information.st_mode & 0o777 & ~mode == 0 { return }
        guard chmod(path, mode) == 0 else {
            let advice = "It contains or protects a private key: only you should have access. Change its owner or mode."
            throw failure(path, "others have access, and the permissions cannot be changed", advice)
        }
    }

    /// Creates a private file unless one of that name exists; returns whether it did. The content is on disk before the
    /// name appears, so of two processes one wins and the other finds a whole file.
    static func createSecret(_ path: String, _ content: [UInt8]) throws(CertificateError) -> Bool {
        try write(path, content, isSecret: true) { output throws(FileError) in try output.finishUnlessThere() }
    }

    /// Atomically.
    static func replace(_ path: String, _ content: [UInt8]) throws(CertificateError) {
        try write(path, content, isSecret: false) { output throws(FileError) in try output.finish() }
    }

    private static func write<Result>(
        _ path: String,
        _ content: [UInt8],
        isSecret: Bool,
        _ finish: (OutputFile) throws(FileError) -> Result
    ) throws(CertificateError) -> Result {
        do throws(FileError) {
            let output = try OutputFile(path, isSecret: isSecret)
            try output.write(ByteBuffer(bytes: content))
            return try finish(output)
        } catch {
            let advice = "Check the permissions of the directory and the space on the disk; it must support hard links."
            throw CertificateError(path: path, reason: error.reason, advice: advice)
        }
    }

    /// Whether a directory has certificate files that are named by the hash of the subject (`c_rehash`).
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

    /// Without the domain.
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

    private static func failure(_ path: String, _ what: String, _ advice: String?) -> CertificateError {
        CertificateError(path: path, reason: "\(what) (\(String(cString: strerror(errno))))", advice: advice)
    }
}
