import HTTPModel
import ProxyServer
package import Runner
package import Wire

extension UpstreamOption {
    /// How a look at a server's TLS gets there; `nil` for directly.
    package func route(to target: ProbeTarget, trust: TLSTrust) -> (any ProbeRoute)? {
        let url = RequestURL(scheme: "https", host: target.host, port: target.port, path: "/", query: nil)
        return route(url).proxy.map { ProxiedRoute(to: target, through: $0, trust: trust) }
    }
}
