/// How to make each platform trust the certificate authority.
package enum TrustHelp {
    /// A line of the instructions, and the command in it.
    package struct Line: Sendable, Hashable {
        package let text: String
        /// `nil` for none.
        package let command: String?

        fileprivate init(_ text: String) { (self.text, command) = (text, nil) }

        fileprivate init(_ before: String, _ command: String, _ after: String = "") {
            (text, self.command) = (before + command + after, command)
        }
    }

    /// The instructions as one text; `path` is the authority's certificate (PEM).
    package static func text(path: String) -> String { lines(path: path).map { $0.text + "\n" }.joined() }

    /// The instructions; `path` is the authority's certificate (PEM).
    package static func lines(path: String) -> [Line] {
        [Line("The certificate of your Sluice authority is"), Line("  ", path)] + prose(warning) + programs(path)
            + systems(path) + prose(phones)
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

    private static func programs(_ path: String) -> [Line] {
        [
            Line("  curl      ", "curl --cacert '\(path)'", " …"),
            Line("  Python    ", "REQUESTS_CA_BUNDLE='\(path)'", " or SSL_CERT_FILE='\(path)'"),
            Line("  Node      ", "NODE_EXTRA_CA_CERTS='\(path)'"),
            Line("  Git       ", "git -c http.sslCAInfo='\(path)'", " …"),
            Line("  Go, Ruby  ", "SSL_CERT_FILE='\(path)'"),
            Line(
                "  gRPC      ",
                "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH='\(path)'",
                " (C++, Python, Ruby and others on its core)"
            ),
            Line(
                "  Java      ",
                "keytool -importcert -noprompt -alias sluice -file '\(path)' -keystore truststore.p12 "
                    + "-storepass changeit"
            ),
            Line(
                "            ",
                "java -Djavax.net.ssl.trustStore=truststore.p12 -Djavax.net.ssl.trustStorePassword=changeit",
                " …"
            ),
        ]
    }

    private static func systems(_ path: String) -> [Line] {
        [
            Line(""),
            Line("Debian, Ubuntu"),
            Line(
                "  ",
                "sudo cp '\(path)' /usr/local/share/ca-certificates/sluice.crt && sudo update-ca-certificates"
            ),
            Line("Fedora, RHEL"),
            Line("  ", "sudo cp '\(path)' /etc/pki/ca-trust/source/anchors/sluice.pem && sudo update-ca-trust"),
            Line("macOS"),
            Line(
                "  ",
                "sudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain '\(path)'"
            ),
            Line("Windows (as administrator)"),
            Line(
                "  ",
                "certutil -addstore -f ROOT sluice-ca.cer",
                "       (from: sluice ca export --format der -o sluice-ca.cer)"
            ),
            Line(""),
            Line("Firefox"),
            Line("  Settings, Privacy & Security, View Certificates, Authorities, Import"),
            Line("Chrome on Linux"),
            Line("  ", "certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n sluice -i '\(path)'"),
            Line(""),
        ]
    }
}
