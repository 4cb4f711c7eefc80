internal import COpenSSL
internal import Files
internal import Synchronization

/// The authorities for verifying upstream servers; one value serves all event loops. If the system has a hashed
/// directory, its authorities are looked up there one by one. If not, its bundle is read, which takes 20 to 30 ms, so
/// call ``load()`` on a thread that may block. `SSL_CERT_FILE` and `SSL_CERT_DIR` are honoured.
package final class TLSTrust: Sendable {
    private let includesSystem: Bool
    private let extraFiles: [String]
    private let certificates: [[UInt8]]
    let distrusted: DistrustedKeys
    private struct State {
        /// The `X509_STORE`.
        ///
        /// SAFETY: we touch it only under the lock; OpenSSL itself counts its references atomically and locks its
        /// content. It is freed once, in `deinit`.
        nonisolated(unsafe) var store: OpaquePointer?  // SAFETY: see above
        var hasSystem = false
    }

    private let state = Mutex(State())

    /// Reads nothing yet. `extraFiles` are PEM files of more authorities or single servers (`--upstream-ca`),
    /// `certificates` are more in DER form; malformed ones are ignored. No chain with a `distrusted` key passes.
    package init(
        includesSystem: Bool = true,
        extraFiles: [String] = [],
        authorities: [CertificateAuthority] = [],
        certificates: [[UInt8]] = [],
        distrusted: DistrustedKeys = .compromised
    ) {
        self.includesSystem = includesSystem
        self.extraFiles = extraFiles
        self.distrusted = distrusted
        self.certificates = authorities.map(\.certificateDER) + certificates
    }

    deinit { state.withLock { X509_STORE_free($0.store) } }

    package func loadExtraFiles() throws(CertificateError) { try load(system: false) }

    /// Reads everything once. Throws if an extra file cannot be used; the system may have no authorities.
    package func load() throws(CertificateError) { try load(system: includesSystem) }

    private func load(system: Bool) throws(CertificateError) {
        let failure = state.withLock { state -> CertificateError? in
            do throws(CertificateError) {
                if state.store == nil { state.store = try makeStore() }
            } catch {
                return error
            }
            if system, !state.hasSystem, let store = state.store {
                state.hasSystem = true
                addSystem(to: store)
                ERR_clear_error()
            }
            return nil
        }
        if let failure { throw failure }
    }

    func install(in context: OpaquePointer, host: String? = nil) throws(TLSError) {
        do throws(CertificateError) {
            try load()
        } catch {
            throw TLSError(leg: .upstream, cause: .resource(error.description), host: host)
        }
        state.withLock { state in
            if let store = state.store { SSL_CTX_set1_cert_store(context, store) }
        }
    }

    private func makeStore() throws(CertificateError) -> OpaquePointer {
        ERR_clear_error()
        guard let store = X509_STORE_new() else { throw CertificateError(reason: OpenSSLErrors.take().text) }
        // A file may also have an intermediate authority, or the certificate of one server.
        X509_STORE_set_flags(store, sluice_VERIFY_PARTIAL_CHAIN)
        func add(_ certificate: [UInt8]) {
            if let certificate = X509Handle(der: certificate) { X509_STORE_add_cert(store, certificate.pointer) }
        }
        do throws(CertificateError) {
            for file in extraFiles {
                // OpenSSL would wait for a pipe forever.
                let content = try CertificateFiles.content(of: file, takesPipes: true)
                ERR_clear_error()
                let isPipe = InputFile.isPipe(file)
                let found = isPipe ? TrustStore.certificates(pem: content) : []
                found.forEach(add)
                if !found.isEmpty || !isPipe && X509_STORE_load_file(store, file) == 1 { continue }
                let reason = "no certificates could be read (\(OpenSSLErrors.take().text))"
                let advice = "Give a file with one or more certificates in PEM form."
                throw CertificateError(path: file, reason: reason, advice: advice)
            }
        } catch {
            X509_STORE_free(store)
            throw error
        }
        certificates.forEach(add)
        ERR_clear_error()
        return store
    }

    private func addSystem(to store: OpaquePointer) {
        let file = Self.environment(X509_get_default_cert_file_env())
        let directory = Self.environment(X509_get_default_cert_dir_env())
        if let file, !InputFile.isPipe(file) { X509_STORE_load_file(store, file) }
        if let directory { addDirectory(directory, to: store) }
        if file != nil || directory != nil { return }
        let compiledIn = String(cString: X509_get_default_cert_dir())
        for candidate in [compiledIn, "/etc/ssl/certs"] where CertificateFiles.isHashedDirectory(candidate) {
            return addDirectory(candidate, to: store)
        }
        let bundle = String(cString: X509_get_default_cert_file())
        for candidate in [bundle] + Self.usualBundles where X509_STORE_load_file(store, candidate) == 1 { return }
    }

    static let usualBundles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]

    /// Authorities are looked up by the hash of their name when a chain needs them.
    private func addDirectory(_ paths: String, to store: OpaquePointer) {
        guard let lookup = X509_STORE_add_lookup(store, X509_LOOKUP_hash_dir()) else { return }
        _ = sluice_X509_LOOKUP_add_dir(lookup, paths)
    }

    private static func environment(_ name: UnsafePointer<CChar>?) -> String? {
        guard let name, let value = sluice_getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }
}
