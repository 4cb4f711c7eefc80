#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Some of an open file, to be sent as the body of an answer.
///
/// Whoever makes one has the file opened where blocking is allowed. It is read by position, so one may serve several
/// answers.
public final class AnswerFile: Sendable {
    /// The open file.
    public let descriptor: CInt
    /// Where the body begins, in bytes.
    public let offset: Int64
    /// The size of the body, in bytes.
    public let length: Int64

    /// Takes an open file over.
    ///
    /// - Parameters:
    ///   - descriptor: owned from here on, and closed when the last answer with it is over.
    ///   - offset: where the body begins, in bytes.
    ///   - length: the size of the body, in bytes; a file that turns out shorter fails the exchange.
    public init(descriptor: CInt, offset: Int64, length: Int64) {
        self.descriptor = descriptor
        self.offset = offset
        self.length = length
    }

    deinit {
        close(descriptor)
    }
}
