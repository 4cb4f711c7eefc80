package import HTTPModel
package import NIOCore

/// Knows which process of this machine made a connection to the proxy.
package protocol ClientProcessSource: Sendable {
    /// Looks up the process with the client's end of a connection; must not wait.
    ///
    /// `deliver` is called on any thread once it is known. It is never called for clients on other machines, for a
    /// process that cannot be found, or where there is too much to look up.
    func find(
        client: SocketAddress,
        proxy: SocketAddress,
        deliver: @escaping @Sendable (ClientProcess) -> Void
    )
}

/// Who is at the other end of a client's connection, as far as that is known by now; only for its event loop.
final class ClientIdentity {
    private(set) var process: ClientProcess?
    /// The exchanges that run without knowing it, to be told.
    private var unaware: [ObjectIdentifier: Exchange] = [:]

    /// Asks for the process; the answer comes later, if at all.
    func ask(_ source: any ClientProcessSource, for channel: any Channel) {
        guard let client = channel.remoteAddress, let proxy = channel.localAddress else { return }
        let eventLoop = channel.eventLoop
        let identity = NIOLoopBound(self, eventLoop: eventLoop)
        source.find(client: client, proxy: proxy) { process in
            eventLoop.execute { identity.value.take(process) }
        }
    }

    /// An exchange begins whose record has what is known by now.
    func began(_ exchange: Exchange) {
        if process == nil { unaware[ObjectIdentifier(exchange)] = exchange }
    }

    func ended(_ exchange: Exchange) { unaware[ObjectIdentifier(exchange)] = nil }

    private func take(_ process: ClientProcess) {
        self.process = process
        let exchanges = unaware
        unaware = [:]
        for exchange in exchanges.values { exchange.clientIdentified(process) }
    }
}
