#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// What a server got: the request line, the fields in order, and the body without its framing.
struct ReceivedRequest: Equatable, Sendable {
    var requestLine: [UInt8]
    var fields: [[UInt8]]
    var body: [UInt8]
}

/// A loopback server with plain sockets that reads one request per connection, so that nothing stands between curl's
/// bytes and the test.
final class EchoServer {
    struct EchoError: Error, CustomStringConvertible {
        var description: String
    }

    let port: Int
    private let listener: Int32

    init() throws {
        #if canImport(Glibc)
        listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
        listener = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let listener = listener
        let bound = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(listener, $0, length) }
        }
        guard bound == 0, listen(listener, 16) == 0 else { throw EchoError(description: "cannot listen") }
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener, $0, &length) }
        }
        port = Int(UInt16(bigEndian: address.sin_port))
    }

    deinit { close(listener) }

    /// Accepts a connection, reads its request and answers; fails where nothing comes for two minutes. Where it `stays`,
    /// the connection is open until the client closes it.
    func receive(answer: String = "204 No Content", stays: Bool = false) throws -> ReceivedRequest {
        var poller = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        guard poll(&poller, 1, 120_000) == 1 else { throw EchoError(description: "no connection came") }
        let connection = accept(listener, nil, nil)
        guard connection >= 0 else { throw EchoError(description: "cannot accept") }
        defer { close(connection) }
        var bytes: [UInt8] = []
        while headEnd(bytes) == nil { try read(connection, into: &bytes) }
        guard let end = headEnd(bytes) else { throw EchoError(description: "no head") }
        var lines = bytes[..<(end - 4)].split(separator: 0x0A).map {
            $0.last == 0x0D ? Array($0.dropLast()) : Array($0)
        }
        let requestLine = lines.removeFirst()
        var body = Array(bytes[end...])
        let names = lines.map { String(decoding: $0, as: UTF8.self).lowercased() }
        if names.contains(where: { $0.hasPrefix("transfer-encoding:") && $0.contains("chunked") }) {
            while true {
                if let whole = unchunked(body) {
                    body = whole
                    break
                }
                try read(connection, into: &body)
            }
        } else if let length = names.first(where: { $0.hasPrefix("content-length:") }) {
            let count = Int(length.dropFirst(15).filter(\.isNumber)) ?? 0
            while body.count < count { try read(connection, into: &body) }
        }
        let answer = Array("HTTP/1.1 \(answer)\r\n\(stays ? "" : "Connection: close\r\n")\r\n".utf8)
        guard send(connection, answer, answer.count, 0) == answer.count else {
            throw EchoError(description: "cannot answer")
        }
        if stays {
            var poller = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
            var byte: UInt8 = 0
            guard poll(&poller, 1, 120_000) == 1, recv(connection, &byte, 1, 0) <= 0 else {
                throw EchoError(description: "the client does not close")
            }
        }
        return ReceivedRequest(requestLine: requestLine, fields: lines, body: body)
    }

    private func headEnd(_ bytes: [UInt8]) -> Int? {
        guard bytes.count >= 4 else { return nil }
        return (4...bytes.count).first { bytes[($0 - 4)..<$0].elementsEqual([13, 10, 13, 10]) }
    }

    private func read(_ connection: Int32, into bytes: inout [UInt8]) throws {
        var poller = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
        guard poll(&poller, 1, 120_000) == 1 else {
            throw EchoError(description: "the request does not end: \(bytes.count)")
        }
        var piece = [UInt8](repeating: 0, count: 65_536)
        let count = recv(connection, &piece, piece.count, 0)
        guard count > 0 else { throw EchoError(description: "the connection ended early") }
        bytes += piece[..<count]
    }

    private func unchunked(_ bytes: [UInt8]) -> [UInt8]? {
        var body: [UInt8] = []
        var rest = bytes[...]
        while let end = rest.firstIndex(of: 0x0A) {
            let line = String(decoding: rest[rest.startIndex..<end].filter { $0 != 0x0D }, as: UTF8.self)
            guard let size = Int(line, radix: 16) else { return nil }
            rest = rest[(end + 1)...]
            guard rest.count >= size + 2 else { return nil }
            if size == 0 { return body }
            body += rest.prefix(size)
            rest = rest.dropFirst(size + 2)
        }
        return nil
    }
}
