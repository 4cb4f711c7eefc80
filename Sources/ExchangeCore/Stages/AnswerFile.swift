import Foundation

/// Part of a file, opened where blocking is allowed, as an answer's body. Read by position, so it can be shared.
package final class AnswerFile: Sendable {
    package let descriptor: CInt
    /// Where the body begins in the file, in bytes.
    package let offset: Int64
    /// In bytes.
    package let length: Int64

    package init(descriptor: CInt, offset: Int64, length: Int64) {
        self.descriptor = descriptor
        self.offset = offset
        self.length = length
    }

    deinit { close(descriptor) }
}
