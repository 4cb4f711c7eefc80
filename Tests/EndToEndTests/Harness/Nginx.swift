import Foundation

/// A real nginx with files, over HTTP and HTTPS, on free ports.
final class Nginx: Sendable {
    let scratch: Scratch
    let plainPort: Int
    let securePort: Int
    private let program: Program

    init() async throws {
        let scratch = try Scratch()
        self.scratch = scratch
        let certificate = try await TestAuthority.shared.good
        (plainPort, securePort) = (try unusedPort(), try unusedPort())
        try FileManager.default.createDirectory(atPath: scratch.path("www/dav"), withIntermediateDirectories: true)
        try FileManager.default.createDirectory(atPath: scratch.path("temp"), withIntermediateDirectories: true)
        try scratch.write("www/hello.txt", "Hello, Sluice.\n")
        try scratch.write(
            "www/text.txt",
            String(repeating: "All work and no play makes Jack a dull boy.\n", count: 2_000)
        )
        try scratch.write("nginx.conf", Nginx.configuration(scratch, certificate, plainPort, securePort))
        // The compiled-in error log may not be writable; -e replaces it.
        program = try Program(
            "nginx",
            ["-p", scratch.directory, "-c", scratch.path("nginx.conf"), "-e", scratch.path("error.log")]
        )
        let (program, port) = (program, plainPort)
        try await eventually("nginx listens") {
            if let status = program.status {
                throw Program.Failure(description: "nginx ended with \(status): \(program.errors)")
            }
            return (try? Socket(port: port)) != nil
        }
    }

    deinit { program.signal(SIGTERM) }

    /// The URL of a path, `http` or `https`.
    func url(_ scheme: String, _ path: String) -> String {
        "\(scheme)://localhost:\(scheme == "https" ? securePort : plainPort)\(path)"
    }

    /// Puts a file in place and returns its bytes: not compressible, the same each time.
    func makeFile(_ name: String, size: Int) throws -> [UInt8] {
        let bytes = noise(size)
        try scratch.write("www/" + name, bytes)
        return bytes
    }

    /// What was uploaded to `/dav/`.
    func uploaded(_ name: String) -> [UInt8] { scratch.bytes("www/dav/" + name) }

    private static func configuration(
        _ scratch: Scratch,
        _ certificate: TestAuthority.Certificate,
        _ plain: Int,
        _ secure: Int
    ) -> String {
        """
        daemon off;
        master_process off;
        worker_processes 1;
        pid \(scratch.path("nginx.pid"));
        error_log \(scratch.path("error.log"));
        events { worker_connections 512; }
        http {
            access_log off;
            types { text/plain txt; application/json json; }
            default_type application/octet-stream;
            client_max_body_size 2g;
            client_body_temp_path \(scratch.path("temp/body"));
            proxy_temp_path \(scratch.path("temp/proxy"));
            fastcgi_temp_path \(scratch.path("temp/fastcgi"));
            uwsgi_temp_path \(scratch.path("temp/uwsgi"));
            scgi_temp_path \(scratch.path("temp/scgi"));
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
        }

        """
    }
}

/// Bytes that look random and are the same each time (SplitMix64 with a fixed seed).
func noise(_ count: Int) -> [UInt8] {
    var state: UInt64 = 0x5EED
    var words = [UInt64](repeating: 0, count: count / 8 + 1)
    for index in words.indices {
        state &+= 0x9E37_79B9_7F4A_7C15
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        words[index] = word ^ (word >> 31)
    }
    return words.withUnsafeBytes { Array($0.prefix(count)) }
}
