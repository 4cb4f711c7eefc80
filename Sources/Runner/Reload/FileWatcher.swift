import Foundation
import Synchronization

/// Reports changed files as ``FileWatch`` does, by polling, which works on every file system and with every editor.
final class FileWatcher: Sendable {
    private let task: Task<Void, Never>
    private let next: Next

    /// The files from the next poll on; `nil` for the same.
    private final class Next: Sendable {
        let paths = Mutex<[String]?>(nil)
    }

    /// Any change after this call is reported. The files need not exist. `onChange` returns the files to watch from then
    /// on; no file is polled until it returns.
    convenience init(_ paths: [String], onChange: @escaping @Sendable () async -> [String]) {
        self.init(paths, tick: { (try? await Task.sleep(for: .milliseconds(300))) != nil }, onChange: onChange)
    }

    /// `tick` waits until the next poll; `false` ends the watching.
    init(
        _ paths: [String],
        tick: @escaping @Sendable () async -> Bool,
        onChange: @escaping @Sendable () async -> [String]
    ) {
        let watch = FileWatch(paths, FileWatcher.look)
        let next = Next()
        self.next = next
        task = Task(priority: .utility) {
            var watch = watch
            while await tick(), !Task.isCancelled {
                if let paths = next.paths.withLock({ $0.take() }) { watch.watch(paths, FileWatcher.look) }
                guard watch.poll(FileWatcher.look) else { continue }
                watch.watch(await onChange(), FileWatcher.look)
            }
        }
    }

    deinit { task.cancel() }

    /// From the next poll on; files that are watched already keep their states.
    func watch(_ paths: [String]) { next.paths.withLock { $0 = paths } }

    /// Waits for a running `onChange`.
    func stop() async {
        task.cancel()
        await task.value
    }

    private static func look(_ path: String) -> FileWatch.Facts? {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        #if canImport(Darwin)
        let (modified, changed) = (facts.st_mtimespec, facts.st_ctimespec)
        #else
        let (modified, changed) = (facts.st_mtim, facts.st_ctim)
        #endif
        return FileWatch.Facts(
            modifiedAt: nanoseconds(modified),
            changedAt: nanoseconds(changed),
            size: Int64(facts.st_size),
            number: UInt64(facts.st_ino),
            device: UInt64(truncatingIfNeeded: facts.st_dev)
        )
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
