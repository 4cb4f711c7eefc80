import Files
import Foundation
import Synchronization

/// Reports changed files like ``FileWatch``, by polling. Polling works on every file system and with every editor.
final class FileWatcher: Sendable {
    private let task: Task<Void, Never>
    private let next: Next

    /// The files to watch from the next poll on; `nil` keeps the current files.
    private final class Next: Sendable {
        let paths = Mutex<[String]?>(nil)
    }

    /// Any change after this call is reported. The files need not exist. `tick` waits until the next poll; `false` ends
    /// the watch. `onChange` returns the files to watch from then on; no file is polled until it returns.
    init(
        _ paths: [String],
        tick: @escaping @Sendable () async -> Bool = { (try? await Task.sleep(for: .milliseconds(300))) != nil },
        onChange: @escaping @Sendable () async -> [String]
    ) {
        func look(_ path: String) -> FileFacts? { FileFacts(path: path) }
        let watch = FileWatch(paths, look)
        let next = Next()
        self.next = next
        task = Task(priority: .utility) {
            var watch = watch
            while await tick(), !Task.isCancelled {
                if let paths = next.paths.withLock({ $0.take() }) { watch.watch(paths, look) }
                guard watch.poll(look) else { continue }
                watch.watch(await onChange(), look)
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
}
