import Content
import ExchangeCore
import NIOCore
import Rules
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A response that is written to a file of a mirror.
///
/// It is written under a temporary name, and gets its own when it is complete; an incomplete one is removed. All methods
/// block and are called on other threads, one at a time.
final class MirrorFile: Sendable {
    struct Description: Sendable {
        /// The codings that are undone in the file.
        var codings: [ContentCoding] = []
        /// The text of the sidecar, which says what map-local cannot see from the name; `nil` where none is needed.
        var sidecar: String?
    }

    private struct State: ~Copyable {
        let directory: OpenFile
        let file: OpenFile
        let temporaryName: String
        var decoder: ContentDecoder?
        var isPlaced = false

        deinit { if !isPlaced { unlinkat(directory.descriptor, temporaryName, 0) } }
    }

    private let root: String
    private let names: MirrorNames
    private let description: Description
    private let state = Mutex<State?>(nil)
    /// Set once nothing more is to be written.
    private let hasEnded = Atomic(false)

    /// The most bytes of a file, decoded.
    private static let limit = 8 << 30

    init(root: String, names: MirrorNames, description: Description) {
        (self.root, self.names, self.description) = (root, names, description)
    }

    /// Whether there is no use in writing any more.
    var isOver: Bool { hasEnded.load(ordering: .relaxed) }

    // MARK: - Writing

    /// Makes the directories and the file.
    func open() throws(SystemError) {
        do throws(SystemError) {
            try state.withLock { state throws(SystemError) in
                let directory = try WritableTree(root: root).makeDirectory(names.directories)
                let name = ".sluice-\(String(UInt64.random(in: .min ... .max), radix: 16)).part"
                let file = try OpenFile(creating: name, in: directory)
                let codings = description.codings
                let decoder = codings.isEmpty ? nil : ContentDecoder(codings: codings, limit: MirrorFile.limit)
                state = State(directory: directory, file: file, temporaryName: name, decoder: decoder)
            }
        } catch {
            hasEnded.store(true, ordering: .relaxed)
            throw error
        }
    }

    /// Writes some bytes of the body, without their content coding.
    func write(_ bytes: ByteBuffer) throws(InterruptionError) {
        let failure = state.withLock { state -> InterruptionError? in
            guard let decoder = state?.decoder else {
                return bytes.withUnsafeReadableBytes { state?.file.write($0).map { .disk($0) } }
            }
            var failure: InterruptionError?
            decoder.decode(bytes) { piece in
                if failure == nil { failure = state?.file.write(piece).map { .disk($0) } }
            }
            return failure ?? decoder.problem.map { .coding($0) }
        }
        guard let failure else { return }
        discard()
        throw failure
    }

    /// Gives the file its name, and so replaces an earlier one.
    func place() throws(InterruptionError) {
        defer { discard() }
        try state.withLock { state throws(InterruptionError) in
            guard state != nil else { return }
            if let decoder = state?.decoder {
                decoder.finish()
                if let problem = decoder.problem { throw .coding(problem) }
            }
            do throws(SystemError) { try place(&state) } catch { throw .disk(error) }
        }
    }

    private func place(_ state: inout State?) throws(SystemError) {
        guard let directory = state?.directory.descriptor, let temporaryName = state?.temporaryName else { return }
        var name = names.file
        do throws(SystemError) {
            _ = try SystemError.check { renameat(directory, temporaryName, directory, name) }
        } catch {
            guard [EISDIR, ENOTEMPTY, EEXIST].contains(error.code) else { throw error }
            name += MirrorNames.besideDirectory
            _ = try SystemError.check { renameat(directory, temporaryName, directory, name) }
        }
        state?.isPlaced = true
        let sidecarName = name + Sidecar.suffix
        unlinkat(directory, sidecarName, 0)
        guard let sidecar = description.sidecar, let parent = state?.directory.duplicate() else { return }
        do throws(SystemError) {
            let file = try OpenFile(creating: sidecarName, in: parent)
            if let error = Array(sidecar.utf8).withUnsafeBytes({ file.write($0) }) { throw error }
        } catch {
            // Another response to the same URL ended at the same time.
            if error.code != EEXIST { throw error }
        }
    }

