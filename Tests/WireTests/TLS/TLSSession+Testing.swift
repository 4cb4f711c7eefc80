import COpenSSL

@testable import Wire

extension TLSSession {
    /// Speaks no newer version than this.
    func limit(to version: Int32) { _ = sluice_SSL_set_max_proto_version(ssl, version) }

    /// Accepts this version and newer ones, with all ciphers where it is older than TLS 1.2.
    func accept(from version: Int32) {
        _ = sluice_SSL_set_min_proto_version(ssl, version)
        if version >= TLS1_2_VERSION { return }
        SSL_set_security_level(ssl, 0)
        SSL_set_cipher_list(ssl, "ALL:@SECLEVEL=0")
    }

    func useOnlyChaCha() {
        SSL_set_ciphersuites(ssl, "TLS_CHACHA20_POLY1305_SHA256")
        SSL_set_cipher_list(ssl, "CHACHA20")
    }

    func requestKeyUpdate() { SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED) }
}
