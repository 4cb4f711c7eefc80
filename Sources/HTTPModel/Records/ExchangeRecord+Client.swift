extension ExchangeRecord {
    /// As in `--mode`; `nil` for imported exchanges.
    package var mode: String? { extras.listeningMode ?? (extras.origin == nil ? "regular" : nil) }

    /// Whether the client's program on this machine is unknown: it ended too early, or belongs to another user.
    package var isProcessUnknown: Bool {
        guard extras.process == nil, extras.origin == nil, let clientAddress else { return false }
        return clientAddress.hasPrefix("127.") || clientAddress.hasPrefix("[::1]:")
    }

    /// Whether the client rejected the certificate, or is passed undecrypted because of that.
    package var isByUntrustingClient: Bool {
        switch kind {
        case .failedHandshake: failure?.code == .clientTLS
        case .tunnel: flags.contains(.certificateRefused)
        default: false
        }
    }
}
