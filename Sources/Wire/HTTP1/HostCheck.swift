package import HTTPModel

/// Checks a request's Host (RFC 9112 §3.2) after parsing, so that a refused request can be shown and recorded.
package enum HostCheck {
    /// Throws if an HTTP/1.1 request has no Host, or any request has several or an invalid one; an empty Host is valid.
    /// A CONNECT may lack Host (Java 11), or have its target there in any form (iOS: an IPv6 address without brackets).
    package static func check(_ head: RequestHead) throws(HTTP1ParseError) {
        guard let index = head.fields.firstIndex(of: .host) else {
            if head.version != .http11 || head.method == "CONNECT" { return }
            throw HTTP1ParseError(.missingHost, at: 0, in: .request)
        }
        if let second = head.fields.firstIndex(of: .host, from: index + 1) {
            let offset = head.fields.valueRange(at: second).lowerBound
            throw HTTP1ParseError(.repeatedHost, at: offset, in: .request)
        }
        if head.fields.withValue(at: index, { $0.isHostAndPort }) { return }
        if head.method == "CONNECT", head.fields[index].valueBytes.elementsEqual(head.targetBytes) { return }
        throw HTTP1ParseError(.invalidHost, at: head.fields.valueRange(at: index).lowerBound, in: .request)
    }
}

extension UnsafeRawBufferPointer {
    /// Whether the bytes are `uri-host [ ":" port ]` (RFC 3986 §3.2.2), or empty.
    fileprivate var isHostAndPort: Bool {
        var rest = self[...]
        if rest.first == UInt8(ascii: "[") {
            guard let bracket = rest.firstIndex(of: UInt8(ascii: "]")), bracket > 2 else { return false }
            guard rest[1..<bracket].allSatisfy({ $0.isAddressLiteralCharacter }) else { return false }
            rest = rest[(bracket + 1)...]
        } else {
            let end = rest.firstIndex(of: .colon) ?? rest.endIndex
            guard rest[..<end].allSatisfy({ $0.isRegisteredNameCharacter }) else { return false }
            guard end > 0 || isEmpty else { return false }
            rest = rest[end...]
        }
        guard let first = rest.first else { return true }
        guard first == .colon else { return false }
        var port = 0
        for byte in rest.dropFirst() {
            let digit = byte &- UInt8(ascii: "0")
            guard digit < 10 else { return false }
            port = port * 10 + Int(digit)
            guard port <= 65535 else { return false }
        }
        return true
    }
}

extension UInt8 {
    private var isLetterOrDigit: Bool { self &- 0x30 < 10 || (self | 0x20) &- 0x61 < 26 }

    private func isOne(of text: StaticString) -> Bool { text.withUTF8Buffer { $0.contains(self) } }

    /// Unreserved characters, sub-delimiters, percent sign.
    fileprivate var isRegisteredNameCharacter: Bool { isLetterOrDigit || isOne(of: "-._~%!$&'()*+,;=") }

    /// For IPv6 addresses with a zone.
    fileprivate var isAddressLiteralCharacter: Bool { isLetterOrDigit || isOne(of: ":.%-_~") }
}
