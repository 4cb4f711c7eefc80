/// How to make each platform trust the certificate authority.
package enum TrustHelp {
    /// The instructions; `path` is the authority's certificate (PEM).
    package static func text(path: String) -> String {
        """
        The certificate of your Sluice authority is
          \(path)
        Only trust it where you debug, and remove it afterwards: whoever has its key can read that device's traffic.

        One program at a time (nothing is installed)
          curl      curl --cacert '\(path)' …
          Python    REQUESTS_CA_BUNDLE='\(path)' or SSL_CERT_FILE='\(path)'
          Node      NODE_EXTRA_CA_CERTS='\(path)'
          Git       git -c http.sslCAInfo='\(path)' …
          Go, Ruby  SSL_CERT_FILE='\(path)'
          gRPC      GRPC_DEFAULT_SSL_ROOTS_FILE_PATH='\(path)' (C++, Python, Ruby and others on its core)
          Java      keytool -importcert -noprompt -alias sluice -file '\(path)' -keystore truststore.p12 -storepass changeit
                    java -Djavax.net.ssl.trustStore=truststore.p12 -Djavax.net.ssl.trustStorePassword=changeit …

        Debian, Ubuntu
          sudo cp '\(path)' /usr/local/share/ca-certificates/sluice.crt && sudo update-ca-certificates
        Fedora, RHEL
          sudo cp '\(path)' /etc/pki/ca-trust/source/anchors/sluice.pem && sudo update-ca-trust
        macOS
          sudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain '\(path)'
        Windows (as administrator)
          certutil -addstore -f ROOT sluice-ca.cer       (from: sluice ca export --format der -o sluice-ca.cer)

        Firefox
          Settings, Privacy & Security, View Certificates, Authorities, Import
        Chrome on Linux
          certutil -d sql:$HOME/.pki/nssdb -A -t C,, -n sluice -i '\(path)'

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
