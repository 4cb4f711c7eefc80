import Foundation
import HTTPModel
import NIOCore
import Support
import Testing

@testable import Wire

@Suite struct TLSInteropTests {
    @Test(
        "OpenSSL's own client accepts our server, also if it takes no ECDSA, or has only finite fields or RSA to agree on keys",
        arguments: [
            "-tls1_2", "-tls1_3", "-tls1_2 -cipher ECDHE-RSA-AES128-GCM-SHA256",
            "-tls1_2 -cipher DHE-RSA-AES256-SHA256",
            "-tls1_2 -cipher AES128-SHA", "-tls1_2 -sigalgs RSA+SHA256", "-tls1_3 -sigalgs rsa_pss_rsae_sha256",
        ]
    )
    func opensslClient(options: String) throws {
        let fixture = try TLSFixture()
        try fixture.mint.use(LeafKey(.rsa))
        let directory = try Scratch()
        defer { directory.remove() }
        let root = try directory.write("root.pem", fixture.authority.export(.pem))
        let listener = try LoopbackListener()
        defer { listener.close() }
        let (input, output) = (Pipe(), Pipe())
        let client = try ChildProgram(
            "/usr/bin/env",
            [
                "openssl", "s_client", "-connect", "127.0.0.1:\(listener.port)", "-servername", "www.example.com",
                "-verify_hostname", "www.example.com", "-verify_return_error", "-x509_strict", "-CAfile", root, "-alpn",
                "h2,http/1.1", "-quiet", "-ign_eof",
            ] + options.split(separator: " ").map(String.init),
            input: input.fileHandleForReading,
            output: output.fileHandleForWriting
        )
        try output.fileHandleForWriting.close()
        let socket = try listener.accept()
        defer { socket.close() }
        let first = ByteBuffer(bytes: socket.read())
        guard case .hello(let hello) = ClientHello.parse(first) else {
            Issue.record("the hello came in pieces")
            return
        }
        let key: LeafKey.Kind = hello.acceptsECDSA ? .ecdsa : .rsa
        #expect((key == .ecdsa) == !options.contains(" "))
        let certificate = try fixture.mint.certificate(for: "www.example.com", key: key)
        let server = try fixture.server.makeSession(certificate: certificate)
        input.fileHandleForWriting.write(Data("question".utf8))
        var received = ByteBuffer()
        server.receive(first)
        _ = server.advance(into: &received)
        if let ciphertext = server.takeOutput() { socket.write(Array(ciphertext.readableBytesView)) }
        while received.readableBytes < 8 {
            let bytes = socket.read()
            try #require(!bytes.isEmpty, "\(server.state)")
            server.receive(ByteBuffer(bytes: bytes))
            _ = server.advance(into: &received)
            if let ciphertext = server.takeOutput() { socket.write(Array(ciphertext.readableBytesView)) }
        }
        #expect(received == ByteBuffer(string: "question"))
        try server.write(ByteBuffer(string: "answer"))
        server.shutdown()
        if let ciphertext = server.takeOutput() { socket.write(Array(ciphertext.readableBytesView)) }
        #expect(output.fileHandleForReading.readDataToEndOfFile() == Data("answer".utf8))
        #expect(client.wait() == 0)
        #expect(server.details.protocolVersion == (options.hasPrefix("-tls1_2") ? "TLSv1.2" : "TLSv1.3"))
        #expect(server.details.applicationProtocol == "http/1.1")
    }
}

/// A blocking socket on the loopback interface.
private struct LoopbackSocket {
    let descriptor: Int32

    func read() -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = Foundation.read(descriptor, &bytes, bytes.count)
        return Array(bytes.prefix(max(0, count)))
    }

    func write(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }

    func close() { _ = Foundation.close(descriptor) }
}

/// Listens on a port that the system chooses.
private struct LoopbackListener {
    let descriptor: Int32
    let port: UInt16

    init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        try #require(descriptor >= 0)
        giveUpWaiting(on: descriptor)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let descriptor = descriptor
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && listen(descriptor, 1) == 0
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        try #require(isBound)
        port = UInt16(bigEndian: address.sin_port)
    }

    func accept() throws -> LoopbackSocket {
        let accepted = Foundation.accept(descriptor, nil, nil)
        try #require(accepted >= 0)
        giveUpWaiting(on: accepted)
        return LoopbackSocket(descriptor: accepted)
    }

    func close() { _ = Foundation.close(descriptor) }
}

/// Makes reads and accepts fail after two minutes, so that a broken test ends.
private func giveUpWaiting(on descriptor: Int32) {
    var limit = timeval(tv_sec: 120, tv_usec: 0)
    setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
}
