import Foundation
import NIOCore
import Testing

/// A socket that listens on a free port of the loopback address, with nothing between it and the test.
final class Listener: Sendable {
    let port: Int
    private let descriptor: Int32

    init() throws {
        let descriptor = try Self.socket()
        self.descriptor = descriptor
        let isBound = try Self.address(port: 0).withSockAddr { bind(descriptor, $0, socklen_t($1)) == 0 }
        try #require(isBound && listen(descriptor, 16) == 0)
        var name = [UInt8](repeating: 0, count: 128)
        var length = socklen_t(name.count)
        let found = name.withUnsafeMutableBytes { bytes in
            getsockname(descriptor, bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self), &length)
        }
        try #require(found == 0)
        // The port follows the two bytes of the family, on every system.
        port = Int(name[2]) << 8 | Int(name[3])
    }

    deinit { close(descriptor) }

    var address: SocketAddress { get throws { try Self.address(port: port) } }

    func accept() -> Int32 { systemAccept(descriptor) }

    static func connect(to port: Int) throws -> Int32 {
        let descriptor = try socket()
        let isConnected = try address(port: port).withSockAddr { systemConnect(descriptor, $0, socklen_t($1)) == 0 }
        try #require(isConnected)
        return descriptor
    }

    private static func socket() throws -> Int32 {
        let descriptor = systemSocket()
        try #require(descriptor >= 0)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return descriptor
    }

    private static func address(port: Int) throws -> SocketAddress {
        try SocketAddress(ipAddress: "127.0.0.1", port: port)
    }
}

/// Reads exactly so many bytes, or what comes before the end.
func receive(_ count: Int, from descriptor: Int32) -> String {
    var bytes: [UInt8] = []
    var byte: UInt8 = 0
    while bytes.count < count, read(descriptor, &byte, 1) == 1 { bytes.append(byte) }
    return String(decoding: bytes, as: UTF8.self)
}

private func systemSocket() -> Int32 {
    #if os(Linux)
    socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    #else
    socket(AF_INET, SOCK_STREAM, 0)
    #endif
}

private func systemAccept(_ descriptor: Int32) -> Int32 { accept(descriptor, nil, nil) }

private func systemConnect(_ descriptor: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t) -> Int32 {
    connect(descriptor, address, size)
}
