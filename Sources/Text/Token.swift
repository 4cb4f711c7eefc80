extension StringProtocol {
    /// Whether the text is a valid token, such as a method or a field name (RFC 9110 §5.6.2).
    package var isToken: Bool { !isEmpty && utf8.allSatisfy(\.isTokenByte) }
}

extension UInt8 {
    fileprivate var isTokenByte: Bool {
        (self | 0x20) &- 0x61 < 26 || self &- 0x30 < 10 || "!#$%&'*+-.^_`|~".utf8.contains(self)
    }
}
