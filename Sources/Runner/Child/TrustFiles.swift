import Files
import Foundation
import Jobs
import Wire

/// The files by which a command trusts Sluice's authority without losing any that it trusted before.
///
/// They are in a directory that only the user can enter, and removed when the command has ended.
package struct TrustFiles: Sendable {
    /// The usual password of Java's trust stores; it protects nothing.
    package static let javaPassword = "changeit"

    let directory: TemporaryDirectory
    /// Sluice's authority alone, PEM.
    let authority: String
    /// Sluice's authority and those that the user adds to built-in ones, PEM.
    let additions: String
    /// The system's authorities, all of the user's, and Sluice's, PEM.
    let bundle: String
    /// The same for Java, PKCS#12.
    let javaStore: String
    /// A directory with settings for PHP.
    let phpDirectory: String
    /// The user's settings for wget, and ours.
    let wgetSettings: String
    /// A sentence for each file that the user's variables name and that could not be read.
    private(set) var notes: [String] = []

    /// Makes the files; the authorities that the user's variables name stay trusted.
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
        let directory = try TemporaryDirectory("run")
        self.directory = directory
        do {
            self.authority = try directory.write(Data(authority.certificatePEM.utf8), to: "ca.pem")
            self.additions = try directory.write(Data(additions.pem), to: "additions.pem")
            let file = try directory.write(Data(bundle.pem), to: "bundle.pem")
            self.bundle = file
            javaStore = try directory.write(Data(bundle.pkcs12(password: Self.javaPassword)), to: "truststore.p12")
            // For clients that take authorities from their settings only: PHP's curl, and wget where it uses GnuTLS.
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

    /// Removes the directory and everything in it.
    func remove() { directory.remove() }
}
