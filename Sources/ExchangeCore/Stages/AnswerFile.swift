import Foundation

/// Some of an open file, to be sent as the body of an answer; opened where blocking is allowed. It is read by position,
/// so one may serve several answers.
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
