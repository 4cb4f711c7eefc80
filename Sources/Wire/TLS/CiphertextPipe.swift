internal import COpenSSL
internal import NIOCore

/// The encrypted bytes of one connection, which OpenSSL reads and writes directly, without a memory BIO.
final class CiphertextPipe {
    var incoming = ByteBuffer()
    var outgoing = ByteBuffer()

    func receive(_ ciphertext: ByteBuffer) { incoming.append(ciphertext) }

    fileprivate func read(into target: UnsafeMutableRawPointer, atMost limit: Int) -> Int {
        let count = min(limit, incoming.readableBytes)
        guard count > 0 else { return 0 }
        incoming.readWithUnsafeReadableBytes { bytes in
            if let source = bytes.baseAddress { target.copyMemory(from: source, byteCount: count) }
            return count
        }
        // An idle connection holds no buffer.
        if incoming.readableBytes == 0 { incoming = ByteBuffer() }
        return count
    }

    fileprivate func write(_ bytes: UnsafeRawBufferPointer) { outgoing.writeBytes(bytes) }
}

/// The functions by which OpenSSL reaches a ``CiphertextPipe``.
final class CiphertextPipeMethod {
    private let method: OpaquePointer

    init?() {
        guard let method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "ciphertext pipe") else { return nil }
        self.method = method
        BIO_meth_set_create(method) { bio in
            BIO_set_init(bio, 1)
            return 1
        }
        BIO_meth_set_read(method) { bio, target, limit in
            guard let bio, let target, let pipe = pipe(of: bio) else { return -1 }
            sluice_BIO_clear_retry_flags(bio)
            let count = pipe.read(into: UnsafeMutableRawPointer(target), atMost: Int(limit))
            if count > 0 { return Int32(count) }
            // The session knows the end of the stream; OpenSSL only waits.
            sluice_BIO_set_retry_read(bio)
            return -1
        }
        BIO_meth_set_write(method) { bio, source, count in
            guard let bio, let source, count > 0, let pipe = pipe(of: bio) else { return -1 }
            sluice_BIO_clear_retry_flags(bio)
            pipe.write(UnsafeRawBufferPointer(start: source, count: Int(count)))
            return count
        }
        BIO_meth_set_ctrl(method) { _, command, _, _ in command == Int32(BIO_CTRL_FLUSH) ? 1 : 0 }
    }

    deinit { BIO_meth_free(method) }

    /// The pipe and this table must outlive the BIO.
    func makeBIO(onto pipe: CiphertextPipe) -> OpaquePointer? {
        guard let bio = BIO_new(method) else { return nil }
        BIO_set_data(bio, Unmanaged.passUnretained(pipe).toOpaque())
        return bio
    }
}

private func pipe(of bio: OpaquePointer) -> CiphertextPipe? {
    BIO_get_data(bio).map { Unmanaged<CiphertextPipe>.fromOpaque($0).takeUnretainedValue() }
}
