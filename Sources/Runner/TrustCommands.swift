import Foundation
import Jobs

/// Commands that make a program, a machine or a browser trust the authority.
///
/// `SSL_CERT_FILE` and `REQUESTS_CA_BUNDLE` replace all other authorities, and Sluice itself reads the first one to
/// verify servers. They are therefore set for one command only.
package struct TrustCommands {
    /// The authority's certificate (PEM), quoted for a shell.
    let file: String
    private let isRoot: Bool

    package init(file: String, isRoot: Bool = geteuid() == 0) { (self.file, self.isRoot) = (file, isRoot) }

    /// To be put before a command.
    package var openSSL: String { "SSL_CERT_FILE=\(file)" }
    package var requests: String { "REQUESTS_CA_BUNDLE=\(file)" }
    /// Node adds the file to its own authorities, so the variable may be exported.
    package var node: String { "NODE_EXTRA_CA_CERTS=\(file)" }

    private var keytool: String { "keytool -importcert -noprompt -alias sluice -file \(file)" }

    /// Creates a store in the working directory.
    var javaStore: String { "\(keytool) -keystore truststore.p12 -storepass \(TrustFiles.javaPassword)" }
    var javaWithStore: String {
        "java -Djavax.net.ssl.trustStore=truststore.p12 -Djavax.net.ssl.trustStorePassword=\(TrustFiles.javaPassword)"
    }
    /// Adds to the store of the installed Java.
    package var javaItself: String { root("\(keytool) -cacerts -storepass \(TrustFiles.javaPassword)") }

    package var debian: String {
        root("cp \(file) /usr/local/share/ca-certificates/sluice.crt", "update-ca-certificates")
    }
    package var fedora: String { root("cp \(file) \(Self.fedoraFolder)/sluice.pem", "update-ca-trust") }
    var macOS: String {
        root("security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain \(file)")
    }

    package static let fedoraFolder = "/etc/pki/ca-trust/source/anchors"

    /// Adds to a browser's database; `place` (`sql:FOLDER`) is quoted for a shell.
    package func database(_ place: String) -> String { "certutil -d \(place) -A -t C,, -n sluice -i \(file)" }

    private func root(_ commands: String...) -> String { RootCommand.line(commands, isRoot: isRoot) }
}
