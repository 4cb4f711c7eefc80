import HTTPModel
import NIOCore
import Wire

/// A client's connection that speaks SOCKS, until it is a tunnel to the requested server (RFC 1928).
final class SOCKS5Layer: ClientLayer {
    let connection: ClientConnection
    private var reader = SOCKS5Reader()
    private var began: NIODeadline?
    private var isDone = false
    private var isAuthenticating = false

    /// The methods of authentication (RFC 1928 §3).
    private enum Method {
        static let none: UInt8 = 0
        static let password: UInt8 = 2
        static let noneAcceptable: UInt8 = 0xFF
    }

    init(connection: ClientConnection) { self.connection = connection }

    private var authentication: ProxyAuthentication? { loop.configuration.authentication }

    var wantsRead: Bool { !isDone && !isAuthenticating }
    var isIdle: Bool { true }

    func received(_ bytes: ByteBuffer) {
        guard !isDone else { return }
        if began == nil {
            began = loop.eventLoop.now
            if isOther(bytes) { return }
        }
        reader.receive(bytes)
        process()
    }

    private func process() {
        do throws(SOCKS5Reader.Failure) {
            while !isDone, !isAuthenticating, let event = try reader.next() { handle(event) }
        } catch {
            refuse(error)
        }
    }

    /// Treats bytes that are neither SOCKS 5 nor 4 as HTTP, so that the answer explains the mistake.
    private func isOther(_ bytes: ByteBuffer) -> Bool {
        guard let first = bytes.readableBytesView.first, first != 4, first != 5 else { return false }
        isDone = true
        let text =
            "This port speaks SOCKS 5 and not HTTP: set it as a SOCKS proxy, or listen with --mode regular as well."
        connection.become(SniffLayer(connection: connection, scope: .nowhere(text)), with: bytes)
        return true
    }

    private func handle(_ event: SOCKS5Reader.Event) {
        switch event {
        case .greeting(let methods): choose(among: methods)
        case .credentials(let user, let password): authenticate(BasicCredentials(user: user, password: password))
        case .request(.connect, let place): open(place)
        case .request(.bind, let place):
            refuse("BIND for \(place.authority) was requested: Sluice does not accept connections from servers.")
        case .request(.associate, _):
            refuse("UDP was requested: Sluice supports only TCP. HTTP/3 and DNS of this client need another way.")
        }
    }

    private func authenticate(_ credentials: BasicCredentials) {
        guard let authentication else { return authenticated(.accepted) }
        if let outcome = authentication.remembered(credentials) { return authenticated(outcome) }
        let client = connection.channel?.remoteAddress
        guard authentication.enqueue(credentials, client: client) else { return authenticated(.busy) }
        isAuthenticating = true
        loop.offload(isHeavy: true) {
            authentication.verify(credentials, client: client)
        } then: { [self] result in
            isAuthenticating = false
            guard !isDone, !connection.isClosed else { return }
            authenticated((try? result.get()) ?? .wrong)
            process()
            connection.readIfWanted()
        }
    }

    private func authenticated(_ outcome: ProxyAuthentication.Outcome) {
        // RFC 1929 §2: any value but 0 is a refusal, after which the connection is closed.
        write([1, outcome == .accepted ? 0 : 1])
        switch outcome {
        case .accepted: break
        case .tooMany(let seconds):
            end(reason: "There were too many wrong passwords from this address; it is asked again in \(seconds) s.")
        case .busy: end(reason: "Too many passwords are waiting to be checked (--proxy-auth).")
        case .missing, .wrong: end(reason: "The user or the password is wrong (--proxy-auth).")
        }
    }

    private func choose(among methods: [UInt8]) {
        let chosen =
            authentication == nil && methods.contains(Method.none)
            ? Method.none : methods.contains(Method.password) ? Method.password : Method.noneAcceptable
        write([5, chosen])
        switch chosen {
        case Method.none: break
        case Method.password: reader.expectCredentials()
        default:
            let known = methods.map(String.init).joined(separator: ", ")
            let asked = authentication == nil ? "" : " --proxy-auth requires a user and a password."
            end(reason: "The client offers no method of authentication that Sluice supports: \(known).\(asked)")
        }
    }

