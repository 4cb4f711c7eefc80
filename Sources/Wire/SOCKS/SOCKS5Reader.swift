import HTTPModel
package import NIOCore

/// Reads a SOCKS client's messages before the bytes for the server (RFC 1928 §3 to §5, RFC 1929 §2).
package struct SOCKS5Reader {
    package enum Event: Hashable {
        /// The methods of authentication that the client offers.
        case greeting(methods: [UInt8])
        case credentials(user: [UInt8], password: [UInt8])
        case request(Command, Place)
    }

    package enum Command: UInt8 {
        case connect = 1
        case bind = 2
        case associate = 3
    }

    package struct Place: Hashable {
        /// A name in lower case, or an address without brackets.
        package var host: String
        package var port: Int
        package var isAddress: Bool
        /// The name with its trailing dot, if the client sent one.
        package var rootedName: String?

        package var authority: String { HostAddress.withPort(host, port) }
    }

    package enum Failure: Error, Hashable {
        /// The first byte is not 5: it is 4, or belongs to another protocol.
        case version(UInt8)
        case noMethods
        /// The version of the password exchange (RFC 1929 §2).
        case credentialsVersion(UInt8)
        case requestVersion(UInt8)
        case command(UInt8)
        case addressType(UInt8)
        case name([UInt8])
        case noPort
    }

    private enum Expected {
        /// Successors: `credentials`, `request`.
        case greeting
        /// Successor: `request`.
        case credentials
        /// Successor: `rest`.
        case request
        case rest
    }

    private var bytes = ByteBuffer()
    private var expected = Expected.greeting

    package init() {}

    package mutating func receive(_ more: ByteBuffer) { bytes.append(more) }

    /// `nil` if the message is incomplete, or all were read. After a greeting the next message is a request, or
    /// credentials after ``expectCredentials()``.
    package mutating func next() throws(Failure) -> Event? {
        var reading = bytes
        let event: Event?
        switch expected {
        case .greeting: event = try SOCKS5Reader.greeting(&reading)
        case .credentials: event = try SOCKS5Reader.credentials(&reading)
        case .request: event = try SOCKS5Reader.request(&reading)
        case .rest: return nil
        }
        guard let event else { return nil }
        bytes = reading
        if case .request = event { expected = .rest } else { expected = .request }
        return event
    }

    package mutating func expectCredentials() { expected = .credentials }

    package mutating func takeRest() -> ByteBuffer? {
        defer { bytes = ByteBuffer() }
        return bytes.readableBytes > 0 ? bytes : nil
    }

    private static func greeting(_ bytes: inout ByteBuffer) throws(Failure) -> Event? {
        guard let version = bytes.readInteger(as: UInt8.self) else { return nil }
        guard version == 5 else { throw .version(version) }
        guard let count = bytes.readInteger(as: UInt8.self) else { return nil }
        guard count > 0 else { throw .noMethods }
        return bytes.readBytes(length: Int(count)).map { .greeting(methods: $0) }
    }

    private static func credentials(_ bytes: inout ByteBuffer) throws(Failure) -> Event? {
        guard let version = bytes.readInteger(as: UInt8.self) else { return nil }
        guard version == 1 else { throw .credentialsVersion(version) }
        guard let user = counted(&bytes), let password = counted(&bytes) else { return nil }
        return .credentials(user: user, password: password)
    }

    private static func request(_ bytes: inout ByteBuffer) throws(Failure) -> Event? {
        guard let version = bytes.readInteger(as: UInt8.self) else { return nil }
        guard version == 5 else { throw .requestVersion(version) }
        guard let number = bytes.readInteger(as: UInt8.self) else { return nil }
        guard let command = Command(rawValue: number) else { throw .command(number) }
        // After a reserved byte.
        guard bytes.readInteger(as: UInt8.self) != nil, let type = bytes.readInteger(as: UInt8.self) else { return nil }
        let host: [UInt8]?
        switch type {
        case 1: host = bytes.readBytes(length: 4)
        case 3: host = counted(&bytes)
        case 4: host = bytes.readBytes(length: 16)
        default: throw .addressType(type)
        }
        guard let host, let port = bytes.readInteger(as: UInt16.self) else { return nil }
        var place = type == 3 ? try named(host) : addressed(host)
        place.port = Int(port)
        // The port of a UDP association may be unknown yet.
        guard port > 0 || command != .connect else { throw .noPort }
        return .request(command, place)
    }

    private static func counted(_ bytes: inout ByteBuffer) -> [UInt8]? {
        bytes.readInteger(as: UInt8.self).flatMap { bytes.readBytes(length: Int($0)) }
    }

    private static func addressed(_ bytes: [UInt8]) -> Place {
        let address = try? SocketAddress(packedIPAddress: ByteBuffer(bytes: bytes), port: 0)
        let text = address?.ipAddress ?? ""
        return Place(host: HostAddress.canonical(text[...]) ?? text, port: 0, isAddress: true)
    }

    private static func named(_ bytes: [UInt8]) throws(Failure) -> Place {
        let text = String(decoding: bytes, as: UTF8.self)
        // Invalid UTF-8 would be lost, and a NUL would end the name.
        guard text.utf8.elementsEqual(bytes), !bytes.contains(0) else { throw .name(bytes) }
        // Some clients send addresses as names.
        if let address = HostAddress.canonical(text[...]) { return Place(host: address, port: 0, isAddress: true) }
        guard !bytes.contains(UInt8(ascii: ":")), !bytes.contains(UInt8(ascii: "[")),
            let (host, _) = RequestURL.splitAuthority(text)
        else { throw .name(bytes) }
        return Place(host: host, port: 0, isAddress: false, rootedName: RequestURL.rootedName(of: bytes))
    }
}
