import Foundation
import Glibc

/// What all measurements share: the origin, the clients' settings, and the length of the rounds.
struct Bench {
    let site: Site
    let origin: Origin
    /// The length of a round.
    let seconds: Double
    /// Connections at once in the keep-alive rows.
    let connections: Int
    /// The path of the load generator for HTTP/2.
    let h2load: String

    /// Starts a subject in a new folder; stops it, and removes the folder, after `body`.
    func withHop<Result>(_ subject: Subject, for traffic: Traffic, _ body: (Hop) throws -> Result) throws -> Result {
        let folder = try site.makeFolder()
        defer { try? FileManager.default.removeItem(atPath: folder) }
        let hop = try subject.start(for: traffic, in: folder, site: site, origin: origin)
        defer { hop.process.stop() }
        return try body(hop)
    }

    /// Clients that send GET through a hop, each over a connection of its own.
    func makeClients(
        _ count: Int,
        _ hop: Hop,
        _ traffic: Traffic,
        path: String = "/1k",
        bodySize: Int = Site.smallSize
    ) throws -> [Client] {
        try (0..<count).map { index in
            try Client(
                route: hop.route(traffic),
                path: path,
                bodySize: bodySize,
                authority: site.authority,
                hosts: traffic == .newHosts ? HostNames(client: index, of: count) : nil
            )
        }
    }

    /// Waits until a hop has done what the last requests left behind, such as the recorder's last transaction.
    func settle() { usleep(300_000) }
}
