import ExchangeCore
import HTTPModel
import NIOCore

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Reads a file in place of a server's response body, a piece at a time and only while the exchange wants more.
final class FileLeg: UpstreamLeg {
    var exchange: Exchange?
    private let file: AnswerFile
    private let loop: LoopContext
    private var position: Int64 = 0
    private var isReading = true
    /// Whether a piece is being read on another thread.
    private var isBusy = false
    /// A piece that was read while nobody wanted it.
    private var kept: Result<ByteBuffer, any Error>?

    /// So many bytes are read at a time, at most.
    private static let pieceSize = 64 << 10

    init(_ file: AnswerFile, loop: LoopContext) {
        self.file = file
        self.loop = loop
    }

    /// Begins to read.
    func start() {
        readOn()
    }

    private func readOn() {
        guard isReading, !isBusy, exchange != nil else { return }
        isBusy = true
        let (file, position) = (file, position)
        loop.offload {
            try FileLeg.piece(of: file, at: position)
        } then: { [self] result in
            isBusy = false
            if isReading { deliver(result) } else { kept = result }
        }
    }

    private func deliver(_ result: Result<ByteBuffer, any Error>) {
        guard let exchange else { return }
        exchange.readBegan()
        defer { exchange.readCompleted() }
        switch result {
        case .failure(let error): fail("The file of the answer cannot be read: \(error)")
        case .success(let piece) where piece.readableBytes == 0:
            fail("The file of the answer is shorter than it was: \(position) of \(file.length) bytes were there.")
        case .success(let piece):
            position += Int64(piece.readableBytes)
            exchange.responsePart(piece)
            if position >= file.length {
                self.exchange?.responseEnd(trailers: nil, wireBytes: 0, isClean: true)
            } else {
                readOn()
            }
        }
    }

    private func fail(_ text: String) {
        let exchange = exchange
        self.exchange = nil
        exchange?.upstreamClosed(ExchangeFailure(.reset, text))
    }

    /// Reads what the file has at a place, as much as a piece may be; nothing at its end.
    private static func piece(of file: AnswerFile, at position: Int64) throws -> ByteBuffer {
        let size = Int(min(Int64(pieceSize), file.length - position))
        var piece = ByteBuffer()
        while true {
            var code: CInt = 0
            piece.writeWithUnsafeMutableBytes(minimumWritableBytes: size) { bytes in
                let count = pread(file.descriptor, bytes.baseAddress, size, off_t(file.offset + position))
                if count < 0 { code = errno }
                return max(0, count)
            }
            if code == 0 { return piece }
            if code != EINTR { throw IOError(errnoCode: code, reason: "pread") }
        }
    }

    // MARK: - UpstreamLeg

    func setReading(_ isReading: Bool) {
        self.isReading = isReading
        guard isReading else { return }
        if let result = kept {
            kept = nil
            deliver(result)
        } else {
            readOn()
        }
    }

    func release() { exchange = nil }
    func abandon(_ code: HTTP2ErrorCode) { exchange = nil }

    // A file is not told anything.
    func sendRequestHead(_ head: RequestHead, _ framing: BodyFraming) -> ByteBuffer { ByteBuffer() }
    func sendRequestPart(_ part: ByteBuffer) {}
    func sendRequestEnd(_ trailers: FieldSection?) {}
    func becomeTunnel() {}
    func flush() {}
}

@available(*, unavailable)
extension FileLeg: Sendable {}
