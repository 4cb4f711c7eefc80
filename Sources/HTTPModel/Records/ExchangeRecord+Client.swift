/// What is known of the client.
extension ExchangeRecord {
    /// How the listener took it, as `--mode` writes it; `nil` where Sluice did not see it pass.
    package var mode: String? { extras.listeningMode ?? (extras.origin == nil ? "regular" : nil) }

    /// Whether the client was on this machine, and what program it was was not found out: it had gone before it was looked
    /// up, or is another user's.
    package var isProcessUnknown: Bool {
        guard extras.process == nil, extras.origin == nil, let clientAddress else { return false }
        return clientAddress.hasPrefix("127.") || clientAddress.hasPrefix("[::1]:")
    }

    /// Whether the client refused the certificate, or is passed undecrypted since it did.
    package var isByUntrustingClient: Bool {
        switch kind {
        case .failedHandshake: failure?.code == .clientTLS
        case .tunnel: flags.contains(.certificateRefused)
        default: false
        }
    }
}
