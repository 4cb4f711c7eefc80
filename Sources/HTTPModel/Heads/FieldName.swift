/// A field name for comparisons without ASCII case (RFC 9110 §5.1); the hash decides most of them.
package struct FieldName: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    package let lowercased: String
    let hash: UInt32

    package init(_ name: String) {
        let lowercased = String(decoding: name.utf8.map(FieldName.lower), as: UTF8.self)
        self.lowercased = lowercased
        self.hash = FieldName.hash(lowercased.utf8)
    }

    package init(stringLiteral value: String) { self.init(value) }

    package var description: String { lowercased }

    package static func == (left: FieldName, right: FieldName) -> Bool {
        left.hash == right.hash && left.lowercased == right.lowercased
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    static func lower(_ byte: UInt8) -> UInt8 { byte &- 0x41 < 26 ? byte | 0x20 : byte }

    /// FNV-1a over the lower-case bytes.
    static func hash(_ bytes: some Sequence<UInt8>) -> UInt32 {
        var hash: UInt32 = 0x811C_9DC5
        for byte in bytes { hash = (hash ^ UInt32(lower(byte))) &* 0x0100_0193 }
        return hash
    }

    func matches(_ bytes: UnsafeRawBufferPointer) -> Bool {
        lowercased.utf8.withContiguousStorageIfAvailable { own in
            guard own.count == bytes.count else { return false }
            for index in 0..<own.count where own[index] != FieldName.lower(bytes[index]) { return false }
            return true
        } ?? lowercased.utf8.elementsEqual(bytes.lazy.map(FieldName.lower))
    }
}

extension FieldName {
    package static let acceptEncoding: FieldName = "accept-encoding"  // RFC 9110 §12.5.3
    package static let altSvc: FieldName = "alt-svc"  // RFC 7838
    package static let authorization: FieldName = "authorization"  // RFC 9110 §11.6.2
    package static let connection: FieldName = "connection"  // RFC 9110 §7.6.1
    package static let contentEncoding: FieldName = "content-encoding"  // RFC 9110 §8.4
    package static let contentLength: FieldName = "content-length"  // RFC 9110 §8.6
    package static let contentType: FieldName = "content-type"  // RFC 9110 §8.3
    package static let cookie: FieldName = "cookie"  // RFC 6265
    package static let expect: FieldName = "expect"  // RFC 9110 §10.1.1
    package static let host: FieldName = "host"  // RFC 9110 §7.2
    package static let keepAlive: FieldName = "keep-alive"  // RFC 2068 §19.7.1.1
    package static let proxyAuthenticate: FieldName = "proxy-authenticate"  // RFC 9110 §11.7.1
    package static let proxyAuthorization: FieldName = "proxy-authorization"  // RFC 9110 §11.7.2
    package static let proxyConnection: FieldName = "proxy-connection"  // Not standardised; RFC 9110 §7.6.1.
    package static let setCookie: FieldName = "set-cookie"  // RFC 6265
    package static let te: FieldName = "te"  // RFC 9110 §10.1.4
    package static let trailer: FieldName = "trailer"  // RFC 9110 §6.6.2
    package static let transferEncoding: FieldName = "transfer-encoding"  // RFC 9112 §6.1
    package static let upgrade: FieldName = "upgrade"  // RFC 9110 §7.8
    package static let wwwAuthenticate: FieldName = "www-authenticate"  // RFC 9110 §11.6.1
}
