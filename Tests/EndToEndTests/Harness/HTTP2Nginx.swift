import Foundation

/// A real nginx that serves the same files in four ways: HTTP/1.1 and HTTP/2, over TLS and without.
final class HTTP2Nginx: Sendable {
    /// HTTP/2 and HTTP/1.1 over TLS, as ALPN agrees.
    let secure: Int
    /// HTTP/1.1 over TLS, and no other.
    let secureHTTP1: Int
    /// HTTP/2 without TLS, by prior knowledge.
    let plain: Int
    /// HTTP/1.1 without TLS.
    let plainHTTP1: Int
    let scratch: Scratch
    private let program: Program

    /// Starts it; `streams` is the limit of streams at once, 128 unless said otherwise.
    init(streams: Int = 128) async throws {
        let scratch = try Scratch()
        self.scratch = scratch
        let certificate = try await TestAuthority.shared.good
        (secure, secureHTTP1) = (try unusedPort(), try unusedPort())
        (plain, plainHTTP1) = (try unusedPort(), try unusedPort())
        for directory in ["www/dav", "temp"] {
            try FileManager.default.createDirectory(
                atPath: scratch.path(directory),
                withIntermediateDirectories: true
            )
        }
        try scratch.write("www/hello.txt", "Hello, Sluice.\n")
        try scratch.write(
            "nginx.conf",
            """
            daemon off;
            master_process off;
            worker_processes 1;
            pid \(scratch.path("nginx.pid"));
            error_log \(scratch.path("error.log"));
            events { worker_connections 2048; }
            http {
                access_log off;
                default_type application/octet-stream;
                client_max_body_size 2g;
                client_body_temp_path \(scratch.path("temp/body"));
                proxy_temp_path \(scratch.path("temp/proxy"));
                fastcgi_temp_path \(scratch.path("temp/fastcgi"));
                uwsgi_temp_path \(scratch.path("temp/uwsgi"));
                scgi_temp_path \(scratch.path("temp/scgi"));
                http2_max_concurrent_streams \(streams);
                server {
                    listen 127.0.0.1:\(secure) ssl http2;
                    listen 127.0.0.1:\(secureHTTP1) ssl;
                    listen 127.0.0.1:\(plain) http2;
                    listen 127.0.0.1:\(plainHTTP1);
                    ssl_certificate \(certificate.file);
                    ssl_certificate_key \(certificate.key);
                    root \(scratch.path("www"));
                    add_header X-First one;
                    add_header X-Second two;
                    location /dav/ { dav_methods PUT DELETE; }
                    location = / { default_type text/plain; return 200 "an answer to anything\\n"; }
                }
            }

            """
        )
        program = try Program(
            "nginx",
            ["-p", scratch.directory, "-c", scratch.path("nginx.conf"), "-e", scratch.path("error.log")]
        )
        let (program, port) = (program, plainHTTP1)
        try await eventually("nginx listens") {
            if let status = program.status {
                throw Program.Failure(description: "nginx ended with \(status): \(program.errors)")
            }
            return (try? Socket(port: port)) != nil
        }
    }

    deinit { program.signal(SIGTERM) }

    /// Puts a file in place and returns its bytes: not compressible, the same each time.
    func makeFile(_ name: String, size: Int) throws -> [UInt8] {
        let bytes = noise(size)
        try scratch.write("www/" + name, bytes)
        return bytes
    }

    /// What was uploaded to `/dav/`.
    func uploaded(_ name: String) -> [UInt8] { scratch.bytes("www/dav/" + name) }
}
