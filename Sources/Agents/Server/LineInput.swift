package import Foundation

/// The lines of a file descriptor, read on a thread of its own.
package enum LineInput {
    /// A line that is longer than `longest` bytes is `nil`. The last line may lack its end.
    package static func lines(of descriptor: CInt, longest: Int) -> AsyncStream<Data?> {
        AsyncStream { continuation in
            Thread.detachNewThread {
                var (line, isTooLong) = (Data(), false)
                var buffer = [UInt8](repeating: 0, count: 1 << 16)
                while true {
                    let count = read(descriptor, &buffer, buffer.count)
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { break }
                    for piece in buffer[..<count].split(separator: 0x0A, omittingEmptySubsequences: false).enumerated()
                    {
                        if piece.offset > 0 {
                            continuation.yield(isTooLong ? nil : line)
                            (line, isTooLong) = (Data(), false)
                        }
                        if line.count + piece.element.count > longest {
                            isTooLong = true
                        } else {
                            line += piece.element
                        }
                    }
                }
                if isTooLong { continuation.yield(nil) } else if !line.isEmpty { continuation.yield(line) }
                continuation.finish()
            }
        }
    }
}
