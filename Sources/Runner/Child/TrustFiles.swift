import Files
import Foundation
import Wire

/// The files by which a command trusts Sluice's authority without losing any that it trusted before.
///
/// They lie in a directory that only the user can enter, and are removed when the command is over.
struct TrustFiles: Sendable {
    /// What Java calls its trust stores' password everywhere; it protects nothing.
    static let javaPassword = "changeit"

    var directory: String { folder.path }
    private let folder: TemporaryDirectory
    /// Sluice's authority alone, PEM.
    var authority: String { "\(directory)/ca.pem" }
    /// Sluice's authority and those that the user adds to built-in ones, PEM.
    var additions: String { "\(directory)/additions.pem" }
    /// The system's authorities, all of the user's, and Sluice's, PEM.
    var bundle: String { "\(directory)/bundle.pem" }
    /// The same for Java, PKCS#12.
    var javaStore: String { "\(directory)/truststore.p12" }
    /// A directory with settings for PHP.
    var phpDirectory: String { "\(directory)/php" }
    /// The user's settings for wget, and ours.
    var wgetSettings: String { "\(directory)/wgetrc" }
    /// Files that the user's variables name and that could not be read, in words.
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
        folder = try TemporaryDirectory("run")
        do {
            try write(Array(authority.certificatePEM.utf8), to: self.authority)
            try write(additions.pem, to: self.additions)
            try write(bundle.pem, to: self.bundle)
            try write(bundle.pkcs12(password: Self.javaPassword), to: javaStore)
            try writeSettings(environment)
        } catch {
            remove()
            throw error
        }
    }

    /// Removes the directory and everything in it.
    func remove() { folder.remove() }

    /// For clients that take authorities from their settings only: PHP's curl, and wget where it uses GnuTLS.
    private func writeSettings(_ environment: [String: String]) throws {
        try StandardPaths.makeDirectory(phpDirectory)
        let php = "curl.cainfo=\"\(bundle)\"\nopenssl.cafile=\"\(bundle)\"\n"
        try write(Array(php.utf8), to: "\(phpDirectory)/sluice.ini")
        let former = environment["WGETRC"] ?? environment["HOME"].map { "\($0)/.wgetrc" }
        let wget = former.flatMap { try? InputFile.contents(of: $0, atMost: 1 << 20) } ?? []
        try write(wget + Array("\nca_certificate=\(bundle)\n".utf8), to: wgetSettings)
    }

    private func write(_ content: [UInt8], to path: String) throws {
        do {
            try Data(content).write(to: URL(fileURLWithPath: path))
        } catch {
            throw StartFailure("\(path) cannot be written: \(error.localizedDescription)")
        }
    }
}
