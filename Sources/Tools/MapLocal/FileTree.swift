import Foundation

/// A directory in which files are looked up by untrusted names: nothing outside it is ever opened.
///
/// A lookup walks from the root one name at a time. Each name is opened relative to its parent directory, never through
/// a link. A link's target is read and walked in the same way, if it is within the tree. So no name leads outside, even
/// if the disk changes during the lookup.
struct FileTree {
    struct Found: ~Copyable {
        let file: OpenFile
        let status: FileStatus
    }

    private let root: String
    private let isCaseSensitive: Bool

    /// More links on one path count as a loop.
    private static let mostLinks = 32

    init(_ root: String, isCaseSensitive: Bool) { (self.root, self.isCaseSensitive) = (root, isCaseSensitive) }

    /// Opens a file or directory by its names; without names the root itself.
    func open(_ names: [String]) throws(LookUpError) -> Found {
        var walk = try Walk.begin(at: root)
        var pending = Array(names.reversed())
        var links = 0
        while let name = pending.popLast() {
            if name.isEmpty || name == "." { continue }
            if name == ".." {
                try walk.ascend()
                continue
            }
            let (entry, status) = try find(name, walk)
            switch status.kind {
            case .directory: try walk.descend(entry)
            case .file:
                guard pending.isEmpty else { throw .notDirectory(entry) }
                return try openFile(entry, walk)
            case .special: throw .special(entry)
            case .link:
                links += 1
                guard links <= FileTree.mostLinks else { throw .tooManyLinks(entry) }
                pending += try walk.follow(entry, root).reversed()
            }
        }
        let directory = walk.release()
        do throws(SystemError) {
            let status = try directory.status()
            return Found(file: directory, status: status)
        } catch {
            throw .unreadable(names.last ?? root, error)
        }
    }

    private func openFile(_ name: String, _ walk: borrowing Walk) throws(LookUpError) -> Found {
        do throws(SystemError) {
            let file = try OpenFile(name, in: walk.here, isDirectory: false)
            let status = try file.status()
            // The file may have been replaced since it was found.
            if status.kind == .file { return Found(file: file, status: status) }
        } catch {
            throw error.isAbsence ? .missing(name) : .unreadable(name, error)
        }
        throw .special(name)
    }

    private func find(_ name: String, _ walk: borrowing Walk) throws(LookUpError) -> (String, FileStatus) {
        do throws(SystemError) {
            let status = try walk.here.status(of: name)
            guard isCaseSensitive, try isOtherwiseWritten(name, status, walk.here) else { return (name, status) }
        } catch {
            guard error.isAbsence else { throw .unreadable(name, error) }
        }
        // The name does not exist, or only in a different case.
        guard let other = entry(like: name, walk.here) else { throw .missing(name) }
        if isCaseSensitive { throw .otherCase(name, other) }
        do throws(SystemError) {
            return (other, try walk.here.status(of: other))
        } catch {
            throw .unreadable(other, error)
        }
    }

    /// Whether a name was found only because the file system ignores case, so that both cases name the same file.
    private func isOtherwiseWritten(
        _ name: String,
        _ status: FileStatus,
        _ directory: borrowing OpenFile
    ) throws(SystemError) -> Bool {
        let lower = name.lowercased()
        let turned = lower == name ? name.uppercased() : lower
        guard turned != name, let other = try? directory.status(of: turned), other.isSame(as: status) else {
            return false
        }
        var isThere = false
        try directory.forEachName { entry in
            isThere = entry == name
            return !isThere
        }
        return !isThere
    }

    /// The entry that differs from a name only in case; the first by code points if there are several.
    private func entry(like name: String, _ directory: borrowing OpenFile) -> String? {
        let lower = name.lowercased()
        var found: String?
        try? directory.forEachName { entry in
            if entry.lowercased() == lower { found = min(found ?? entry, entry) }
            return true
        }
        return found
    }
}

private struct Walk: ~Copyable {
    private let root: OpenFile
    private(set) var here: OpenFile
    /// The directories so far; none of them is a link.
    private var names: [String] = []

    private init(root: consuming OpenFile, here: consuming OpenFile) {
        self.root = root
        self.here = here
    }

    static func begin(at path: String) throws(LookUpError) -> Walk {
        do throws(SystemError) {
            let root = try OpenFile(directory: path)
            let here = try OpenFile(".", in: root, isDirectory: true)
            return Walk(root: root, here: here)
        } catch {
            throw .noRoot(error)
        }
    }

    consuming func release() -> OpenFile { here }

    mutating func descend(_ name: String) throws(LookUpError) {
        do throws(SystemError) {
            here = try OpenFile(name, in: here, isDirectory: true)
        } catch {
            throw error.isAbsence ? .missing(name) : .unreadable(name, error)
        }
        names.append(name)
    }

    mutating func ascend() throws(LookUpError) {
        guard !names.isEmpty else { throw .leadsOut("..") }
        let remaining = names.dropLast()
        try restart()
        for name in remaining { try descend(name) }
    }

    private mutating func restart() throws(LookUpError) {
        names = []
        do throws(SystemError) {
            here = try OpenFile(".", in: root, isDirectory: true)
        } catch {
            throw .noRoot(error)
        }
    }

    /// The names in a link's target; an absolute target must begin with the root's path.
    mutating func follow(_ name: String, _ path: String) throws(LookUpError) -> [String] {
        let target: String
        do throws(SystemError) {
            target = try here.link(name)
        } catch {
            throw .unreadable(name, error)
        }
        guard target.hasPrefix("/") else { return target.split(separator: "/").map(String.init) }
        guard let resolved = realpath(path, nil) else { throw .leadsOut(name) }
        defer { free(resolved) }
        let own = String(cString: resolved)
        guard target == own || target.hasPrefix(own == "/" ? own : own + "/") else { throw .leadsOut(name) }
        try restart()
        return target.dropFirst(own.count).split(separator: "/").map(String.init)
    }
}

/// Why nothing was found.
enum LookUpError: Error, CustomStringConvertible {
    case noRoot(SystemError)
    case missing(String)
    case otherCase(String, String)
    case notDirectory(String)
    case special(String)
    case leadsOut(String)
    case tooManyLinks(String)
    case unreadable(String, SystemError)

    /// Phrased to follow a colon.
    var description: String {
        switch self {
        case .noRoot(let error): "the directory cannot be opened (\(error))"
        case .missing(let name): "there is no '\(name)'"
        case .otherCase(let name, let other): "there is no '\(name)', only '\(other)' (see 'case-sensitive: false')"
        case .notDirectory(let name): "'\(name)' is a file, not a directory"
        case .special(let name): "'\(name)' is neither a file nor a directory"
        case .leadsOut(let name): "'\(name)' is outside the directory"
        case .tooManyLinks(let name): "the link '\(name)' leads in circles"
        case .unreadable(let name, let error): "'\(name)' cannot be read (\(error))"
        }
    }
}
