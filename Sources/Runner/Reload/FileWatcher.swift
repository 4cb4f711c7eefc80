import Foundation
import Synchronization

/// Watches files and tells when they have changed and are quiet again.
///
/// It looks at them every now and then, which works on every file system, and however an editor writes them.
package final class FileWatcher: Sendable {
    private let task: Task<Void, Never>
    /// The files to watch from the next look on, where others were named.
    private let next: Next

    private final class Next: Sendable {
        private let paths = Mutex<[String]?>(nil)

        func put(_ paths: [String]) { self.paths.withLock { $0 = paths } }

        func take() -> [String]? { paths.withLock { $0.take() } }
    }

    /// Begins to watch; what is changed after this call is noticed. The files need not exist.
    ///
    /// `onChange` returns the files to watch from then on. Nothing is looked at until it returns.
    package convenience init(
        _ paths: [String],
        every interval: Duration = .milliseconds(300),
        onChange: @escaping @Sendable () async -> [String]
    ) {
        self.init(paths, tick: { (try? await Task.sleep(for: interval)) != nil }, onChange: onChange)
    }

    /// The same with a clock of the caller's own: `tick` waits until it is time to look, `false` ends the watching.
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
                if let paths = next.take() { watch.watch(paths, FileWatcher.look) }
                guard watch.poll(FileWatcher.look) else { continue }
                watch.watch(await onChange(), FileWatcher.look)
            }
        }
    }

    deinit {
        task.cancel()
    }

    /// Watches these files and no others from the next look on; those it watched already keep what is known of them.
    package func watch(_ paths: [String]) {
        next.put(paths)
    }

    /// Stops watching; a change that is being told is told to its end before this returns.
    package func stop() async {
        task.cancel()
        await task.value
    }

    /// What the file system says about a file; `nil` where it says that there is none.
    private static func look(_ path: String) -> FileWatch.Facts? {
        var facts = stat()
        guard stat(path, &facts) == 0 else { return nil }
        #if canImport(Darwin)
        let time = facts.st_mtimespec
        #else
        let time = facts.st_mtim
        #endif
        return FileWatch.Facts(
            modifiedAt: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec),
            size: Int64(facts.st_size),
            number: UInt64(facts.st_ino),
            device: UInt64(truncatingIfNeeded: facts.st_dev)
        )
    }
}
