package enum TrustHelp {
    package struct Line: Sendable, Hashable {
        package let text: String
        package let command: String?

        fileprivate init(_ text: String) { (self.text, command) = (text, nil) }

        fileprivate init(_ before: String, _ command: String, _ after: String = "") {
            (text, self.command) = (before + command + after, command)
        }
    }

    /// `path` is the authority's certificate (PEM).
    package static func text(path: String) -> String { lines(path: path).map { $0.text + "\n" }.joined() }

    /// `path` is the authority's certificate (PEM).
    package static func lines(path: String) -> [Line] {
        // They may be for another machine, whose user is unknown.
        let commands = TrustCommands(file: "'\(path)'", isRoot: false)
        return [Line("The certificate of your Sluice authority is"), Line("  ", path)] + prose(warning)
            + programs(commands) + systems(commands) + prose(phones)
    }

    private static let warning = """
        Only trust it where you debug, and remove it afterwards: whoever has its key can read that device's traffic.

        One program at a time (nothing is installed)
        """

    private static let phones = """
        iPhone, iPad
          Set the proxy in the Wi-Fi network's settings, open http://sluice.proxy/ in Safari and install the profile
          (Settings, General, VPN & Device Management), then turn on full trust in Settings, General, About,
          Certificate Trust Settings.
        Android
          Set the proxy in the Wi-Fi network's settings, open http://sluice.proxy/, download the DER certificate and
          install it under Settings, Security, Encryption & credentials, Install a certificate, CA certificate. Apps
          trust it only if their network security configuration says so; debug builds can.

        """

    private static func prose(_ text: String) -> [Line] {
        text.split(separator: "\n", omittingEmptySubsequences: false).map { Line(String($0)) }
    }

    private static func programs(_ commands: TrustCommands) -> [Line] {
        let gRPC = "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH=\(commands.file)"
        return [
            Line("  curl      ", "curl --cacert \(commands.file)", " …"),
            Line("  Python    ", "\(commands.openSSL) python3", " …"),
            Line("  requests  ", "\(commands.requests) python3", " …"),
            Line("  Node      ", commands.node),
            Line("  Git       ", "git -c http.sslCAInfo=\(commands.file)", " …"),
            Line("  Go, Ruby  ", commands.openSSL, " COMMAND"),
            Line("  gRPC      ", gRPC, " (C++, Python, Ruby and others on its core)"),
            Line("  Java      ", commands.javaStore),
            Line("            ", commands.javaWithStore, " …"),
            Line("  Do not export SSL_CERT_FILE: Sluice reads it too, and would then trust no server."),
        ]
    }

    private static func systems(_ commands: TrustCommands) -> [Line] {
        let windows = "certutil -addstore -f ROOT sluice-ca.cer"
        return [
            Line(""),
            Line("Debian, Ubuntu"),
            Line("  ", commands.debian),
            Line("Fedora, RHEL"),
            Line("  ", commands.fedora),
            Line("macOS"),
            Line("  ", commands.macOS),
            Line("Windows (as administrator)"),
            Line("  ", windows, "       (from: sluice ca export --format der -o sluice-ca.cer)"),
            Line(""),
            Line("Firefox"),
            Line("  Settings, Privacy & Security, View Certificates, Authorities, Import"),
            Line("Chrome on Linux"),
            Line("  ", commands.database("sql:$HOME/.pki/nssdb")),
            Line(""),
        ]
    }
}
