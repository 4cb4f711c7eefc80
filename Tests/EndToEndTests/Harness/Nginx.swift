import Support

/// A real nginx with files, over HTTP and HTTPS, on free ports.
final class Nginx: NginxBacked, Sendable {
    let server: NginxServer
    let plainPort: Int
    let securePort: Int

    init() async throws {
        let certificate = try await TestAuthority.shared.good
        let (plain, secure) = (try unusedPort(), try unusedPort())
        (plainPort, securePort) = (plain, secure)
        server = try await NginxServer(folders: ["dav"]) { scratch in
            """
                access_log off;
                types { text/plain txt; application/json json; }
                default_type application/octet-stream;
                client_max_body_size 2g;
                gzip on;
                gzip_types text/plain;
                server {
                    listen 127.0.0.1:\(plain);
                    listen 127.0.0.1:\(secure) ssl;
                    ssl_certificate \(certificate.file);
                    ssl_certificate_key \(certificate.key);
                    root \(scratch.path("www"));
                    location /dav/ { dav_methods PUT DELETE; }
                    location = /moved { return 302 /hello.txt; }
                    location = /broken { return 500 "broken\\n"; }
                }
            """
        } isListening: {
            (try? Socket(port: plain)) != nil
        }
        try scratch.write("www/hello.txt", "Hello, Sluice.\n")
        try scratch.write(
            "www/text.txt",
            String(repeating: "All work and no play makes Jack a dull boy.\n", count: 2_000)
        )
    }

    /// The URL of a path, `http` or `https`.
    func url(_ scheme: String, _ path: String) -> String {
        "\(scheme)://localhost:\(scheme == "https" ? securePort : plainPort)\(path)"
    }
}
