internal import COpenSSL

/// A host as a certificate names it: an address in binary form, or a DNS name in ASCII.
enum HostName: Hashable {
    case address([UInt8])
    case dns(String)

    /// Understands what a client sent as CONNECT host or server name.
    ///
    /// Takes IPv6 addresses with or without brackets and zone, drops the root's dot, lowers the case, and turns
    /// labels outside ASCII into their `xn--` form (RFC 3492). `nil` for what no certificate can name: nothing at all,
    /// more than 253 bytes, white space or control characters.
    init?(_ text: String) {
        var name = text[...]
        if name.first == "[", name.last == "]" { name = name.dropFirst().dropLast() }
        if let address = Self.address(of: String(name.prefix { $0 != "%" })) {
            self = .address(address)
            return
        }
        if name.last == "." { name = name.dropLast() }
        var labels: [String] = []
        for label in name.split(separator: ".", omittingEmptySubsequences: false) {
            guard let ascii = Self.ascii(label.lowercased()) else { return nil }
            labels.append(ascii)
        }
        let ascii = labels.joined(separator: ".")
        guard !ascii.isEmpty, ascii.utf8.count <= 253, ascii.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
            return nil
        }
        self = .dns(ascii)
    }

    /// The bytes of an address written as text, in network order.
    private static func address(of text: String) -> [UInt8]? {
        // Anything else would leave an error in OpenSSL's queue.
        guard text.utf8.allSatisfy({ $0 == 0x2E || $0 == 0x3A || ($0 >= 0x30 && $0 <= 0x39) || isHexLetter($0) }),
            let octets = a2i_IPADDRESS(text)
        else {
            ERR_clear_error()
            return nil
        }
        defer { ASN1_OCTET_STRING_free(octets) }
        return Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(octets), count: Int(ASN1_STRING_length(octets))))
    }

    private static func isHexLetter(_ byte: UInt8) -> Bool { (0x61...0x66).contains(byte | 0x20) }

    private static func ascii(_ label: String) -> String? {
        if label.utf8.allSatisfy({ $0 < 0x80 }) { return label }
        return punycode(Array(label.unicodeScalars.map(\.value))).map { "xn--" + $0 }
    }

    /// RFC 3492 section 6.3; `nil` where a number would overflow.
    private static func punycode(_ scalars: [UInt32]) -> String? {
        // No DNS label is longer than 63 bytes, so no honest one has more scalars than this.
        guard scalars.count <= 253 else { return nil }
        let input = scalars.map { Int($0) }
        var output = input.filter { $0 < 0x80 }.map { UInt8($0) }
        let basicCount = output.count
        if basicCount > 0 { output.append(0x2D) }
        var (next, delta, bias, handled) = (0x80, 0, 72, basicCount)
        while handled < input.count {
            guard let smallest = input.filter({ $0 >= next }).min() else { return nil }
            delta += (smallest - next) * (handled + 1)
            next = smallest
            for scalar in input {
                if scalar < next { delta += 1 }
                guard scalar == next else { continue }
                var (rest, position) = (delta, 36)
                while true {
                    let threshold = min(max(position - bias, 1), 26)
                    if rest < threshold { break }
                    output.append(digit(threshold + (rest - threshold) % (36 - threshold)))
                    rest = (rest - threshold) / (36 - threshold)
                    position += 36
                }
                output.append(digit(rest))
                bias = adapted(delta, count: handled + 1, isFirst: handled == basicCount)
                delta = 0
                handled += 1
            }
            delta += 1
            next += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    private static func digit(_ value: Int) -> UInt8 { UInt8(value < 26 ? value + 0x61 : value - 26 + 0x30) }

    private static func adapted(_ delta: Int, count: Int, isFirst: Bool) -> Int {
        var rest = isFirst ? delta / 700 : delta / 2
        rest += rest / count
        var steps = 0
        while rest > 455 {
            rest /= 35
            steps += 36
        }
        return steps + 36 * rest / (rest + 38)
    }
}
