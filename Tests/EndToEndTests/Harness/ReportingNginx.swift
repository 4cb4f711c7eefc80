import Support

/// A real nginx that answers every request with what it got of it, and sets cookies and caching fields.
///
/// It listens at two addresses and at two ports that speak TLS (HTTP/2 and HTTP/1.1, as ALPN agrees), so that a report
/// tells where a request was sent. Text is compressed for whoever takes that. Below `/files/` there are files.
final class ReportingNginx: NginxBacked, Sendable {
    let server: NginxServer
    let secure: Int
    /// TLS, too; where requests go that are sent somewhere else.
    let other: Int
    /// HTTP/1.1 without TLS.
    let plain: Int

    /// What a request looked like to the server.
    struct Report: Equatable, CustomStringConvertible {
        let lines: [String: String]

        /// Reads what the server answered.
        init(_ text: String) {
            let pairs = text.split(separator: "\n").map { $0.split(separator: " ", maxSplits: 1) }
            lines = Dictionary(
                pairs.compactMap { $0.count == 2 ? (String($0[0]), String($0[1])) : nil },
                uniquingKeysWith: { $1 }
            )
        }

        subscript(key: String) -> String { lines[key] ?? "" }
        var description: String {
            lines.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: ", ")
        }
    }

    init() async throws {
        let certificate = try await TestAuthority.shared.good
        let (secure, other, plain) = (try unusedPort(), try unusedPort(), try unusedPort())
        (self.secure, self.other, self.plain) = (secure, other, plain)
        let listening = ["127.0.0.1", "127.0.0.2"].map { address in
            """
                    listen \(address):\(secure) ssl http2;
                    listen \(address):\(other) ssl http2;
                    listen \(address):\(plain);
            """
        }
        server = try await NginxServer(folders: ["files"]) { scratch in
            """
                log_format seen "$server_addr:$server_port $request_method $request_uri";
                access_log \(scratch.path("seen.log")) seen;
                client_max_body_size 64m;
                gzip on;
                gzip_min_length 1;
                gzip_types text/plain application/json;
                default_type text/plain;
                server {
            \(listening.joined(separator: "\n"))
                    ssl_certificate \(certificate.file);
                    ssl_certificate_key \(certificate.key);
                    root \(scratch.path("www"));
                    location /files/ { types { application/json json; text/html html; } }
                    location /fails/ { return 500 "broken\\n"; }
                    location = /events { default_type text/event-stream; return 200 "data: 1\\n\\ndata: 2\\n\\ndata: 3\\n\\n"; }
                    location = /v1/me {
                        default_type application/json;
                        return 200 '{"plan": "free", "trial":true}';
                    }
                    location / {
                        add_header Set-Cookie "server=1; Path=/";
                        add_header Set-Cookie "second=2";
                        add_header ETag '"v1"';
                        add_header Last-Modified "Sat, 01 Jan 2000 00:00:00 GMT";
                        add_header Expires "Tue, 01 Jan 2030 00:00:00 GMT";
                        add_header Cache-Control "max-age=100";
                        return 200 "\(ReportingNginx.report)";
                    }
                }
            """
        } isListening: {
            (try? Socket(port: plain)) != nil
        }
    }

    private static let report =
        [
            "place $server_addr:$server_port", "method $request_method", "url $scheme://$http_host$request_uri",
            "protocol $server_protocol", "sni $ssl_server_name", "cookie $http_cookie", "cache $http_cache_control",
            "pragma $http_pragma", "since $http_if_modified_since", "match $http_if_none_match", "note $http_x_note",
            "agent $http_user_agent", "authorization $http_authorization", "test $http_x_test_run",
            "debug $http_x_debug",
        ].joined(separator: "\\n") + "\\n"

    /// The requests it has answered, as `ADDRESS:PORT METHOD TARGET`.
    var requests: [String] {
        scratch.text("seen.log").split(separator: "\n").map(String.init)
    }

    /// The same as soon as there are so many: a client has its answer before the server writes about it.
    func requests(_ count: Int) async throws -> [String] {
        try await eventually("the server has seen \(count) requests") { self.requests.count >= count }
        return requests
    }

    /// Puts a file below `/files/`.
    func put(_ name: String, _ text: String) throws { try scratch.write("www/files/" + name, text) }
}
