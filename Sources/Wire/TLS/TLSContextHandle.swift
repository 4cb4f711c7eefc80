internal import COpenSSL

/// Receives a line for `SSLKEYLOGFILE` (NSS key log format), without a line end.
package typealias TLSKeyLog = @Sendable (String) -> Void

final class TLSContextHandle {
    let pointer: OpaquePointer
    let pipeMethod: CiphertextPipeMethod
    let keyLog: TLSKeyLog?
    let distrusted: DistrustedKeys

    init(
        leg: TLSError.Leg,
        keyLog: TLSKeyLog?,
        distrusted: DistrustedKeys = DistrustedKeys(hashes: [])
    ) throws(TLSError) {
        ERR_clear_error()
        let method = leg == .client ? TLS_server_method() : TLS_client_method()
        guard let pipeMethod = CiphertextPipeMethod(), let pointer = SSL_CTX_new(method) else {
            throw TLSError(leg: leg, cause: .resource(OpenSSLErrors.take().text))
        }
        self.pointer = pointer
        self.pipeMethod = pipeMethod
        self.keyLog = keyLog
        self.distrusted = distrusted
        SSL_CTX_set_options(pointer, sluice_OP_NO_COMPRESSION)
        sluice_SSL_CTX_set_mode(pointer, sluice_MODE_CONNECTION)
        sluice_SSL_CTX_set_min_proto_version(pointer, TLS1_2_VERSION)
        if leg == .upstream {
            sluice_SSL_CTX_set_session_cache_mode(pointer, sluice_CACHE_CLIENT_EXTERNAL)
            SSL_CTX_sess_set_new_cb(pointer) { ssl, session in
                // 1 keeps the reference.
                session.flatMap { TLSSession.of(ssl)?.remember($0) } == true ? 1 : 0
            }
        }
        if keyLog != nil {
            SSL_CTX_set_keylog_callback(pointer) { ssl, line in
                guard let line, let session = TLSSession.of(ssl) else { return }
                session.context.keyLog?(String(cString: line))
            }
        }
    }

    deinit { SSL_CTX_free(pointer) }
}
