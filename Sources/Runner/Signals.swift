import Dispatch
import Foundation

/// Waits for the user or the system to ask for the end.
public enum Signals {
    /// Waits for SIGINT or SIGTERM.
    ///
    /// A second one ends the process at once.
    public static func waitForStop() async {
        signal(SIGPIPE, SIG_IGN)
        let sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            return DispatchSource.makeSignalSource(signal: number, queue: .global())
        }
        let stream = AsyncStream<Void> { continuation in
            for source in sources {
                source.setEventHandler { continuation.yield() }
                source.resume()
            }
        }
        for await _ in stream { break }
        for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
        for source in sources { source.cancel() }
    }
}
