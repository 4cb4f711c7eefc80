import Foundation
import Testing

/// A socket that connections come to, and nobody takes.
struct SilentListener {
    private let descriptor: CInt

    init(_ path: String) throws {
        #if os(Linux)
        descriptor = socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0)
        #else
        descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let descriptor = descriptor
        let result = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        try #require(result == 0 && listen(descriptor, 5) == 0)
    }

    func close() {
        Foundation.close(descriptor)
    }
}
