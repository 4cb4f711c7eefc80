import Foundation
import HTTPModel
import Jobs

package struct ProbeTarget: Sendable, Hashable {
    /// An IPv6 address without brackets.
    package var host: String
    package var port: Int
    /// The name or address that the certificate must have; a name is also sent as SNI.
    package var serverName: String

    package init(host: String, port: Int = 443, serverName: String? = nil) {
        (self.host, self.port) = (host, port)
        self.serverName = serverName ?? host
    }

    /// Reads `HOST`, `HOST:PORT`, `[v6]:PORT`, a bare IPv6 address, or an `https://` URL.
    package init(_ text: String, serverName: String? = nil) throws {
        var place = Substring(text)
        if let scheme = place.range(of: "://") {
            guard place[..<scheme.lowerBound].lowercased() == "https" else { throw ProbeTarget.misuse(text) }
            place = place[scheme.upperBound...].prefix { !"/?#".contains($0) }
        }
        // Several colons without brackets are an IPv6 address.
        let isBare = place.first != "[" && place.count { $0 == ":" } > 1
        guard let (host, port) = RequestURL.splitAuthority(isBare ? "[\(place)]" : place), !host.isEmpty,
            (1...65_535).contains(port ?? 443)
        else { throw ProbeTarget.misuse(text) }
        self.init(host: host, port: port ?? 443, serverName: serverName)
    }

    private static func misuse(_ text: String) -> StartError {
        StartError("'\(text)' is not a server: write HOST, HOST:PORT or [ADDRESS]:PORT.", isUsage: true)
    }

    package var authority: String { HostAddress.withPort(host, port) }
}
