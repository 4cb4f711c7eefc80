/// Reads responses that have a Content-Length, and counts their bodies.
struct ResponseReader: ~Copyable {
    private let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 256 << 10, alignment: 16)
    private var filled = 0

    deinit { buffer.deallocate() }

    /// Reads one response to its end; returns the size of its body.
    ///
    /// - Throws: if it is not a 200 with a Content-Length, or ends early.
    mutating func readResponse(from socket: ClientSocket, hasBody: Bool = true) throws -> Int {
        var headEnd: Int?
        while true {
            headEnd = endOfHead()
            if headEnd != nil { break }
            let count = try socket.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
            guard count > 0 else { throw BenchmarkError("the connection ended inside a response") }
            filled += count
        }
        guard let headEnd else { return 0 }
        let head = String(decoding: buffer[..<headEnd], as: UTF8.self)
        guard head.hasPrefix("HTTP/1.1 200 ") else {
            throw BenchmarkError("unexpected response: \(head.prefix { !$0.isNewline })")
        }
        guard hasBody else {
            filled = 0
            return 0
        }
        guard let length = contentLength(head) else { throw BenchmarkError("no Content-Length: \(head)") }
        var rest = length - (filled - headEnd)
        filled = 0
        while rest > 0 {
            let count = try socket.read(into: buffer)
            guard count > 0 else { throw BenchmarkError("the connection ended inside a body") }
            rest -= count
        }
        guard rest == 0 else { throw BenchmarkError("\(-rest) bytes came after a response") }
        return length
    }

    private func endOfHead() -> Int? {
        var end = 4
        while end <= filled {
            if buffer[end - 1] == 0x0A, buffer[end - 2] == 0x0D, buffer[end - 3] == 0x0A, buffer[end - 4] == 0x0D {
                return end
            }
            end += 1
        }
        return nil
    }

    private func contentLength(_ head: String) -> Int? {
        for line in head.utf8.split(separator: UInt8(ascii: "\n")) where line.count > 15 {
            guard line.prefix(15).elementsEqual("content-length:".utf8, by: { $0 | 0x20 == $1 | 0x20 }) else {
                continue
            }
            return Int(String(decoding: line.dropFirst(15), as: UTF8.self).filter(\.isNumber))
        }
        return nil
    }
}
