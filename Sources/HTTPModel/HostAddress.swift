#if canImport(Darwin)
import Darwin
#elseif canImport(Musl)
import Musl
#else
import Glibc
#endif

/// Gives each address one spelling, regardless of how a client or a rule spells it.
package enum HostAddress {
    /// `host:port`, an IPv6 address in brackets.
    package static func withPort(_ host: String, _ port: Int) -> String { "\(bracketed(host)):\(port)" }

    /// A host as written before a port: an IPv6 address in brackets.
    package static func bracketed(_ host: String) -> String {
        host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]" : host
    }

    /// The address without brackets; `nil` for a name. `127.1`, `0x7f.0.0.1`, `2130706433` and `::ffff:127.0.0.1` are
    /// all `127.0.0.1`, as for resolvers (inet_aton(3), RFC 4291 §2.5.5.2). Only link-local addresses keep their zone
    /// (RFC 4007 §11).
    package static func canonical(_ host: Substring) -> String? {
        host.utf8.contains(UInt8(ascii: ":")) ? canonicalIPv6(host) : canonicalIPv4(host)
    }

    /// `true` for addresses in any spelling, and for all hosts with a colon.
    package static func isAddress(_ host: Substring) -> Bool {
        isDotted(host) || host.utf8.contains(UInt8(ascii: ":")) || ipv4(host) != nil
    }

    /// In any spelling; IPv4-mapped IPv6 has four bytes. `nil` for a name.
    package static func bytes(_ host: Substring) -> [UInt8]? {
        host.utf8.contains(UInt8(ascii: ":")) ? bytesOfIPv6(host.prefix { $0 != "%" }) : bytesOfIPv4(host)
    }

    /// Whether a host is a loopback address, or a name for one (RFC 6761 §6.3).
    package static func isThisMachine(_ host: String) -> Bool {
        let host = host.lowercased()
        if host == "localhost" || host.hasSuffix(".localhost") { return true }
        let address = bytes(host[...]) ?? []
        return address.count == 4 ? address[0] == 127 : address == [UInt8](repeating: 0, count: 15) + [1]
    }

    /// Whether the first `bits` bits of an address equal those of `prefix`.
    package static func matches(_ bytes: [UInt8], prefix: [UInt8], bits: Int) -> Bool {
        let (whole, rest) = bits.quotientAndRemainder(dividingBy: 8)
        guard bytes.count == prefix.count, bytes.prefix(whole) == prefix.prefix(whole) else { return false }
        guard rest > 0, whole < bytes.count else { return true }
        let mask = UInt8(truncatingIfNeeded: 0xFF00 >> rest)
        return bytes[whole] & mask == prefix[whole] & mask
    }

    static func canonicalIPv4(_ host: Substring) -> String? {
        isDotted(host) ? String(host) : bytesOfIPv4(host).map(text)
    }

    static func canonicalIPv6(_ host: Substring) -> String? {
        let address = host.prefix { $0 != "%" }
        guard let bytes = bytesOfIPv6(address) else { return nil }
        if bytes.count == 4 { return text(bytes) }
        var buffer = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
        guard inet_ntop(AF_INET6, bytes, &buffer, socklen_t(buffer.count)) != nil else { return nil }
        let text = String(decoding: buffer.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let isOfLink = bytes[0] == 0xFE && bytes[1] & 0xC0 == 0x80 || bytes[0] == 0xFF && bytes[1] & 0x0F == 2
        return isOfLink ? text + host[address.endIndex...] : text
    }

    private static func text(_ bytes: [UInt8]) -> String { bytes.map { "\($0)" }.joined(separator: ".") }

    /// Four numbers up to 255 without leading zeros, the usual form.
    private static func isDotted(_ host: Substring) -> Bool {
        host.utf8.withContiguousStorageIfAvailable { bytes in
            var (dots, digits, value) = (0, 0, 0)
            for byte in bytes {
                if byte == UInt8(ascii: "."), digits > 0 {
                    (dots, digits, value) = (dots + 1, 0, 0)
                    continue
                }
                let digit = byte &- 0x30
                guard digit < 10, digits == 0 || value > 0 else { return false }
                (digits, value) = (digits + 1, value * 10 + Int(digit))
                guard value < 256 else { return false }
            }
            return dots == 3 && digits > 0
        } ?? false
    }

    private static func bytesOfIPv4(_ host: Substring) -> [UInt8]? {
        ipv4(host).map { address in withUnsafeBytes(of: address.s_addr) { Array($0) } }
    }

    private static func ipv4(_ host: Substring) -> in_addr? {
        guard let first = host.utf8.first, first &- 0x30 < 10,
            host.utf8.allSatisfy({ isHexDigit($0) || $0 == UInt8(ascii: ".") || $0 | 0x20 == UInt8(ascii: "x") })
        else { return nil }
        var address = in_addr()
        return inet_aton(String(host), &address) != 0 ? address : nil
    }

    private static func bytesOfIPv6(_ host: Substring) -> [UInt8]? {
        guard host.utf8.allSatisfy({ isHexDigit($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") }) else {
            return nil
        }
        var bytes = [UInt8](repeating: 0, count: 16)
        guard inet_pton(AF_INET6, String(host), &bytes) == 1 else { return nil }
        let isMapped = bytes[..<10].allSatisfy { $0 == 0 } && bytes[10] == 0xFF && bytes[11] == 0xFF
        return isMapped ? Array(bytes[12...]) : bytes
    }

    private static func isHexDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 || (byte | 0x20) &- 0x61 < 6 }
}
