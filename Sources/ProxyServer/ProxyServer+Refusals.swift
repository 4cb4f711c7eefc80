import Synchronization

extension ProxyServer {
    /// Has a host decrypted again for the clients that refused our certificate for it, from their next connection on; at
    /// one port, or at all where that is `nil`.
    ///
    /// - Returns: how many clients that is for, each with each port counted; 0 where none had refused.
    package func decryptAgain(_ host: String, port: Int?) -> Int {
        shared.refusals.withLock { $0.forget(host: host, port: port).count }
    }

    /// Stops or starts verifying the certificates of a host, for connections that are made from now on; `nil` for whichever
    /// is not so now.
    ///
    /// - Returns: whether they are verified then.
    package func setVerified(_ host: String, _ isVerified: Bool?) -> Bool {
        shared.setVerified(host.lowercased(), isVerified)
    }

    /// The hosts that are not decrypted for some client because it refused our certificate, with their ports, in order.
    package var undecryptedHosts: [String] {
        let pairs = shared.refusals.withLock { $0.undecrypted }
        return Set(pairs.map(Undecrypted.place)).sorted()
    }
}
