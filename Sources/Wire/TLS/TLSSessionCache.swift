internal import COpenSSL
internal import HTTPModel

/// Sessions of the upstream leg to resume; the latest one for each key.
final class TLSSessionCache {
    struct Key: Hashable {
        var host: HostName
        var caller: String
        var verification: TLSVerification
        var isLegacy: Bool
        var identity: String?
    }

    private final class Handle {
        let pointer: OpaquePointer
        /// The server's request for our certificate in the session's handshake.
        let certificate: ClientCertificateDetails?

        init(owning pointer: OpaquePointer, _ certificate: ClientCertificateDetails?) {
            self.pointer = pointer
            self.certificate = certificate
        }

        deinit { SSL_SESSION_free(pointer) }
    }

    private var sessions: RecencyCache<Key, Handle>

    init(capacity: Int) { sessions = RecencyCache(capacity: capacity) }

    func store(_ session: OpaquePointer, _ certificate: ClientCertificateDetails?, for key: Key) {
        sessions.store(Handle(owning: session, certificate), for: key)
    }

    func forget(_ key: Key) { sessions.removeValue(for: key) }

    /// Offers the server a session; returns its earlier request for our certificate.
    func offer(_ key: Key, by ssl: OpaquePointer) -> ClientCertificateDetails? {
        guard let session = sessions.value(for: key) else { return nil }
        guard SSL_SESSION_is_resumable(session.pointer) == 1 else {
            forget(key)
            return nil
        }
        SSL_set_session(ssl, session.pointer)
        return session.certificate
    }
}
