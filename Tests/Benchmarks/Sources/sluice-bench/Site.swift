import Foundation

/// A folder with everything the subjects need: certificates, nginx's configurations, the files that are served.
struct Site {
    let folder: String
    /// The authority that signed the servers' certificates.
    var authority: String { folder + "/authority.pem" }
    var authorityKey: String { folder + "/authority.key" }
    static let smallSize = 1 << 10
    static let largeSize = 100 << 20
    static let hugeSize = 1 << 30

    init(folder: String) throws {
        self.folder = folder
        try FileManager.default.createDirectory(atPath: folder + "/files", withIntermediateDirectories: true)
        try makeCertificates()
        // Sparse files: their bytes come from the page cache, as those of a warm origin do.
        try makeFile("100m", Site.largeSize)
        try makeFile("1g", Site.hugeSize)
    }

    private func makeFile(_ name: String, _ size: Int) throws {
        let path = "\(folder)/files/\(name)"
        _ = FileManager.default.createFile(atPath: path, contents: nil)
        let file = FileHandle(forWritingAtPath: path)
        try file?.truncate(atOffset: UInt64(size))
        try file?.close()
    }

    /// P-256 everywhere, which is what Sluice mints.
    private func makeCertificates() throws {
        let log = folder + "/openssl.log"
        try run(
            "openssl",
            ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30"]
                + ["-subj", "/CN=Benchmark authority", "-keyout", authorityKey, "-out", authority]
                + ["-addext", "keyUsage=critical,keyCertSign,cRLSign"],
            log: log
        )
        try run(
            "openssl",
            ["req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30"]
                + ["-CA", authority, "-CAkey", authorityKey, "-subj", "/CN=127.0.0.1"]
                + ["-keyout", folder + "/server.key", "-out", folder + "/server.pem"]
                + ["-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE"],
            log: log
        )
    }

    // MARK: - nginx

    /// Starts the server that everything comes from in the end.
    func startOrigin(nginx: String, plain: UInt16, secure: UInt16) throws -> ChildProcess {
        let small = String(repeating: "x", count: Site.smallSize)
        return try startNginx(
            nginx,
            name: "origin",
            """
            server {
                listen 127.0.0.1:\(plain) backlog=1024;
                listen 127.0.0.1:\(secure) ssl backlog=1024;
                root \(folder)/files;
                location = /1k { default_type text/plain; return 200 "\(small)"; }
            }
            """,
            ports: [plain, secure]
        )
    }

    /// Starts nginx as the hop: plain on both legs, and TLS ended and begun again.
    func startHop(
        nginx: String,
        plain: UInt16,
        secure: UInt16,
        http2: UInt16,
        origin: (plain: UInt16, secure: UInt16)
    ) throws
        -> ChildProcess
    {
        try startNginx(
            nginx,
            name: "hop",
            """
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
                    proxy_ssl_name 127.0.0.1;
                    proxy_ssl_trusted_certificate \(authority);
                }
            }
            """,
            ports: [plain, secure, http2]
        )
    }

    private func startNginx(_ nginx: String, name: String, _ servers: String, ports: [UInt16]) throws -> ChildProcess {
        let configuration = """
            daemon off;
            worker_processes 1;
            pid \(folder)/\(name).pid;
            error_log \(folder)/\(name).log;
            events { worker_connections 4096; }
            http {
                access_log off;
                client_body_temp_path \(folder)/\(name)-body;
                proxy_temp_path \(folder)/\(name)-proxy;
                fastcgi_temp_path \(folder)/\(name)-fastcgi;
                uwsgi_temp_path \(folder)/\(name)-uwsgi;
                scgi_temp_path \(folder)/\(name)-scgi;
                keepalive_requests 1000000000;
                keepalive_timeout 1h;
                sendfile on;
                tcp_nodelay on;
                ssl_certificate \(folder)/server.pem;
                ssl_certificate_key \(folder)/server.key;
                ssl_protocols TLSv1.2 TLSv1.3;
            \(servers)
            }
            """
        let path = "\(folder)/\(name).conf"
        try configuration.write(toFile: path, atomically: true, encoding: .utf8)
        let arguments = ["-c", path, "-p", folder, "-e", "\(folder)/\(name).log"]
        let process = try ChildProcess(nginx, arguments, log: "\(folder)/\(name).log")
        for port in ports { try process.waitUntilAccepting(port: port) }
        return process
    }

    // MARK: - Sluice

    /// Starts Sluice with a fresh session; returns it with the seconds from the start until it accepted.
    func startSluice(_ binary: String, port: UInt16, session: String) throws -> (ChildProcess, Double) {
        let process = try ChildProcess(
            binary,
            ["run", "--quiet", "--listen", "127.0.0.1:\(port)", "--session", session]
                + ["--ca", authority, "--ca-key", authorityKey, "--upstream-ca", authority],
            log: folder + "/sluice.log"
        )
        return (process, try process.waitUntilAccepting(port: port))
    }
}
