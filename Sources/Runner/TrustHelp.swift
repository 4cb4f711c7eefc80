package enum TrustHelp {
    package struct Line: Sendable, Hashable {
        package let text: String
        package let command: String?
    }

    /// `path` is the authority's certificate (PEM).
    package static func text(path: String) -> String { lines(path: path).map { $0.text + "\n" }.joined() }

    /// `path` is the authority's certificate (PEM).
    package static func lines(path: String) -> [Line] {
        // The commands may be for another machine, on which the user may not be root.
        let commands = TrustCommands(file: "'\(path)'", isRoot: false)
        return marked(path, commands).split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let parts = line.split(separator: mark, omittingEmptySubsequences: false)
            return Line(text: parts.joined(), command: parts.count > 1 ? String(parts[1]) : nil)
        }
    }

    /// Put before and after each command.
    private static let mark: Character = "\0"

    private static func marked(_ path: String, _ commands: TrustCommands) -> String {
        func run(_ command: String) -> String { "\(mark)\(command)\(mark)" }
        let file = commands.file
        return """
            The certificate of your Sluice authority is
              \(run(path))
            Only trust it where you debug, and remove it afterwards: whoever has its key can read that device's traffic.

            One program at a time (nothing is installed)
              curl      \(run("curl --cacert \(file)")) …
              Python    \(run("\(commands.openSSL) python3")) …
              requests  \(run("\(commands.requests) python3")) …
              Node      \(run(commands.node))
              Git       \(run("git -c http.sslCAInfo=\(file)")) …
              Go, Ruby  \(run(commands.openSSL)) COMMAND
              gRPC      \(run("GRPC_DEFAULT_SSL_ROOTS_FILE_PATH=\(file)")) (C++, Python, Ruby and others on its core)
              Java      \(run(commands.javaStore))
                        \(run(commands.javaWithStore)) …
              Do not export SSL_CERT_FILE: Sluice reads it too, and would then trust no server.

            Debian, Ubuntu
              \(run(commands.debian))
            Fedora, RHEL
              \(run(commands.fedora))
            macOS
              \(run(commands.macOS))
            Windows (as administrator)
              \(run("certutil -addstore -f ROOT sluice-ca.cer"))       (from: sluice ca export --format der -o sluice-ca.cer)

            Firefox
              Settings, Privacy & Security, View Certificates, Authorities, Import
            Chrome on Linux
              \(run(commands.database("sql:$HOME/.pki/nssdb")))

            iPhone, iPad
              Set the proxy in the Wi-Fi network's settings, open http://sluice.proxy/ in Safari and install the profile
              (Settings, General, VPN & Device Management), then turn on full trust in Settings, General, About,
              Certificate Trust Settings.
            Android
              Set the proxy in the Wi-Fi network's settings, open http://sluice.proxy/, download the DER certificate and
              install it under Settings, Security, Encryption & credentials, Install a certificate, CA certificate. Apps
              trust it only if their network security configuration says so; debug builds can.

            """
    }
}
