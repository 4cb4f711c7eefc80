/// The memory of connections over HTTPS that had one request, and are idle now.
struct IdleConnections: Measurement {
    private static let count = 500
    /// Connections before them: the memory that a program needs for its first ones is not that of a connection.
    private static let warmUp = 50

    func applies(to subject: Subject) -> Bool { subject.traffic.contains(.secure) }

    func measure(_ subject: Subject, in bench: Bench) throws -> [Figure: Double] {
        try bench.withHop(subject, for: .secure) { hop in
            let first = try bench.makeClients(IdleConnections.warmUp, hop, .secure)
            for client in first { try client.send() }
            bench.settle()
            let before = hop.process.residentBytes
            let clients = try bench.makeClients(IdleConnections.count, hop, .secure)
            for client in clients { try client.send() }
            bench.settle()
            let grown = hop.process.residentBytes - before
            // The connections must be open until here.
            return withExtendedLifetime((first, clients)) {
                [.memory: Double(grown) / Double(IdleConnections.count << 10)]
            }
        }
    }
}
