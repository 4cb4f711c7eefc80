/// A TCP connection that the command, or a process that it started, made past the proxy.
package struct BypassedConnection: Sendable, Hashable, CustomStringConvertible {
    /// The address that it leads to.
    let address: String
    let port: Int
    /// The name of the process's program.
    let process: String
    let pid: Int32
    /// Whether it leads to this machine, for example to a database or a server under test.
    let isLocal: Bool

    package var description: String {
        let host = address.contains(":") ? "[\(address)]" : address
        return "\(host):\(port) (\(process), pid \(pid)\(isLocal ? ", on this machine" : ""))"
    }
}
