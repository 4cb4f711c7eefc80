internal import COpenSSL

/// Receives one line of NSS key log format (the content of `SSLKEYLOGFILE`), without a line end.
package typealias TLSKeyLog = @Sendable (String) -> Void

/// A protocol version, as a lower limit.
package enum TLSVersion: UInt16, Sendable, Hashable, Comparable {
    /// TLS 1.0 (deprecated by RFC 8996).
    case tls10 = 0x0301
    /// TLS 1.1 (deprecated by RFC 8996).
    case tls11 = 0x0302
    /// TLS 1.2.
    case tls12 = 0x0303
    /// TLS 1.3.
    case tls13 = 0x0304

    package static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.rawValue < right.rawValue }
}

/// Owns one `SSL_CTX` and what its callbacks need.
final class TLSContextHandle {
    let pointer: OpaquePointer
    let pipeMethod: CiphertextPipeMethod
    let keyLog: TLSKeyLog?

    init(leg: TLSFailure.Leg, keyLog: TLSKeyLog?) throws(TLSFailure) {
        ERR_clear_error()
        let method = leg == .client ? TLS_server_method() : TLS_client_method()
        guard let pipeMethod = CiphertextPipeMethod(), let pointer = SSL_CTX_new(method) else {
            throw TLSFailure(leg: leg, cause: .resource(OpenSSLErrors.take().text))
        }
        self.pointer = pointer
        self.pipeMethod = pipeMethod
        self.keyLog = keyLog
        SSL_CTX_set_options(pointer, sluice_OP_NO_COMPRESSION)
        sluice_SSL_CTX_set_mode(pointer, sluice_MODE_CONNECTION)
        if keyLog != nil {
            SSL_CTX_set_keylog_callback(pointer) { ssl, line in
                guard let line, let session = TLSSession.of(ssl) else { return }
                session.context.keyLog?(String(cString: line))
            }
        }
    }

    deinit { SSL_CTX_free(pointer) }
}
