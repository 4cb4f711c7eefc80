/// A TCP connection that the command, or a process that it started, made past the proxy.
package struct BypassedConnection: Sendable, Hashable, CustomStringConvertible {
    /// The address that it leads to, in text form.
    package let address: String
    /// The port that it leads to.
    package let port: Int
    /// The program's name.
    package let process: String
    /// The process's number.
    package let pid: Int32
    /// Whether it leads to this machine: a database, say, or a server under test.
    package let isLocal: Bool

    /// Where it leads, and whose it is.
    package var description: String {
        let host = address.contains(":") ? "[\(address)]" : address
        return "\(host):\(port) (\(process), pid \(pid)\(isLocal ? ", on this machine" : ""))"
    }
}
