import Content
import ExchangeCore
import Foundation
import NIOCore
import Rules
import Synchronization

/// A response that is written to a file of a mirror, under a temporary name until the response is complete. The file of
/// an incomplete response is removed. All methods block; they are called one at a time, not on an event loop.
final class MirrorFile: Sendable {
    struct Description: Sendable {
        /// The content codings that are removed in the file.
        var codings: [ContentCoding] = []
        /// The sidecar's text: what map-local cannot derive from the file's name; `nil` if no sidecar is needed.
        var sidecar: String?

        /// The sidecar's line for the content codings that the file's bytes have.
        static func line(of codings: [ContentCoding]) -> String {
            "Content-Encoding: \(codings.map(\.description).joined(separator: ", "))\n"
        }
    }

    private struct State: ~Copyable {
        let directory: OpenFile
        /// The file that gets the final name, and its temporary name.
        var file: OpenFile
        var temporaryName: String
        var decoder: ContentDecoder?
        /// A second file with the received bytes, used if the decoded body is too large; and its temporary name.
        var received: OpenFile?
        var receivedName: String?
        /// Why the file keeps the content coding; `nil` if the coding was removed.
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

        /// Continues with the file of received bytes because of `excess`; `false` if there is no such file.
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

    /// Whether the file was finished or discarded, so that writing has no effect.
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

    /// Writes bytes of the body, decoded; if the decoded body becomes too large, the received bytes are saved.
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

    /// The saved file's name in its directory, and why it keeps the content coding; `nil` if the coding was removed.
    typealias Saved = (name: String, excess: DecodingProblem?)

    /// Gives the file its final name, replacing an older file; `nil` if no file is open.
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
            // Another response to the same URL created its sidecar at the same time.
            if error.code != EEXIST { throw error }
        }
        return saved
    }

    /// Removes the file, unless it already has its final name.
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

/// The root directory of a mirror; links below it are not followed.
private struct WritableTree {
    let root: String

    /// Opens a directory below the root; missing directories are created.
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
        // Another response may create the directory, or a file with its name, at the same time.
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

    /// Renames a file whose name is needed for a directory. Throws if it is a link, which is never renamed.
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
    /// Creates a file, or throws if the name exists. It may hold secrets, so only the user can read it.
    fileprivate init(creating name: String, in directory: borrowing OpenFile) throws(SystemError) {
        let (parent, flags) = (directory.descriptor, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC)
        self.init(owning: try SystemError.check { openat(parent, name, flags, 0o600) })
    }

    /// A duplicate; `nil` if too many files are open.
    fileprivate func duplicate() -> OpenFile? {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        return copy >= 0 ? OpenFile(owning: copy) : nil
    }

    /// Writes all bytes; returns the error, if any.
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

/// Calls `write(2)`, which the method `write` would hide.
private func systemWrite(_ descriptor: CInt, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
