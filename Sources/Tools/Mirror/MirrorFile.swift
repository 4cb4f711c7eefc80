import Content
import ExchangeCore
import Foundation
import NIOCore
import Rules
import Synchronization

/// A response that is written to a file of a mirror. It is written under a temporary name, and gets its own when it is
/// complete; an incomplete one is removed. All methods block and are called on other threads, one at a time.
final class MirrorFile: Sendable {
    struct Description: Sendable {
        /// The codings that are undone in the file.
        var codings: [ContentCoding] = []
        /// The sidecar with the facts that map-local cannot derive from the name; `nil` if none is needed.
        var sidecar: String?

        /// The line of a sidecar that says which codings the file's bytes have.
        static func line(of codings: [ContentCoding]) -> String {
            "Content-Encoding: \(codings.map(\.description).joined(separator: ", "))\n"
        }
    }

    private struct State: ~Copyable {
        let directory: OpenFile
        /// What gets the file's name, and its temporary name.
        var file: OpenFile
        var temporaryName: String
        var decoder: ContentDecoder?
        /// The body as it comes, for the case that it is too large without its coding; and that file's temporary name.
        var received: OpenFile?
        var receivedName: String?
        /// Why the file has the body with its content coding; `nil` if it has not.
        var excess: DecodingProblem?
        var isPlaced = false

        deinit {
            if !isPlaced { unlinkat(directory.descriptor, temporaryName, 0) }
            if let receivedName { unlinkat(directory.descriptor, receivedName, 0) }
        }

        /// Writes bytes of the body, decoded if its coding is removed.
        func write(_ bytes: ByteBuffer) -> InterruptionError? {
            guard let decoder else { return bytes.withUnsafeReadableBytes { file.write($0).map { .disk($0) } } }
            if let error = bytes.withUnsafeReadableBytes({ received?.write($0) }) { return .disk(error) }
            var failure: InterruptionError?
            decoder.decode(bytes) { piece in
                if failure == nil { failure = file.write(piece).map { .disk($0) } }
            }
            return failure ?? decoder.problem.map { .coding($0) }
        }

        /// Continues with the received body instead of the decoded one, and why; returns whether it is complete.
        mutating func keepReceived(_ excess: DecodingProblem) -> Bool {
            guard let received = received.take(), let name = receivedName.take() else { return false }
            unlinkat(directory.descriptor, temporaryName, 0)
            file = received
            (temporaryName, decoder, self.excess) = (name, nil, excess)
            return true
        }
    }

    private let root: String
    private let names: MirrorNames
    private let description: Description
    private let state = Mutex<State?>(nil)
    /// Set once nothing more is to be written.
    private let hasEnded = Atomic(false)

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
                let name = MirrorFile.temporaryName()
                let file = try OpenFile(creating: name, in: directory)
                var started = State(directory: directory, file: file, temporaryName: name)
                if !description.codings.isEmpty {
                    let receivedName = MirrorFile.temporaryName()
                    started.received = try OpenFile(creating: receivedName, in: started.directory)
                    started.receivedName = receivedName
                    let (codings, limit) = (description.codings, ContentDecoder.mostDecoded)
                    started.decoder = ContentDecoder(codings: codings, limit: limit, growth: .bounded)
                }
                state = consume started
            }
        } catch {
            hasEnded.store(true, ordering: .relaxed)
            throw error
        }
    }

    private static func temporaryName() -> String {
        ".sluice-\(String(UInt64.random(in: .min ... .max), radix: 16)).part"
    }

    /// Writes bytes of the body decoded; if that becomes too large, the file continues with the received body.
    func write(_ bytes: ByteBuffer) throws(InterruptionError) {
        let failure = state.withLock { state -> InterruptionError? in
            let failure = state?.write(bytes)
            guard case .coding(let problem)? = failure, problem.kind == .stoppedAtLimit,
                state?.keepReceived(problem) == true
            else { return failure }
            return nil
        }
        guard let failure else { return }
        discard()
        throw failure
    }

    /// The saved file's name in its directory, and why it has the body with its coding; `nil` if it has not.
    typealias Saved = (name: String, excess: DecodingProblem?)

    /// Renames the file, replacing an earlier one; `nil` if there is none.
    func place() throws(InterruptionError) -> Saved? {
        defer { discard() }
        return try state.withLock { state throws(InterruptionError) -> Saved? in
            guard state != nil else { return nil }
            if let decoder = state?.decoder {
                decoder.finish()
                if let problem = decoder.problem { throw .coding(problem) }
            }
            do throws(SystemError) { return try place(&state) } catch { throw .disk(error) }
        }
    }

    private func place(_ state: inout State?) throws(SystemError) -> Saved? {
        guard let directory = state?.directory.descriptor, let temporaryName = state?.temporaryName else { return nil }
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
        let excess = state?.excess
        let saved = Saved(name: name, excess: excess)
        let coding = excess == nil ? nil : Description.line(of: description.codings)
        let lines = [description.sidecar, coding].compactMap(\.self).joined()
        guard !lines.isEmpty, let parent = state?.directory.duplicate() else { return saved }
        do throws(SystemError) {
            let file = try OpenFile(creating: sidecarName, in: parent)
            if let error = Array(lines.utf8).withUnsafeBytes({ file.write($0) }) { throw error }
        } catch {
            // Another response to the same URL ended at the same time.
            if error.code != EEXIST { throw error }
        }
        return saved
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

    /// Renames a file that has a directory's name; a link stays and is an error.
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
    /// Makes a file if there is no entry of its name; it may hold secrets, so only the user can read it.
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
            let count = systemWrite(descriptor, rest.baseAddress, rest.count)
            if count < 0 {
                if errno == EINTR { continue }
                return SystemError(errno)
            }
            rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
        }
        return nil
    }
}

/// `write(2)`, which the method hides.
private func systemWrite(_ descriptor: CInt, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
