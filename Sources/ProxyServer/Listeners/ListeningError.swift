package struct ListeningError: Error {
    package let listener: Listener
    /// The error of the kernel or the resolver.
    package let cause: any Error
}
