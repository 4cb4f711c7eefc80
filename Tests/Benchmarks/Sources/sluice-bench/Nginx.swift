import Foundation

/// The server that all responses come from.
struct Origin {
    let process: ChildProcess
    let plain: UInt16
    let secure: UInt16
    /// HTTP/2 over TLS, only for hops that cannot translate it to HTTP/1.1.
    let http2: UInt16

    init(nginx: String, site: Site) throws {
        plain = try freePort()
        secure = try freePort()
        http2 = try freePort()
        let small = String(repeating: "x", count: Site.smallSize)
        let servers = """
            server {
                listen 127.0.0.1:\(plain) backlog=1024;
                listen 127.0.0.1:\(secure) ssl backlog=1024;
                listen 127.0.0.1:\(http2) ssl http2 backlog=1024;
                root \(site.folder)/files;
                location = /1k { default_type text/plain; return 200 "\(small)"; }
            }
            """
        process = try ChildProcess(nginx: nginx, servers, in: site.makeFolder(), site: site)
        for port in [plain, secure, http2] { try process.waitUntilAccepting(port: port) }
    }
}

extension Subject {
    /// Starts nginx as the hop: HTTP to HTTP, and TLS that it ends and begins again.
    ///
    /// nginx does not know CONNECT: it terminates the client's TLS without a tunnel before it.
    func startNginx(in folder: String, site: Site, origin: Origin) throws -> Hop {
        // nginx compares only names, not addresses, with the certificate; no name is sent to the origin.
        let (plain, secure, http2) = (try freePort(), try freePort(), try freePort())
        let servers = """
            upstream plain { server 127.0.0.1:\(origin.plain); keepalive 64; keepalive_requests 1000000000; }
            upstream secure { server 127.0.0.1:\(origin.secure); keepalive 64; keepalive_requests 1000000000; }
            proxy_http_version 1.1;
            proxy_set_header Host $http_host;
            proxy_set_header Connection "";
            proxy_max_temp_file_size 0;
            server {
                listen 127.0.0.1:\(plain) backlog=1024;
                location / { proxy_pass http://plain; }
            }
            server {
                listen 127.0.0.1:\(secure) ssl backlog=1024;
                listen 127.0.0.1:\(http2) ssl http2 backlog=1024;
                location / {
                    proxy_pass https://secure;
                    proxy_ssl_verify on;
                    proxy_ssl_name \(HostNames.name(0));
                    proxy_ssl_trusted_certificate \(site.authority);
                }
            }
            """
        return try Hop(
            ChildProcess(nginx: program, servers, in: folder, site: site),
            folder: folder,
            routes: [
                .plain: Route(port: plain, originPort: origin.plain),
                .secure: Route(port: secure, originPort: origin.secure, isSecure: true),
                .http2: Route(port: http2, originPort: origin.secure, isSecure: true),
            ]
        )
    }
}

extension ChildProcess {
    /// Starts nginx with one worker, and these servers.
    fileprivate convenience init(nginx: String, _ servers: String, in folder: String, site: Site) throws {
        let configuration = """
            daemon off;
            worker_processes 1;
            pid \(folder)/nginx.pid;
            error_log \(folder)/nginx.log;
            events { worker_connections 16384; }
            http {
                access_log off;
                client_body_temp_path \(folder)/body;
                proxy_temp_path \(folder)/proxy;
                fastcgi_temp_path \(folder)/fastcgi;
                uwsgi_temp_path \(folder)/uwsgi;
                scgi_temp_path \(folder)/scgi;
                keepalive_requests 1000000000;
                keepalive_timeout 1h;
                sendfile on;
                tcp_nodelay on;
                ssl_certificate \(site.certificate);
                ssl_certificate_key \(site.certificateKey);
                ssl_protocols TLSv1.2 TLSv1.3;
            \(servers)
            }
            """
        let path = "\(folder)/nginx.conf"
        try configuration.write(toFile: path, atomically: true, encoding: .utf8)
        let log = "\(folder)/nginx.log"
        try self.init(nginx, ["-c", path, "-p", folder, "-e", log], log: log)
    }
}
