import Synchronization

extension ProxyServer {
    /// Decrypts a host again for the clients that refused Sluice's certificate for it, from their next connection on;
    /// at one port, or at all if `port` is `nil`.
    ///
    /// - Returns: how many clients, counted for each port.
    package func decryptAgain(_ host: String, port: Int?) -> Int {
        shared.refusals.withLock { $0.forget(host: host, port: port).count }
    }

    /// Stops or starts verifying the certificates of a host for new connections; `nil` to toggle.
    ///
    /// - Returns: whether they are now verified.
    package func setVerified(_ host: String, _ isVerified: Bool?) -> Bool {
        shared.setVerified(host.lowercased(), isVerified)
    }

    /// Hosts with ports that are not decrypted for some client because it refused Sluice's certificate, sorted.
    package var undecryptedHosts: [String] {
        let pairs = shared.refusals.withLock { $0.undecrypted }
        return Set(pairs.map(Undecrypted.place)).sorted()
    }
}
