import HTTPModel
package import NIOCore

/// Allows this machine and the given networks.
package struct AccessRules: Sendable, Hashable {
    package var networks: [Network]

    package init(networks: [Network] = []) { self.networks = networks }

    /// `false` if the address is unknown: this client has reset its connection, but its bytes can still be read.
    package func allows(_ address: SocketAddress?) -> Bool {
        guard let address, let bytes = Network.bytes(of: address) else { return false }
        return Network.loopback.contains { $0.contains(bytes) } || networks.contains { $0.contains(bytes) }
    }

    /// A network in CIDR notation (RFC 4632, RFC 4291 §2.3).
    package struct Network: Sendable, Hashable, CustomStringConvertible {
        private let prefix: [UInt8]
        private let length: Int

        package init?(_ text: String) {
            let parts = text.split(separator: "/", omittingEmptySubsequences: false)
            guard let first = parts.first, parts.count <= 2,
                let address = try? SocketAddress(ipAddress: String(first), port: 0),
                let bytes = Network.bytes(of: address)
            else { return nil }
            let bits = bytes.count * 8
            guard let length = parts.count == 2 ? Int(parts[1]) : bits, (0...bits).contains(length) else { return nil }
            self.init(prefix: bytes, length: length)
        }

        private init(prefix: [UInt8], length: Int) {
            self.prefix = prefix
            self.length = length
        }

        static let loopback = [
            Network(prefix: [127, 0, 0, 0], length: 8),
            Network(prefix: [UInt8](repeating: 0, count: 15) + [1], length: 128),
        ]

        /// The bytes of an address; an IPv4 address mapped into IPv6 has four (RFC 4291 §2.5.5.2).
        static func bytes(of address: SocketAddress) -> [UInt8]? {
            address.ipAddress.flatMap { HostAddress.bytes($0[...]) }
        }

        func contains(_ bytes: [UInt8]) -> Bool { HostAddress.matches(bytes, prefix: prefix, bits: length) }

        package var description: String {
            let separator = prefix.count == 4 ? "." : ":"
            let text = prefix.map { prefix.count == 4 ? String($0) : String($0, radix: 16) }
            return text.joined(separator: separator) + "/\(length)"
        }
    }
}
