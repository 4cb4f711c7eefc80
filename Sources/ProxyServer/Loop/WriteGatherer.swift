import NIOCore

/// Gathers small writes until the flush, so that a head and a short body leave in one buffer and one system call.
struct WriteGatherer {
    private var gathered = ByteBuffer()

    /// Buffers of at least this many bytes are passed on by themselves.
    private static let large = 4 << 10

    /// Takes a buffer; what is now to be written comes out, in order.
    mutating func add(_ bytes: ByteBuffer, write: (ByteBuffer) -> Void) {
        if bytes.readableBytes >= WriteGatherer.large {
            flush(write: write)
            write(bytes)
        } else if gathered.readableBytes == 0 {
            gathered = bytes
        } else {
            gathered.writeImmutableBuffer(bytes)
        }
    }

    /// Gives up what is still gathered.
    mutating func flush(write: (ByteBuffer) -> Void) {
        guard gathered.readableBytes > 0 else { return }
        let bytes = gathered
        gathered = ByteBuffer()
        write(bytes)
    }
}
