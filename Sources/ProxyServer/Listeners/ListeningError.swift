/// Why a listener has no port.
package struct ListeningError: Error {
    package let listener: Listener
    /// What the kernel or the resolver said.
    package let cause: any Error
}
