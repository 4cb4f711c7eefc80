package import Foundation

/// Reads Linux's `/proc`; results are `nil` or empty without it.
package enum ProcessFiles {
    private static let largest = 1 << 20

    package static var exist: Bool { access("/proc/self/fd", R_OK) == 0 && access("/proc/self/stat", R_OK) == 0 }

    package static func content(_ path: String) -> [UInt8]? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var content = [UInt8](repeating: 0, count: 16_384)
        var length = 0
        while length < largest {
            if length == content.count { content.append(contentsOf: repeatElement(0, count: length)) }
            let count = content.withUnsafeMutableBytes { buffer in
                Foundation.read(file, buffer.baseAddress?.advanced(by: length), buffer.count - length)
            }
            if count < 0, errno == EINTR { continue }
            if count <= 0 { break }
            length += count
        }
        content.removeLast(content.count - length)
        return content
    }

    package static func all() -> [pid_t] {
        var processes: [pid_t] = []
        forEachName(in: "/proc") { _, name in
            if let pid = number(name) { processes.append(pid_t(truncatingIfNeeded: pid)) }
        }
        return processes
    }

    package static var newest: Substring? {
        content("/proc/loadavg").flatMap { String(decoding: $0, as: UTF8.self).split(separator: " ").last }
    }

    package static func parent(of pid: pid_t) -> pid_t? {
        // The program's name in parentheses may contain parentheses and spaces.
        guard let stat = content("/proc/\(pid)/stat"), let end = stat.lastIndex(of: UInt8(ascii: ")")) else {
            return nil
        }
        let fields = stat[(end + 1)...].split(separator: UInt8(ascii: " "))
        return fields.count > 1 ? pid_t(String(decoding: fields[1], as: UTF8.self)) : nil
    }

    /// `variable` is `NAME=VALUE`.
    package static func has(_ variable: [UInt8], pid: pid_t) -> Bool {
        guard let content = content("/proc/\(pid)/environ") else { return false }
        return content.split(separator: 0).contains { $0.elementsEqual(variable) }
    }

    package static func program(of pid: pid_t) -> String {
        if let path = target(of: "/proc/\(pid)/exe"), let name = path.split(separator: "/").last {
            return name.hasSuffix(" (deleted)") ? String(name.dropLast(10)) : String(name)
        }
        let name = content("/proc/\(pid)/comm").map { String(decoding: $0, as: UTF8.self) } ?? "?"
        return name.trimmingCharacters(in: .newlines)
    }

    package static func forEachSocket(of pid: pid_t, _ body: (UInt64) -> Void) {
        let prefix = Array("socket:[".utf8)
        var target = [CChar](repeating: 0, count: 64)
        forEachName(in: "/proc/\(pid)/fd") { directory, name in
            let length = readlinkat(directory, name, &target, target.count - 1)
            guard length > prefix.count, target.starts(with: prefix.map { CChar(bitPattern: $0) }) else { return }
            target[length] = 0
            let inode = target.withUnsafeBufferPointer { $0.baseAddress.flatMap { number($0 + prefix.count) } }
            if let inode { body(inode) }
        }
    }

    private static func target(of link: String) -> String? {
        var target = [UInt8](repeating: 0, count: 4_096)
        let length = target.withUnsafeMutableBytes { buffer in
            buffer.withMemoryRebound(to: CChar.self) { buffer in
                buffer.baseAddress.map { readlink(link, $0, buffer.count) } ?? -1
            }
        }
        return length > 0 ? String(decoding: target.prefix(length), as: UTF8.self) : nil
    }

    private static func forEachName(in path: String, _ body: (Int32, UnsafePointer<CChar>) -> Void) {
        guard let directory = opendir(path) else { return }
        defer { closedir(directory) }
        let descriptor = dirfd(directory)
        while let entry = readdir(directory) {
            withUnsafePointer(to: &entry.pointee.d_name) { field in
                field.withMemoryRebound(to: CChar.self, capacity: 1) { body(descriptor, $0) }
            }
        }
    }

    private static func number(_ text: UnsafePointer<CChar>) -> UInt64? {
        guard (48...57).contains(text.pointee) else { return nil }
        return UInt64(strtoull(text, nil, 10))
    }
}
