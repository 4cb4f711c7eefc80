import HTTPModel
import NIOCore
import ProxyServer
import Synchronization

/// Knows the process of a client when the test says so.
final class LateSource: ClientProcessSource {
    private let waiting = Mutex<[@Sendable (ClientProcess?) -> Void]>([])

    func find(client: SocketAddress, proxy: SocketAddress, deliver: @escaping @Sendable (ClientProcess?) -> Void) {
        waiting.withLock { $0.append(deliver) }
    }

    /// Whether clients that send no more have closed their end, and how often that was asked.
    let closed = Atomic(false)
    let asked = Atomic(0)

    func hasClosed(client: SocketAddress, proxy: SocketAddress) -> Bool {
        asked.wrappingAdd(1, ordering: .relaxed)
        return closed.load(ordering: .relaxed)
    }

    func deliver(_ process: ClientProcess?) {
        for deliver in waiting.withLock({ $0 }) { deliver(process) }
    }
}
