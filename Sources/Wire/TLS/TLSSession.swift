internal import COpenSSL
package import HTTPModel
package import NIOCore

/// Why ``TLSSession/advance(into:limit:)`` stopped.
package enum TLSProgress: Sendable, Hashable {
    /// All received ciphertext was read.
    case needsInput
    /// There may be more to read.
    case limitReached
    /// There is no more plaintext; ``TLSSession/state`` tells why.
    case ended
}

package enum TLSState: Sendable, Hashable {
    /// Successors: `open`, `failed`.
    case handshaking
    /// Successors: `peerClosed`, `failed`.
    case open
    /// The peer sends no more; we still may. `cleanly` when it said so (close_notify) and did not just go away.
    /// Successor: `failed`.
    case peerClosed(cleanly: Bool)
    /// The connection is of no more use; what ``TLSSession/takeOutput()`` still returns (an alert) should be sent.
    case failed(TLSError)
}

/// One TLS connection without a socket: ciphertext in and out on one side, plaintext on the other.
///
/// The owner gives it what the socket received (``receive(_:)``, ``receiveEOF()``), lets it work
/// (``advance(into:limit:)``), and after that, and after every ``write(_:)`` and ``shutdown()``, sends what
/// ``takeOutput()`` returns. It belongs to the event loop of the context that made it.
package final class TLSSession {
    package private(set) var state = TLSState.handshaking

    let ssl: OpaquePointer
    let context: TLSContextHandle
    let applicationProtocols: [[UInt8]]
    var resumption: TLSResumption?
    var rejectedPeer: RejectedPeer?
    var certificateSent = false
    /// The server's OCSP staple.
    var staple: StapledStatus?
    /// Set for a probing session.
    var probe: TLSProbeNotes?
    /// Whether the server asked for a certificate (upstream leg).
    var certificateAsked = false
    /// The authorities that the server accepts.
    var certificateAuthorities: [String] = []
    /// The certificate for a server that asks.
    var identity: TLSClientIdentity?

    private let pipe = CiphertextPipe()
    private let leg: TLSError.Leg
    private let host: String?
    /// Plaintext that could not be encrypted yet: the handshake, or a renegotiation, comes first.
    private var pending = ByteBuffer()
    private var inputEnded = false
    private var shutdownAsked = false
    private var shutdownSent = false
    /// The first four received bytes, to recognise plain HTTP.
    private var beginning: UInt32 = 0
    private var beginningCount = 0

    /// Creates one connection; `configure` makes it a client or a server.
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
        // A connection that merely ends without close_notify says nothing against its session (HTTP peers do it all
        // the time), but OpenSSL would never resume it.
        if case .failed = state {} else { SSL_set_shutdown(ssl, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN) }
        SSL_free(ssl)
    }

    /// The session of a callback.
    static func of(_ ssl: OpaquePointer?) -> TLSSession? {
        SSL_get_ex_data(ssl, 0).map { Unmanaged<TLSSession>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Offers the session that an earlier connection left in the cache, and leaves ours there.
    func resume(from cache: TLSSessionCache, key: TLSSessionCache.Key) {
        resumption = TLSResumption(cache: cache, key: key, certificate: cache.offer(key, by: ssl))
    }

    /// Leaves a session for later connections; returns whether the reference is ours then.
    func remember(_ session: OpaquePointer) -> Bool {
        guard let resumption else { return false }
        // What was shown in a renegotiation is not known.
        if case .open = state, SSL_version(ssl) < TLS1_3_VERSION { return false }
        resumption.remember(session, clientCertificate)
        return true
    }

    // MARK: Ciphertext

    /// Takes bytes that the socket received; ``advance(into:limit:)`` works on them.
    ///
    /// What comes after the peer's close_notify or after a failure is dropped (RFC 8446 section 6.1).
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

    /// Notes that the socket will receive no more; ``advance(into:limit:)`` ends once all is read.
    package func receiveEOF() { inputEnded = true }

    /// The ciphertext to put on the socket, if there is any: all records since the last call in one buffer.
    package func takeOutput() -> ByteBuffer? {
        guard pipe.outgoing.readableBytes > 0 else { return nil }
        let output = pipe.outgoing
        pipe.outgoing = ByteBuffer()
        return output
    }

    // MARK: Plaintext

    /// Works on what was received: goes on with the handshake, and appends at most `limit` bytes of plaintext.
    ///
    /// The first call of a client, with nothing received, makes the ClientHello.
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

    /// Encrypts plaintext, or keeps it until the handshake is over.
    ///
    /// Throws the failure of the connection, also one that happened before, and `alreadyShutDown` after ``shutdown()``.
    package func write(_ plaintext: ByteBuffer) throws(TLSError) {
        if case .failed(let failure) = state { throw failure }
        if shutdownAsked { throw TLSError(leg: leg, cause: .alreadyShutDown, host: host) }
        if case .handshaking = state {
            keep(plaintext)
        } else if pending.readableBytes > 0 {
            keep(plaintext)
            flushPending()
        } else {
            var rest = plaintext
            encrypt(&rest)
            if rest.readableBytes > 0 { pending = rest }
        }
        if case .failed(let failure) = state { throw failure }
    }

    /// Says that we send no more (close_notify), after what was written so far.
    package func shutdown() {
        shutdownAsked = true
        sendShutdown()
    }

    // MARK: Facts

    /// What the handshake came to; of a failed one, what was learnt until then.
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

    /// What the server asked for as our certificate, and what it got: in this handshake, or in the one that it resumed.
    private var clientCertificate: ClientCertificateDetails? {
        let name = identity?.name
        if certificateAsked {
            return ClientCertificateDetails(
                authorities: certificateAuthorities,
                name: certificateSent ? name : nil,
                sent: certificateSent ? identity?.summary : nil
            )
        }
        guard let earlier = resumption?.certificate, SSL_session_reused(ssl) == 1 else { return nil }
        return ClientCertificateDetails(
            authorities: earlier.authorities,
            name: earlier.sent == nil ? nil : name,
            sent: earlier.sent,
            isResumed: true
        )
    }

    /// The protocol chosen by ALPN.
    package var applicationProtocol: String? {
        var name: UnsafePointer<UInt8>?
        var length: UInt32 = 0
        SSL_get0_alpn_selected(ssl, &name, &length)
        guard let name, length > 0 else { return nil }
        return String(decoding: UnsafeBufferPointer(start: name, count: Int(length)), as: UTF8.self)
    }

    // MARK: Work

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
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE:
            if inputEnded { fail(.closedDuringHandshake) }
        case SSL_ERROR_ZERO_RETURN:
            fail(.closedDuringHandshake)
        default:
            failWithOpenSSLErrors()
        }
    }

    private func decrypt(into plaintext: inout ByteBuffer, limit: Int) -> TLSProgress {
        var room = limit
        while room > 0 {
            let expected = max(pipe.incoming.readableBytes, Int(SSL_pending(ssl)))
            if expected == 0 { return ranDry() }
            // Plaintext is never longer than its records, so this is the only growth of the buffer.
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
            case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE:
                return ranDry()
            case SSL_ERROR_ZERO_RETURN:
                state = .peerClosed(cleanly: true)
            default:
                failWithOpenSSLErrors()
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

    private func keep(_ plaintext: ByteBuffer) {
        if pending.readableBytes == 0 { pending = plaintext } else { pending.writeImmutableBuffer(plaintext) }
    }

    private func flushPending() {
        encrypt(&pending)
        if pending.readableBytes == 0 {
            pending = ByteBuffer()
            if shutdownAsked { sendShutdown() }
        }
    }

    /// Encrypts all of the buffer; leaves it as it is if the peer's part of a renegotiation must come first.
    private func encrypt(_ plaintext: inout ByteBuffer) {
        let length = plaintext.readableBytes
        guard length > 0 else { return }
        // The most that a record of 2^14 bytes grows by, with block ciphers and SHA-384, is under 96 bytes.
        pipe.outgoing.reserveCapacity(minimumWritableBytes: length + (length / 16_384 + 1) * 96)
        var written = 0
        ERR_clear_error()
        let result = plaintext.withUnsafeReadableBytes { SSL_write_ex(ssl, $0.baseAddress, $0.count, &written) }
        if result == 1 {
            plaintext.moveReaderIndex(forwardBy: written)
            return
        }
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

    // MARK: Failure

    private func failWithOpenSSLErrors() {
        let errors = OpenSSLErrors.take()
        var failure = TLSError(leg: leg, host: host, errors: errors, certificateSent: certificateSent)
        (failure.certificateAsked, failure.certificateName) = (certificateAsked, identity?.name)
        // "HTTP": a server that has plain HTTP on this port complains about our ClientHello.
        if beginningCount == 4, beginning == 0x4854_5450 { failure.cause = .plainHTTP }
        // Where it is only recorded, what is wrong with the certificate ends nothing.
        if let rejectedPeer, case .handshaking = state, SSL_get_verify_mode(ssl) != SSL_VERIFY_NONE {
            failure.cause = .certificate(rejectedPeer.problem)
        }
        fail(failure)
    }

    private func fail(_ cause: TLSError.Cause) {
        var failure = TLSError(leg: leg, cause: cause, host: host, certificateSent: certificateSent)
        (failure.certificateAsked, failure.certificateName) = (certificateAsked, identity?.name)
        fail(failure)
    }

    private func fail(_ failure: TLSError) {
        state = .failed(failure)
        pending = ByteBuffer()
        resumption?.forget()
    }
}

/// The certificates of a chain, the peer's own first.
func summaries(of chain: OpaquePointer?) -> [CertificateSummary] {
    (0..<max(0, sluice_sk_X509_num(chain))).compactMap { index in
        sluice_sk_X509_value(chain, index).map { CertificateSummary($0) }
    }
}

/// A server whose certificate failed verification.
struct RejectedPeer {
    var problem: TLSError.CertificateProblem
    var chain: [CertificateSummary]
}