    /// Removes the file, unless it has its name.
    func discard() {
        hasEnded.store(true, ordering: .relaxed)
        state.withLock { $0 = nil }
    }

    /// Why a response is not saved after all.
    enum InterruptionError: Error, CustomStringConvertible {
        case disk(SystemError)
        case coding(DecodingProblem)

        var description: String {
            switch self {
            case .disk(let error): "\(error)"
            case .coding(let problem): "its content coding cannot be removed: \(problem)"
            }
        }
    }
}

/// A directory in which a mirror makes others; links in it are not followed.
private struct WritableTree {
    let root: String

    /// Opens a directory below the root, making what is missing.
    func makeDirectory(_ names: [String]) throws(SystemError) -> OpenFile {
        try makeRoot()
        var here = try OpenFile(directory: root)
        for name in names { here = try enter(name, here) }
        return here
    }

    private func makeRoot() throws(SystemError) {
        var path = root.hasPrefix("/") ? "/" : ""
        for part in root.split(separator: "/") {
            path += part + "/"
            if mkdir(path, 0o700) != 0, errno != EEXIST, errno != EISDIR, FileStatus(path: path)?.kind != .directory {
                throw SystemError(errno)
            }
        }
    }

    private func enter(_ name: String, _ directory: borrowing OpenFile) throws(SystemError) -> OpenFile {
        // Others may make it, or a file of its name, at the same time.
        for _ in 0..<4 {
            do throws(SystemError) {
                return try OpenFile(name, in: directory, isDirectory: true)
            } catch {
                switch error.code {
                case ENOENT: break
                case ENOTDIR: try moveAside(name, directory)
                default: throw error
                }
            }
            if mkdirat(directory.descriptor, name, 0o700) != 0, errno != EEXIST { throw SystemError(errno) }
        }
        return try OpenFile(name, in: directory, isDirectory: true)
    }

    /// Makes room for a directory where a file has its name; a link stays and is an error.
    private func moveAside(_ name: String, _ directory: borrowing OpenFile) throws(SystemError) {
        guard try directory.status(of: name).kind == .file else { throw SystemError(ENOTDIR) }
        let parent = directory.descriptor
        let aside = name + MirrorNames.besideDirectory
        _ = try SystemError.check { renameat(parent, name, parent, aside) }
        unlinkat(parent, aside + Sidecar.suffix, 0)
        renameat(parent, name + Sidecar.suffix, parent, aside + Sidecar.suffix)
    }
}

extension OpenFile {
    /// Makes a file where there is no entry of its name; it may hold secrets, so only the user can read it.
    fileprivate init(creating name: String, in directory: borrowing OpenFile) throws(SystemError) {
        let (parent, flags) = (directory.descriptor, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC)
        self.init(owning: try SystemError.check { openat(parent, name, flags, 0o600) })
    }

    /// A duplicate; `nil` where too many files are open.
    fileprivate func duplicate() -> OpenFile? {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        return copy >= 0 ? OpenFile(owning: copy) : nil
    }

    /// Writes all bytes; returns what went wrong.
    fileprivate func write(_ bytes: UnsafeRawBufferPointer) -> SystemError? {
        var rest = bytes
        while !rest.isEmpty {
            #if canImport(Darwin)
            let count = Darwin.write(descriptor, rest.baseAddress, rest.count)
            #elseif canImport(Musl)
            let count = Musl.write(descriptor, rest.baseAddress, rest.count)
            #else
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            #endif
            if count < 0 {
                if errno == EINTR { continue }
                return SystemError(errno)
            }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        }
        return nil
    }
}
