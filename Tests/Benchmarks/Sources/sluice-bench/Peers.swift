import Foundation
import Glibc

/// The other proxies; they record nothing.
extension Subject {
    /// Starts squid without a cache and without logs.
    func startSquid(for traffic: Traffic, in folder: String, site: Site, origin: Origin) throws -> Hop {
        let port = try freePort()
        var configuration = """
            http_access allow localhost
            cache deny all
            access_log none
            visible_hostname localhost
            cache_log \(folder)/squid.log
            pid_filename none
            coredump_dir \(folder)
            shutdown_lifetime 0 seconds
            hosts_file \(folder)/hosts
            max_filedescriptors 16384

            """
        if self.traffic.contains(.secure) {
            let database = "\(folder)/certificates"
            let log = "\(folder)/helper.log"
            try runProgram(Subject.certificateHelper, ["-c", "-s", database, "-M", "16MB"], log: log)
            let keys = "tls-cert=\(site.authority) tls-key=\(site.authorityKey)"
            configuration += """
                http_port 127.0.0.1:\(port) ssl-bump generate-host-certificates=on \(keys)
                sslcrtd_program \(Subject.certificateHelper) -s \(database) -M 16MB
                tls_outgoing_options cafile=\(site.authority)
                acl begin at_step SslBump1
                ssl_bump peek begin
                ssl_bump bump all

                """
        } else {
            configuration += "http_port 127.0.0.1:\(port)\n"
        }
        let hosts = traffic == .newHosts ? (0..<20_000).map { "127.0.0.1 \(HostNames.name($0))\n" }.joined() : ""
        try hosts.write(toFile: "\(folder)/hosts", atomically: true, encoding: .utf8)
        let path = "\(folder)/squid.conf"
        try configuration.write(toFile: path, atomically: true, encoding: .utf8)
        try giveToSquid(folder)
        return try Hop(
            ChildProcess(program, ["-N", "-f", path, "-n", "bench\(getpid())"], log: "\(folder)/squid.out"),
            folder: folder,
            routes: .forwardProxy(port: port, origin: origin)
        )
    }

    private static var certificateHelper: String { "/usr/lib/squid/security_file_certgen" }

    /// Makes Debian's user for squid the owner of the folder, because squid started by root continues as that user.
    private func giveToSquid(_ folder: String) throws {
        guard getuid() == 0 else { return }
        try runProgram("chown", ["-R", "proxy", folder], log: "\(folder)/chown.log")
    }

    /// Starts mitmdump with its default options, with which a client gets HTTP/2 only if the origin has it.
    func startMitmdump(in folder: String, site: Site, origin: Origin) throws -> Hop {
        let port = try freePort()
        let authority = try [site.authorityKey, site.authority].map { try String(contentsOfFile: $0, encoding: .utf8) }
        try authority.joined().write(toFile: "\(folder)/mitmproxy-ca.pem", atomically: true, encoding: .utf8)
        var routes = [Traffic: Route].forwardProxy(port: port, origin: origin)
        routes[.http2]?.originPort = origin.http2
        return try Hop(
            ChildProcess(
                program,
                ["--quiet", "--listen-host", "127.0.0.1", "--listen-port", "\(port)", "--set", "confdir=\(folder)"]
                    + ["--set", "ssl_verify_upstream_trusted_ca=\(site.authority)"],
                log: "\(folder)/mitmdump.log"
            ),
            folder: folder,
            routes: routes
        )
    }
}
