/// A signal ended the work, usually Ctrl-C.
package struct Interrupted: Error, CustomStringConvertible {
    package let signal: Int32
    package let consequence: String

    /// The exit code that a shell reports for a process ended by this signal.
    package var exitCode: Int32 { 128 + signal }

    package var description: String { "stopped. \(consequence)" }
}
