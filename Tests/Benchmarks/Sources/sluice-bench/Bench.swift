/// The origin and the two hops, running.
struct Bench {
    let site: Site
    private let origin: ChildProcess
    private let nginx: ChildProcess
    private let originPorts: Ports
    private let nginxPorts: Ports
    private let binary: String
    /// The Sluice that serves the comparison; the other measurements start their own.
    private let sluice: SluiceRun

    private struct Ports {
        let plain: UInt16
        let secure: UInt16
        /// HTTP/2 over TLS; the origin has none.
        let http2: UInt16

        init() throws {
            plain = try freePort()
            secure = try freePort()
            http2 = try freePort()
        }
    }

    init(site: Site, nginx program: String, sluice binary: String) throws {
        self.site = site
        self.binary = binary
        originPorts = try Ports()
        origin = try site.startOrigin(nginx: program, plain: originPorts.plain, secure: originPorts.secure)
        nginxPorts = try Ports()
        nginx = try site.startHop(
            nginx: program,
            plain: nginxPorts.plain,
            secure: nginxPorts.secure,
            http2: nginxPorts.http2,
            origin: (originPorts.plain, originPorts.secure)
        )
        sluice = try SluiceRun(site: site, binary: binary, name: "comparison")
    }

    /// Starts another Sluice, with a session of its own.
    func startSluice(_ name: String) throws -> SluiceRun {
        try SluiceRun(site: site, binary: binary, name: name)
    }

    func process(_ subject: Subject) -> ChildProcess {
        switch subject {
        case .direct: origin
        case .nginx: nginx
        case .sluice: sluice.process
        }
    }

    /// How the client asks the origin by way of a subject.
    ///
    /// nginx knows no CONNECT: as an HTTPS hop it ends the client's TLS itself, without the tunnel before it.
    func route(_ subject: Subject, isSecure: Bool, sluice other: SluiceRun? = nil) -> Route {
        let target = "127.0.0.1:\(isSecure ? originPorts.secure : originPorts.plain)"
        switch subject {
        case .direct:
            return Route(port: isSecure ? originPorts.secure : originPorts.plain, isSecure: isSecure, host: target)
        case .nginx:
            let port = isSecure ? nginxPorts.secure : nginxPorts.plain
            return Route(port: port, isSecure: isSecure, targetPrefix: isSecure ? "" : "http://\(target)", host: target)
        case .sluice:
            let port = (other ?? sluice).port
            guard isSecure else {
                return Route(port: port, isSecure: false, targetPrefix: "http://\(target)", host: target)
            }
            return Route(port: port, isSecure: true, tunnel: target, host: target)
        }
    }

    /// How a client of HTTP/2 asks the origin by way of a hop.
    func http2Route(_ subject: Subject) -> Route {
        var route = route(subject, isSecure: true)
        if subject == .nginx { route.port = nginxPorts.http2 }
        return route
    }
}

/// One run of Sluice with a session of its own.
final class SluiceRun {
    let process: ChildProcess
    let port: UInt16
    let session: String
    /// Seconds from the start until it accepted.
    let startTime: Double

    init(site: Site, binary: String, name: String) throws {
        port = try freePort()
        session = "\(site.folder)/\(name).sluice"
        (process, startTime) = try site.startSluice(binary, port: port, session: session)
    }
}
