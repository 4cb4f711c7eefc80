import ExchangeCore
import Foundation
import HTTPModel
import NIOCore

/// Reads a file in place of a server's response body, piece by piece as the exchange wants more.
final class AnswerFileReader {
    var exchange: Exchange?
    private let file: AnswerFile
    private let loop: LoopContext
    private var position: Int64 = 0
    private var state = State.resting
    var isReading = true {
        didSet {
            guard isReading else { return }
            if case .kept(let piece) = state {
                state = .resting
                deliver(piece)
            } else {
                readOn()
            }
        }
    }

    private enum State {
        /// Successor: `busy`.
        case resting
        /// A piece is being read on another thread. Successors: `resting`, `kept`.
        case busy
        /// A piece that was read after the exchange paused. Successor: `resting`.
        case kept(Result<ByteBuffer, any Error>)
    }

    private static let pieceSize = 64 << 10

    init(_ file: AnswerFile, for exchange: Exchange, loop: LoopContext) {
        self.file = file
        self.exchange = exchange
        self.loop = loop
        readOn()
    }

    private func readOn() {
        guard isReading, case .resting = state, exchange != nil else { return }
        state = .busy
        let (file, position) = (file, position)
        loop.offload {
            try AnswerFileReader.piece(of: file, at: position)
        } then: { [self] result in
            state = isReading ? .resting : .kept(result)
            if isReading { deliver(result) }
        }
    }

    private func deliver(_ result: Result<ByteBuffer, any Error>) {
        guard let exchange else { return }
        exchange.readBegan()
        defer { exchange.readCompleted() }
        switch result {
        case .failure(let error):
            fail("The file of the answer cannot be read: \((error as? IOError)?.systemText ?? "\(error)").")
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

    /// Reads at most one piece of the file from `position`; returns no bytes at the file's end.
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
}