    private func open(_ place: SOCKS5Reader.Place) {
        isDone = true
        let tunnel = RequestScope.Tunnel(
            scheme: "http",
            host: place.host,
            port: place.port,
            address: place.rootedName,
            isUnnamed: place.isAddress
        )
        let answer = TunnelClientLayer.Answer(
            write: { [connection] head, _, failure in
                connection.write(SOCKS5Reply(status: head.status, failure: failure).bytes)
                // The recorded head stays that of a CONNECT: the written bytes are not HTTP.
                return head.serialized()
            },
            hasBody: false
        )
        let pending = PendingTunnel(tunnel: tunnel, connection: connection, version: .http11, answer: answer)
        pending.open(nil, early: reader.takeRest())
    }

    private func refuse(_ failure: SOCKS5Reader.Failure) {
        switch failure {
        case .version(4):
            // The answer of version 4: 91, rejected.
            write([0, 91, 0, 0, 0, 0, 0, 0])
            end(reason: "The client speaks SOCKS 4; Sluice supports only SOCKS 5: set it as socks5:// or socks5h://.")
        case .version(let number): end(reason: "The client's first byte, \(number), is not SOCKS.")
        case .noMethods:
            write([5, Method.noneAcceptable])
            end(reason: "The client's greeting offers no method of authentication, not even none.")
        case .credentialsVersion(let number):
            write([1, 1])
            end(reason: "The client uses version \(number) of RFC 1929; only 1 exists.")
        case .requestVersion(let number):
            refuse("The request has version \(number), the greeting had 5.", .generalFailure)
        case .command(let number): refuse("There is no command \(number) in SOCKS 5; there are 1, 2 and 3.")
        case .addressType(let number):
            refuse("There is no address of type \(number) in SOCKS 5; there are 1, 3 and 4.", .addressTypeNotSupported)
        case .name(let bytes):
            let name = String(decoding: bytes.prefix(80), as: UTF8.self)
            refuse("'\(name)' is not a host name.", .hostUnreachable)
        case .noPort: refuse("The client requests port 0, which does not exist.", .generalFailure)
        }
    }

    private func refuse(_ reason: String, _ reply: SOCKS5Reply = .commandNotSupported) {
        connection.write(reply.bytes)
        end(reason: reason)
    }

    private func end(reason: String) {
        guard !isDone else { return }
        isDone = true
        record(ExchangeFailure(.badRequest, "SOCKS: \(reason)"))
        connection.flush()
        connection.become(LingeringLayer(connection: connection))
    }

    private func record(_ failure: ExchangeFailure) {
        RequestIntake(connection: connection, scope: .proxy).recordMalformed(failure, head: nil)
    }

    private func write(_ bytes: [UInt8]) {
        connection.write(ByteBuffer(bytes: bytes))
        connection.flush()
    }

    func inputClosed(isHalfClose: Bool) {
        if began != nil { end(reason: "The client closed the connection without a request.") }
        connection.closeAfterFlush()
    }

    func closing(_ reason: OwnClose) {
        guard began != nil, !isDone else { return }
        isDone = true
        record(reason.failure(inTheMiddleOf: "its request for SOCKS"))
    }

    func enforceTimeout(lastActivity: NIODeadline, now: NIODeadline) {
        let timeouts = loop.configuration.timeouts
        guard let began else {
            if now - lastActivity > timeouts.keepAlive { connection.close() }
            return
        }
        guard !isDone, now - began > timeouts.requestHead else { return }
        end(reason: "The request was not complete \(timeouts.requestHead.inSeconds) s after its first byte.")
    }
}

extension SOCKS5Reply {
    /// The reply about a connection; `status` is the status that would answer a CONNECT.
    init(status: Int, failure: ExchangeFailure?) {
        switch failure?.code {
        case _ where (200..<300).contains(status): self = .succeeded
        case .dns: self = .hostUnreachable
        case .connect, .reset: self = .refused
        case .timeout, .clientTimeout: self = .expired
        case .loop, .notRecorded: self = .notAllowed
        // A rule has answered.
        case nil: self = .notAllowed
        case .tls, .clientTLS, .badRequest, .badResponse, .clientGone, .aborted, .stopped, .upstreamProxy,
            .overload:
            self = .generalFailure
        }
    }
}
