/// A signal ended the work, usually Ctrl-C.
package struct Interrupted: Error, CustomStringConvertible {
    package let signal: Int32
    package let consequence: String

    /// As a shell shows for a process that the signal ended.
    package var exitCode: Int32 { 128 + signal }

    package var description: String { "stopped. \(consequence)" }
}
