internal import COpenSSL

/// OpenSSL is built without SSL 3 and older versions.
package enum TLSVersion: Int, Sendable, Hashable, CaseIterable, Comparable {
    case tls1_0 = 0x0301
    case tls1_1 = 0x0302
    case tls1_2 = 0x0303
    case tls1_3 = 0x0304

    /// For example `TLS 1.2`.
    package var title: String { "TLS 1.\(rawValue - 0x0301)" }

    package var openSSLName: String { self == .tls1_0 ? "TLSv1" : "TLSv1.\(rawValue - 0x0301)" }

    package static func < (left: TLSVersion, right: TLSVersion) -> Bool { left.rawValue < right.rawValue }
}

package struct TLSCipher: Sendable, Hashable {
    /// The standard (IANA) name, for example `TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256`.
    package let name: String
    /// For example `ECDHE-RSA-AES128-GCM-SHA256`.
    package let openSSLName: String
    package let isTLS13: Bool
    /// Whether recorded bytes stay secret when the server's key becomes known.
    package let hasForwardSecrecy: Bool
    /// 0 without encryption.
    package let bits: Int
    package let isAuthenticated: Bool

    init?(_ cipher: OpaquePointer) {
        guard let name = SSL_CIPHER_standard_name(cipher), let own = SSL_CIPHER_get_name(cipher) else { return nil }
        self.name = String(cString: name)
        openSSLName = String(cString: own)
        let exchange = SSL_CIPHER_get_kx_nid(cipher)
        // In TLS 1.3 the key exchange is not a part of the suite, and always ephemeral.
        isTLS13 = exchange == NID_kx_any
        hasForwardSecrecy = [NID_kx_any, NID_kx_ecdhe, NID_kx_dhe].contains(exchange)
        bits = Int(SSL_CIPHER_get_bits(cipher, nil))
        isAuthenticated = SSL_CIPHER_get_auth_nid(cipher) != NID_auth_null
    }

    /// No encryption, no certificate, or a broken cipher.
    package var isBroken: Bool {
        !isAuthenticated || bits < 112 || name.contains("RC4") || name.contains("3DES") || name.contains("_NULL_")
            || name.contains("EXPORT")
    }
}
