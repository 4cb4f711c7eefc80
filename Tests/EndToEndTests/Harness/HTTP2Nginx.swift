import Support

/// A real nginx that serves the same files in four ways: HTTP/1.1 and HTTP/2, over TLS and without.
final class HTTP2Nginx: NginxBacked, Sendable {
    let server: NginxServer
    /// HTTP/2 and HTTP/1.1 over TLS, as ALPN agrees.
    let secure: Int
    /// HTTP/1.1 over TLS, and no other.
    let secureHTTP1: Int
    /// HTTP/2 without TLS, by prior knowledge.
    let plain: Int
    /// HTTP/1.1 without TLS.
    let plainHTTP1: Int

    /// Starts it; `streams` is the limit of streams at once, 128 unless said otherwise.
    init(streams: Int = 128) async throws {
        let certificate = try await TestAuthority.shared.good
        let (secure, secureHTTP1) = (try unusedPort(), try unusedPort())
        let (plain, plainHTTP1) = (try unusedPort(), try unusedPort())
        (self.secure, self.secureHTTP1, self.plain, self.plainHTTP1) = (secure, secureHTTP1, plain, plainHTTP1)
        server = try await NginxServer(folders: ["dav"], connections: 2_048) { scratch in
            """
                access_log off;
                default_type application/octet-stream;
                client_max_body_size 2g;
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
            """
        } isListening: {
            (try? Socket(port: plainHTTP1)) != nil
        }
        try scratch.write("www/hello.txt", "Hello, Sluice.\n")
    }
}
