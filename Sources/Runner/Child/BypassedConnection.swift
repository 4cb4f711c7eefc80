import HTTPModel

/// A TCP connection of the command or its child processes that bypassed the proxy.
package struct BypassedConnection: Sendable, Hashable, CustomStringConvertible {
    let address: String
    let port: Int
    let process: String
    let pid: Int32
    /// Whether it leads to this machine, for example to a database or a server under test.
    let isLocal: Bool

    package var description: String {
        "\(HostAddress.withPort(address, port)) (\(process), pid \(pid)\(isLocal ? ", on this machine" : ""))"
    }
}
