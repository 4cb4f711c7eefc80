import HTTPModel
package import NIOCore

/// A client's handshake with a SOCKS proxy (RFC 1928), with user and password if set (RFC 1929).
package final class SOCKS5ClientHandshake: ProxyHandshake {
    private enum State {
        /// The proxy chooses a method. Successors: `credentials`, `request`.
        case method
        /// Successor: `request`.
        case credentials
        /// Successor: `over`.
        case request
        case over
    }

    private let host: String
    private let port: Int
    private let user: String?
    private let password: String
    private var state = State.method
    private var received = ByteBuffer()

    /// `host` is a name, which the proxy resolves, or an address without brackets; user and password: up to 255 bytes.
    package init(host: String, port: Int, user: String? = nil, password: String? = nil) {
        self.host = host
        self.port = port
        self.user = user
        self.password = password ?? ""
    }

    package func begin() -> ByteBuffer { ByteBuffer(bytes: user == nil ? [5, 1, 0] : [5, 2, 0, 2]) }

    package func receive(_ bytes: ByteBuffer) -> ProxyAnswer {
        received.writeImmutableBuffer(bytes)
        switch state {
        case .method: return method()
        case .credentials: return credentials()
        case .request: return reply()
        case .over: return .more
        }
    }

    private func method() -> ProxyAnswer {
        if let first = byte(0), first != 5 { return refuse(.invalid(Self.looks(first))) }
        guard let chosen = byte(1) else { return .more }
        received.moveReaderIndex(forwardBy: 2)
        switch chosen {
        case 0:
            state = .request
            return .send(request)
        case 2 where user != nil:
            state = .credentials
            return .send(ByteBuffer(bytes: [1] + Self.counted(user ?? "") + Self.counted(password)))
        case 0xFF: return refuse(.noMethod)
        default: return refuse(.invalid("It chose an authentication method that was not offered."))
        }
    }

    /// The count of bytes, then at most 255 bytes of the text.
    private static func counted(_ text: String) -> [UInt8] {
        let bytes = text.utf8.prefix(255)
        return [UInt8(truncatingIfNeeded: bytes.count)] + bytes
    }

    private func credentials() -> ProxyAnswer {
        // RFC 1929 requires version 1, but some proxies send 5.
        if let version = byte(0), version != 1, version != 5 {
            return refuse(.invalid("Its answer to user and password has the version \(version)."))
        }
        guard let status = byte(1) else { return .more }
        received.moveReaderIndex(forwardBy: 2)
        guard status == 0 else { return refuse(.wrongCredentials) }
        state = .request
        return .send(request)
    }

    private var request: ByteBuffer {
        var bytes = ByteBuffer(bytes: [5, 1, 0])
        if let address = HostAddress.bytes(host[...]) {
            bytes.writeBytes([address.count == 4 ? 1 : 4] + address)
        } else {
            bytes.writeBytes([3] + Self.counted(host))
        }
        bytes.writeInteger(UInt16(truncatingIfNeeded: port))
        return bytes
    }

    private func reply() -> ProxyAnswer {
        if let version = byte(0), version != 5 { return refuse(.invalid("Its answer has the version \(version).")) }
        // A refusal's address means nothing, and some proxies leave it out.
        if let code = byte(1), code != 0 { return refuse(.reply(code)) }
        guard let kind = byte(3) else { return .more }
        let length: Int
        switch kind {
        case 1: length = 4
        case 4: length = 16
        case 3:
            guard let count = byte(4) else { return .more }
            length = 1 + Int(count)
        default: return refuse(.invalid("Its answer has an address of the unknown kind \(kind)."))
        }
        guard received.readableBytes >= 4 + length + 2 else { return .more }
        received.moveReaderIndex(forwardBy: 4 + length + 2)
        state = .over
        return .open(rest: received.readableBytes > 0 ? received : nil)
    }

    private func refuse(_ refusal: ProxyRefusal) -> ProxyAnswer {
        state = .over
        return .refused(refusal, isWhole: true)
    }

    private func byte(_ offset: Int) -> UInt8? { received.getInteger(at: received.readerIndex + offset) }

    private static func looks(_ first: UInt8) -> String {
        switch first {
        case UInt8(ascii: "H"): "It answers in HTTP: is it an HTTP proxy? Then write http:// in place of socks5://."
        case 0x15: "It answers in TLS, which SOCKS does not use."
        case 4: "It speaks SOCKS 4, an older version that is not supported."
        default: "It does not answer in SOCKS 5."
        }
    }
}
