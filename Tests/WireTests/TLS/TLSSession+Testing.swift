import COpenSSL

@testable import Wire

extension TLSSession {
    /// Speaks no newer version than this.
    func limit(to version: Int32) { _ = sluice_SSL_set_max_proto_version(ssl, version) }

    func useOnlyChaCha() {
        SSL_set_ciphersuites(ssl, "TLS_CHACHA20_POLY1305_SHA256")
        SSL_set_cipher_list(ssl, "CHACHA20")
    }

    func requestKeyUpdate() { SSL_key_update(ssl, SSL_KEY_UPDATE_REQUESTED) }
}
