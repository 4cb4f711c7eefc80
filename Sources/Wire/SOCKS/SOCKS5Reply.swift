package import NIOCore

/// The answer to a request of SOCKS (RFC 1928 §6).
package enum SOCKS5Reply: UInt8 {
    case succeeded = 0
    case generalFailure = 1
    case notAllowed = 2
    case hostUnreachable = 4
    case refused = 5
    /// The nearest code for a time-out.
    case expired = 6
    case commandNotSupported = 7
    case addressTypeNotSupported = 8

    /// Without our address, which is useless for CONNECT.
    package var bytes: ByteBuffer { ByteBuffer(bytes: [5, rawValue, 0, 1, 0, 0, 0, 0, 0, 0]) }
}
