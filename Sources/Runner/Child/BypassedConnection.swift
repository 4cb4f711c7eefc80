/// A TCP connection that the command, or a process that it started, made past the proxy.
public struct BypassedConnection: Sendable, Hashable, CustomStringConvertible {
    /// The address that it leads to, in text form.
    public let address: String
    /// The port that it leads to.
    public let port: Int
    /// The program's name.
    public let process: String
    /// The process's number.
    public let pid: Int32
    /// Whether it leads to this machine: a database, say, or a server under test.
    public let isLocal: Bool

    /// Where it leads, and whose it is.
    public var description: String {
        let host = address.contains(":") ? "[\(address)]" : address
        return "\(host):\(port) (\(process), pid \(pid)\(isLocal ? ", on this machine" : ""))"
    }
}
