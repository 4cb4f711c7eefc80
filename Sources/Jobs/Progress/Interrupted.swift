/// Why work ended before it was done: a signal, most often Ctrl-C.
package struct Interrupted: Error, CustomStringConvertible {
    package let signal: Int32
    /// What was not done, in a sentence.
    package let consequence: String

    /// What a shell shows for a process that the signal ended.
    package var exitCode: Int32 { 128 + signal }

    package var description: String { "stopped. \(consequence)" }
}
