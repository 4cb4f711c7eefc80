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

    func deliver(_ process: ClientProcess?) {
        for deliver in waiting.withLock({ $0 }) { deliver(process) }
    }
}
