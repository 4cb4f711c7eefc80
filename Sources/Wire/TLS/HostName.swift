internal import COpenSSL
internal import HTTPModel
internal import Text

/// A host in a certificate: an address in binary form, or a DNS name in ASCII.
package enum HostName: Hashable, Sendable {
    case address([UInt8])
    case dns(String)

    /// Reads the host of a CONNECT or server name: an IPv6 address with or without brackets and zone, or a name. A name
    /// loses its trailing dot and gets lower case and `xn--` form (RFC 3492). `nil` if no certificate can name the
    /// host: empty, more than 253 bytes, white space, control characters.
    package init?(_ text: String) {
        var name = text[...]
        if name.first == "[", name.last == "]" { name = name.dropFirst().dropLast() }
        if let address = Self.address(of: String(name.prefix { $0 != "%" })) {
            self = .address(address)
            return
        }
        if name.utf8.last == UInt8(ascii: ".") { name = Substring(name.utf8.dropLast()) }
        let labels = HostForms.labels(of: String(name)).map { Self.ascii($0.lowercased()) }
        let ascii = labels.compactMap(\.self).joined(separator: ".")
        guard !labels.contains(nil), !ascii.isEmpty, ascii.utf8.count <= 253,
            ascii.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else {
            return nil
        }
        self = .dns(ascii)
    }

    private static func address(of text: String) -> [UInt8]? {
        // Other text would leave an error in OpenSSL's queue.
        guard text.utf8.allSatisfy({ $0 == 0x2E || $0 == 0x3A || $0.hexadecimalValue != nil }),
            let octets = a2i_IPADDRESS(text)
        else {
            ERR_clear_error()
            return nil
        }
        defer { ASN1_OCTET_STRING_free(octets) }
        return Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(octets), count: Int(ASN1_STRING_length(octets))))
    }

    /// A host for name look-ups: letters outside ASCII in their `xn--` form (RFC 3492), all else unchanged.
    package static func inASCII(_ host: String) -> String { HostForms(host)?.ascii ?? host }

    private static func ascii(_ label: String) -> String? {
        if label.utf8.allSatisfy({ $0 < 0x80 }) { return label }
        return Punycode.encoded(label).map { "xn--" + $0 }
    }
}
