internal import COpenSSL
package import HTTPModel
package import NIOCore

/// Why ``TLSSession/advance(into:limit:)`` stopped.
package enum TLSProgress: Sendable, Hashable {
    case needsInput, limitReached
    /// There is no more plaintext; ``TLSSession/state`` has the reason.
    case ended
}

package enum TLSState: Sendable, Hashable {
    /// Successors: `open`, `failed`.
    case handshaking
    /// Successors: `peerClosed`, `failed`.
    case open
    /// The peer sends no more, but we may; `cleanly` with close_notify. Successor: `failed`.
    case peerClosed(cleanly: Bool)
    /// ``TLSSession/takeOutput()`` may still return an alert to send.
    case failed(TLSError)
}

/// One TLS connection without a socket. The owner passes received bytes (``receive(_:)``, ``receiveEOF()``), calls
/// ``advance(into:limit:)``, and after that, and after every ``write(_:)`` and ``shutdown()``, sends ``takeOutput()``.
/// It belongs to the event loop of its context.
package final class TLSSession {
    package private(set) var state = TLSState.handshaking

    let ssl: OpaquePointer
    let context: TLSContextHandle
    let applicationProtocols: [[UInt8]]
    /// The session cache, and the server's request for our certificate in the handshake of the offered session.
    private var resumption: (cache: TLSSessionCache, key: TLSSessionCache.Key, earlier: ClientCertificateDetails?)?
    var rejectedPeer: RejectedPeer?
    var certificateSent = false
    var staple: StapledStatus?
    var probe: TLSProbeNotes?
    /// Upstream leg: whether the server asked for a certificate.
    var certificateAsked = false
    var certificateAuthorities: [String] = []
    var identity: TLSClientIdentity?

    private let pipe = CiphertextPipe()
    private let leg: TLSError.Leg
    private let host: String?
    /// Plaintext that waits for the handshake or a renegotiation.
    private var pending = ByteBuffer()
    private var inputEnded = false
    private var shutdownAsked = false
    private var shutdownSent = false
    /// The first four received bytes, to recognize plain HTTP.
    private var beginning: UInt32 = 0
    private var beginningCount = 0

    /// `configure` makes it a client or a server.
    init(
        _ context: TLSContextHandle,
        _ leg: TLSError.Leg,
        host: String?,
        _ applicationProtocols: [String],
        configure: (OpaquePointer) -> Bool
    ) throws(TLSError) {
        ERR_clear_error()
        guard let ssl = SSL_new(context.pointer) else {
            throw TLSError(leg: leg, cause: .resource(OpenSSLErrors.take().text), host: host)
        }
        self.ssl = ssl
        self.context = context
        self.leg = leg
        self.host = host
        self.applicationProtocols = applicationProtocols.map { Array($0.utf8) }.filter { (1...255).contains($0.count) }
        SSL_set_ex_data(ssl, 0, Unmanaged.passUnretained(self).toOpaque())
        let bio = context.pipeMethod.makeBIO(onto: pipe)
        if let bio { SSL_set_bio(ssl, bio, bio) }
        guard bio != nil, configure(ssl) else {
            throw TLSError(leg: leg, cause: .resource(OpenSSLErrors.take().text), host: host)
        }
    }

    deinit {
        // OpenSSL would not resume a connection that ended without close_notify, but HTTP peers often end without it.
        if case .failed = state {} else { SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN) }
        SSL_free(ssl)
    }

    static func of(_ ssl: OpaquePointer?) -> TLSSession? {
        SSL_get_ex_data(ssl, 0).map { Unmanaged<TLSSession>.fromOpaque($0).takeUnretainedValue() }
    }

    static func of(verification store: OpaquePointer?) -> TLSSession? {
        of(X509_STORE_CTX_get_ex_data(store, SSL_get_ex_data_X509_STORE_CTX_idx()).map { OpaquePointer($0) })
    }

    static func noteSentCertificate(on ssl: OpaquePointer) {
        SSL_set_msg_callback(ssl) { isWritten, _, contentType, message, length, ssl, _ in
            // A sent handshake message (22) of the type certificate (11); without one it has at most 8 bytes.
            guard isWritten == 1, contentType == 22, length > 8, message?.load(as: UInt8.self) == 11 else { return }
            TLSSession.of(ssl)?.certificateSent = true
        }
    }

    /// The fault that verification found last in the server's chain.
    func problem(in store: OpaquePointer) -> TLSError.CertificateProblem {
        let leaf = certificates(in: X509_STORE_CTX_get0_untrusted(store)).first
        return TLSError.CertificateProblem(
            code: Int(X509_STORE_CTX_get_error(store)),
            certificate: X509_STORE_CTX_get_current_cert(store),
            names: leaf.map { CertificateSummary($0).alternativeNames } ?? [],
            distrusted: context.distrusted
        )
    }

    /// Offers an earlier session of the cache, and stores the sessions of this connection there.
    func resume(from cache: TLSSessionCache, key: TLSSessionCache.Key) {
        resumption = (cache, key, cache.offer(key, by: ssl))
    }

    /// Returns whether this keeps the reference.
    func remember(_ session: OpaquePointer) -> Bool {
        probe?.hasTicket = true
        guard let resumption else { return false }
        // Sessions of a renegotiation are not stored, because its certificates are unknown.
        if case .open = state, SSL_version(ssl) < TLS1_3_VERSION { return false }
        resumption.cache.store(session, clientCertificate, for: resumption.key)
        return true
    }

    /// Bytes after the peer's close_notify or after a failure are dropped (RFC 8446 section 6.1).
    package func receive(_ ciphertext: ByteBuffer) {
        switch state {
        case .peerClosed, .failed: return
        case .handshaking, .open: break
        }
        if beginningCount < 4 {
            for byte in ciphertext.readableBytesView.prefix(4 - beginningCount) {
                beginning = beginning << 8 | UInt32(byte)
                beginningCount += 1
            }
        }
        pipe.receive(ciphertext)
    }

    /// The socket receives no more; ``advance(into:limit:)`` ends once all is read.
    package func receiveEOF() { inputEnded = true }

    /// All ciphertext since the last call in one buffer.
    package func takeOutput() -> ByteBuffer? {
        guard pipe.outgoing.readableBytes > 0 else { return nil }
        let output = pipe.outgoing
        pipe.outgoing = ByteBuffer()
        return output
    }

    /// Continues the handshake, and appends at most `limit` bytes; a client's first call makes the ClientHello.
    package func advance(into plaintext: inout ByteBuffer, limit: Int = 262_144) -> TLSProgress {
        if case .handshaking = state { handshake() }
        switch state {
        case .handshaking: return .needsInput
        case .open: break
        case .peerClosed, .failed: return .ended
        }
        let progress = decrypt(into: &plaintext, limit: limit)
        if pending.readableBytes > 0 { flushPending() }
        if case .failed = state { return .ended }
        return progress
    }

    /// Encrypts after the handshake. Throws any earlier failure, and `alreadyShutDown` after ``shutdown()``.
    package func write(_ plaintext: ByteBuffer) throws(TLSError) {
        if case .failed(let failure) = state { throw failure }
        if shutdownAsked { throw TLSError(leg: leg, cause: .alreadyShutDown, host: host) }
        if case .handshaking = state {
            pending.append(plaintext)
        } else if pending.readableBytes > 0 {
            pending.append(plaintext)
            flushPending()
        } else {
            var rest = plaintext
            encrypt(&rest)
            if rest.readableBytes > 0 { pending = rest }
        }
        if case .failed(let failure) = state { throw failure }
    }

    package func shutdown() {
        shutdownAsked = true
        sendShutdown()
    }

    /// After a failed handshake, the facts so far.
    package var details: TLSDetails {
        var details = TLSDetails(
            protocolVersion: SSL_get_version(ssl).map { String(cString: $0) } ?? "",
            cipherSuite: SSL_CIPHER_standard_name(SSL_get_current_cipher(ssl)).map { String(cString: $0) } ?? "",
            serverName: SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name).map { String(cString: $0) },
            applicationProtocol: applicationProtocol,
            resumed: SSL_session_reused(ssl) == 1
        )
        guard leg == .upstream else { return details }
        let chain = SSL_get_peer_cert_chain(ssl)
        details.peerCertificates = chain.map(summaries) ?? rejectedPeer?.chain ?? []
        if !details.peerCertificates.isEmpty { details.peerCertificates[0].staple = staple }
        details.clientCertificate = clientCertificate
        if SSL_is_init_finished(ssl) != 1 { return details }
        let result = SSL_get_verify_result(ssl)
        if result != Int(X509_V_OK) {
            details.verificationFailure = String(cString: X509_verify_cert_error_string(result))
        } else if let staple, staple.state == .revoked {
            let reason = staple.reason.map { " (\($0))" } ?? ""
            details.verificationFailure = "certificate revoked\(reason), says the OCSP staple"
        }
        return details
    }

    /// The server's request for a certificate, and our answer: in this handshake, or in the resumed one.
    private var clientCertificate: ClientCertificateDetails? {
        if certificateAsked {
            let shown = certificateSent ? identity : nil
            return ClientCertificateDetails(
                authorities: certificateAuthorities,
                name: shown?.name,
                sent: shown?.summary
            )
        }
        guard let earlier = resumption?.earlier, SSL_session_reused(ssl) == 1 else { return nil }
        let (authorities, sent) = (earlier.authorities, earlier.sent)
        let name = sent == nil ? nil : identity?.name
        return ClientCertificateDetails(authorities: authorities, name: name, sent: sent, isResumed: true)
    }

    package var applicationProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &length)
        guard let name, length > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
    }

    private func handshake() {
        ERR_clear_error()
        let result = SSL_do_handshake(ssl)
        if result == 1 {
            state = .open
            SSL_set_msg_callback(ssl, nil)
            flushPending()
            if shutdownAsked { sendShutdown() }
            return
        }
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: if inputEnded { fail(.closedDuringHandshake) }
        case SSL_ERROR_ZERO_RETURN: fail(.closedDuringHandshake)
        default: failWithOpenSSLErrors()
        }
    }

    private func decrypt(into plaintext: inout ByteBuffer, limit: Int) -> TLSProgress {
        var room = limit
        while room > 0 {
            let expected = max(pipe.incoming.readableBytes, Int(SSL_pending(ssl)))
            if expected == 0 { return ranDry() }
            // Plaintext is never longer than its records.
            plaintext.reserveCapacity(minimumWritableBytes: min(room, expected))
            var count = 0
            var result: Int32 = 0
            ERR_clear_error()
            plaintext.writeWithUnsafeMutableBytes(minimumWritableBytes: 1) { target in
                result = SSL_read_ex(ssl, target.baseAddress, min(target.count, room), &count)
                return count
            }
            room -= count
            if result == 1 { continue }
            switch SSL_get_error(ssl, result) {
            case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return ranDry()
            case SSL_ERROR_ZERO_RETURN: state = .peerClosed(cleanly: true)
            default: failWithOpenSSLErrors()
            }
            return .ended
        }
        return .limitReached
    }

    private func ranDry() -> TLSProgress {
        guard inputEnded else { return .needsInput }
        state = .peerClosed(cleanly: false)
        return .ended
    }

    private func flushPending() {
        encrypt(&pending)
        if pending.readableBytes == 0 {
            pending = ByteBuffer()
            if shutdownAsked { sendShutdown() }
        }
    }

    /// Leaves the buffer unchanged if the peer's part of a renegotiation must come first.
    private func encrypt(_ plaintext: inout ByteBuffer) {
        let length = plaintext.readableBytes
        guard length > 0 else { return }
        // A record of 2^14 bytes grows by less than 96 bytes.
        pipe.outgoing.reserveCapacity(minimumWritableBytes: length + (length / 16_384 + 1) * 96)
        var written = 0
        ERR_clear_error()
        let result = plaintext.withUnsafeReadableBytes { SSL_write_ex(ssl, $0.baseAddress, $0.count, &written) }
        if result == 1 { return plaintext.moveReaderIndex(forwardBy: written) }
        switch SSL_get_error(ssl, result) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: break
        default: failWithOpenSSLErrors()
        }
    }

    private func sendShutdown() {
        if shutdownSent || pending.readableBytes > 0 { return }
        switch state {
        case .handshaking, .failed: return
        case .open, .peerClosed: break
        }
        shutdownSent = true
        ERR_clear_error()
        SSL_shutdown(ssl)
    }

    private func failWithOpenSSLErrors() {
        let errors = OpenSSLErrors.take()
        var failure = TLSError(leg: leg, host: host, errors: errors, certificateSent: certificateSent)
        // "HTTP": a server of plain HTTP complains about our ClientHello.
        if beginningCount == 4, beginning == 0x4854_5450 { failure.cause = .plainHTTP }
        // With SSL_VERIFY_NONE a fault of the certificate is only recorded, so it is not the cause.
        if let rejectedPeer, case .handshaking = state, SSL_get_verify_mode(ssl) != SSL_VERIFY_NONE {
            failure.cause = .certificate(rejectedPeer.problem)
        }
        fail(failure)
    }

    private func fail(_ cause: TLSError.Cause) {
        fail(TLSError(leg: leg, cause: cause, host: host, certificateSent: certificateSent))
    }

    private func fail(_ failure: TLSError) {
        var failure = failure
        (failure.certificateAsked, failure.certificateName) = (certificateAsked, identity?.name)
        state = .failed(failure)
        pending = ByteBuffer()
        if let resumption { resumption.cache.forget(resumption.key) }
    }
}

/// The peer's own certificate comes first.
func summaries(of chain: OpaquePointer?) -> [CertificateSummary] {
    certificates(in: chain).map { CertificateSummary($0) }
}

struct RejectedPeer {
    var problem: TLSError.CertificateProblem
    var chain: [CertificateSummary]
}
