import Files
import Foundation
import Jobs
import Wire

/// Files in a temporary directory that make a command trust Sluice's authority besides its usual authorities.
package struct TrustFiles: Sendable {
    /// The usual password of Java's trust stores, which protects nothing.
    package static let javaPassword = "changeit"

    let directory: TemporaryDirectory
    let authority: String
    let additions: String
    let bundle: String
    let javaStore: String
    let phpDirectory: String
    let wgetSettings: String
    /// A sentence for each unreadable file that is named in the user's variables.
    private(set) var notes: [String] = []

    /// The command still trusts the authorities that are named in the user's variables.
    init(authority: CertificateAuthority, environment: [String: String]) throws {
        var additions = TrustStore()
        additions.add(authority, name: "sluice")
        var bundle = TrustStore.system(environment: environment)
        bundle.add(authority, name: "sluice")
        for variable in ClientVariable.all {
            guard let file = environment[variable.name], !file.isEmpty else { continue }
            do {
                switch variable.content {
                case .additions:
                    try additions.add(file: file)
                    try bundle.add(file: file)
                case .bundle: try bundle.add(file: file)
                case .proxy, .authority, .text: break
                }
            } catch {
                notes.append("the authorities that \(variable.name) names cannot be used: \(error.reason) (\(file))")
            }
        }
        let directory = try TemporaryDirectory(.run)
        self.directory = directory
        do {
            self.authority = try directory.write(Data(authority.certificatePEM.utf8), to: "ca.pem")
            self.additions = try directory.write(Data(additions.pem), to: "additions.pem")
            let file = try directory.write(Data(bundle.pem), to: "bundle.pem")
            self.bundle = file
            javaStore = try directory.write(Data(bundle.pkcs12(password: Self.javaPassword)), to: "truststore.p12")
            // For clients that read authorities only from their settings: PHP's curl, and wget with GnuTLS.
            phpDirectory = "\(directory.path)/php"
            try StandardPaths.makeDirectory(phpDirectory)
            let php = "curl.cainfo=\"\(file)\"\nopenssl.cafile=\"\(file)\"\n"
            _ = try directory.write(Data(php.utf8), to: "php/sluice.ini")
            let former = environment["WGETRC"] ?? environment["HOME"].map { "\($0)/.wgetrc" }
            let wget = former.flatMap { try? InputFile.contents(of: $0, atMost: 1 << 20) } ?? []
            wgetSettings = try directory.write(Data(wget + "\nca_certificate=\(file)\n".utf8), to: "wgetrc")
        } catch {
            directory.remove()
            throw error
        }
    }

    func remove() { directory.remove() }
}
