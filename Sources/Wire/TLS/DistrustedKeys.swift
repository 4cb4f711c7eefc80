internal import COpenSSL

/// Keys refused in every server's chain; keys and not certificates, because cross-signed certificates share them.
package struct DistrustedKeys: Sendable {
    /// SHA-256 of the SubjectPublicKeyInfo, in hexadecimal.
    private let hashes: Set<String>

    package init(hashes: Set<String>) { self.hashes = hashes }

    /// The eight intermediate authorities of eMudhra whose private keys became public in October 2026 (CVE-2026-111943,
    /// https://bugzilla.mozilla.org/show_bug.cgi?id=2083449): EM DV, EV and OV TLS CA - G3B and G3C, EM OV CS CA - G3B
    /// and G3C. Most systems trust them through AAA Certificate Services; rustls-webpki 0.103.16 and Chromium refuse
    /// these keys.
    package static let compromised = DistrustedKeys(hashes: [
        "ebed6475c2c2d80fcb199f3fe8dd6e6b3ce60b77eb15d4e42c3dec0c6f5b5105",
        "49dd353dc2b919a3770645117d0e60c16115e7d1bc259eefe734b00ea434fe5f",
        "e0254c7fcdc265e2f0f8a428dabb75ab4ae039b4872d62f5ee57f0877d5a8a41",
        "5c0660a2b164910d8ff589c18e14552e9e0ec237dcefe2cb736d41a4811f81a0",
        "43bffa19d6ef651451f6841e019931e96f6f2eaeff28ab4b6f1ce4576de2717b",
        "63ecefee431d49523bc1136c4e72d0206a477086caf606cd5cf025686c109cf8",
        "ec4ffa1ad0ac88081314b7aaffef6a91f97cd57291bb5ba686c5415f5eb4f6b6",
        "92c063d67e8f14db71d288e11266ffdaf69cbf115f7bab14f3bc2f68d25e0e30",
    ])

    func contain(keyOf certificate: OpaquePointer) -> Bool {
        !hashes.isEmpty && hashes.contains(hexadecimal(sha256(of: publicKeyDER(of: certificate))))
    }

    /// Makes verification fail if its current certificate has such a key; returns whether it has.
    func refuse(currentOf store: OpaquePointer?) -> Bool {
        guard let certificate = X509_STORE_CTX_get_current_cert(store), contain(keyOf: certificate) else {
            return false
        }
        X509_STORE_CTX_set_error(store, X509_V_ERR_CERT_REVOKED)
        return true
    }
}
