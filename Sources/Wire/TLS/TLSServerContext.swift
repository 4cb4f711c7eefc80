internal import COpenSSL

/// Keys for session tickets (RFC 5077, RFC 8446 section 4.6.1), for all event loops.
package struct TLSTicketKeys: Sendable {
    let bytes: [UInt8]

    /// OpenSSL 3 takes 80 bytes: a name of 16, and 32 each for the HMAC and the cipher.
    package init() { bytes = randomBytes(80) }
}

/// Makes the TLS sessions of the client leg; belongs to one event loop.
package final class TLSServerContext {
    private let context: TLSContextHandle

    package init(ticketKeys: TLSTicketKeys = TLSTicketKeys(), keyLog: TLSKeyLog? = nil) throws(TLSError) {
        context = try TLSContextHandle(leg: .client, keyLog: keyLog)
        let pointer = context.pointer
        // Renegotiation could cause endless work.
        SSL_CTX_set_options(pointer, sluice_OP_NO_RENEGOTIATION | sluice_OP_SERVER_PREFERENCE)
        // The client is near: the fastest good cipher comes first.
        let suites = "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256"
        SSL_CTX_set_ciphersuites(pointer, suites)
        // After the first ciphers come those of OpenSSL's DEFAULT, a name that can only begin a list.
        SSL_CTX_set_cipher_list(pointer, "ECDHE+AESGCM+AES128:ALL:!COMPLEMENTOFDEFAULT:!eNULL")
        // DHE with parameters as strong as the key.
        sluice_SSL_CTX_set_dh_auto(pointer, 1)
        // Only tickets: they work on every event loop and need no memory here.
        sluice_SSL_CTX_set_session_cache_mode(pointer, Int(SSL_SESS_CACHE_OFF))
        SSL_CTX_set_session_id_context(pointer, Array("sluice".utf8), 6)
        SSL_CTX_set_num_tickets(pointer, 1)
        let keys = ticketKeys.bytes
        guard sluice_SSL_CTX_ticket_key_length(pointer) == keys.count,
            sluice_SSL_CTX_set_ticket_keys(pointer, keys, keys.count) == 1
        else { throw TLSError(leg: .client, cause: .resource("session ticket keys were not accepted")) }
        SSL_CTX_set_alpn_select_cb(
            pointer,
            { ssl, selected, selectedLength, offered, offeredLength, _ in
                guard let session = TLSSession.of(ssl), let offered else { return SSL_TLSEXT_ERR_NOACK }
                let list = UnsafeBufferPointer(start: offered, count: Int(offeredLength))
                guard let choice = session.chooseProtocol(among: list) else { return SSL_TLSEXT_ERR_NOACK }
                selected?.pointee = choice.baseAddress
                selectedLength?.pointee = UInt8(truncatingIfNeeded: choice.count)
                return SSL_TLSEXT_ERR_OK
            },
            nil
        )
        ERR_clear_error()
    }

    /// Selects the first of `applicationProtocols` that the client offers by ALPN; `host` is for messages.
    package func makeSession(
        certificate: LeafCertificate,
        host: String? = nil,
        applicationProtocols: [String] = ["http/1.1"]
    ) throws(TLSError) -> TLSSession {
        try TLSSession(context, .client, host: host, applicationProtocols) { ssl in
            SSL_set_accept_state(ssl)
            TLSSession.noteSentCertificate(on: ssl)
            return certificate.install(in: ssl)
        }
    }
}

extension TLSSession {
    /// The first of our protocols in the client's list (RFC 7301 section 3.1), as a part of that list.
    fileprivate func chooseProtocol(among offered: UnsafeBufferPointer<UInt8>) -> UnsafeBufferPointer<UInt8>? {
        for wanted in applicationProtocols {
            var position = 0
            while position < offered.count {
                let end = position + 1 + Int(offered[position])
                guard end <= offered.count else { break }
                let name = UnsafeBufferPointer(rebasing: offered[(position + 1)..<end])
                if name.elementsEqual(wanted) { return name }
                position = end
            }
        }
        return nil
    }
}
