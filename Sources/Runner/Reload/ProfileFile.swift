import Foundation
import Stages

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A profile's file on the disk.
enum ProfileFile {
    /// What is in a file; `nil` where there is none.
    ///
    /// - Throws: `ProfileError` where it is there and cannot be read.
    static func text(_ file: String) throws(ProfileError) -> String? {
        guard access(file, F_OK) == 0 else { return nil }
        return try ProfileSource.read(file: file).text
    }

    /// Writes a file whole or not at all; one that is there keeps its mode, and a link goes on leading to it.
    ///
    /// - Throws: ``ControlFailure`` that says why it cannot be written; the file is then as it was.
    static func write(_ text: String, to file: String) throws(ControlFailure) {
        let target = URL(filePath: file).resolvingSymlinksInPath().path
        var facts = stat()
        let mode = stat(target, &facts) == 0 ? facts.st_mode & 0o7777 : 0o644
        let temporary = "\(target).\(getpid()).part"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure(file) }
        let isWritten = write(Array(text.utf8), descriptor) && fchmod(descriptor, mode) == 0 && fsync(descriptor) == 0
        let problem = isWritten ? nil : failure(file)
        close(descriptor)
        if let problem {
            unlink(temporary)
            throw problem
        }
        guard rename(temporary, target) == 0 else {
            let problem = failure(file)
            unlink(temporary)
            throw problem
        }
    }

    private static func write(_ bytes: [UInt8], _ descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func failure(_ file: String) -> ControlFailure {
        ControlFailure("\(file) cannot be written: \(String(cString: strerror(errno))).")
    }
}

/// The system's call, whose name the type has too.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
