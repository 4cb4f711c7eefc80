internal import COpenSSL

/// The sessions of the upstream leg that can be resumed: the latest of each kind of connection.
final class TLSSessionCache {
    struct Key: Hashable {
        var host: HostName
        var caller: String
        var verification: TLSVerification
        var isLegacy: Bool
        /// The fingerprint of the certificate that we show.
        var identity: String?
    }

    /// Owns one reference to a session.
    private final class Handle {
        let pointer: OpaquePointer
        init(owning pointer: OpaquePointer) { self.pointer = pointer }
        deinit { SSL_SESSION_free(pointer) }
    }

    private var sessions: RecencyCache<Key, Handle>

    init(capacity: Int) { sessions = RecencyCache(capacity: capacity) }

    /// Takes over the caller's reference.
    func store(_ session: OpaquePointer, for key: Key) { sessions.store(Handle(owning: session), for: key) }

    func forget(_ key: Key) { sessions.removeValue(for: key) }

    func offer(_ key: Key, by ssl: OpaquePointer) {
        guard let session = sessions.value(for: key) else { return }
        if SSL_SESSION_is_resumable(session.pointer) == 1 {
            SSL_set_session(ssl, session.pointer)
        } else {
            forget(key)
        }
    }
}

/// One connection's place in the cache.
struct TLSResumption {
    var cache: TLSSessionCache
    var key: TLSSessionCache.Key

    /// Takes over the caller's reference.
    func remember(_ session: OpaquePointer) { cache.store(session, for: key) }

    func forget() { cache.forget(key) }
}
