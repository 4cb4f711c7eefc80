import Foundation
import Wire

/// Where Sluice keeps its files (XDG Base Directory Specification).
package enum StandardPaths {
    /// The directory of the certificate authority: `$XDG_CONFIG_HOME/sluice`.
    package static var configuration: String { directory("XDG_CONFIG_HOME", ".config") }

    /// The certificate of the user's own authority, which clients are to trust.
    package static var authorityCertificate: String {
        configuration + "/" + CertificateAuthority.certificateFileName
    }

    /// The directory of sessions that were given no name: `$XDG_STATE_HOME/sluice/sessions`.
    package static var sessions: String { directory("XDG_STATE_HOME", ".local/state") + "/sessions" }

    /// An unused name for a session that begins now.
    package static func newSession() -> String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.dateFormat = "yyyy-MM-dd'T'HH-mm-ss"
        let stem = sessions + "/" + formatter.string(from: Date())
        var path = stem + ".sluice"
        var number = 2
        while FileManager.default.fileExists(atPath: path) {
            path = "\(stem)-\(number).sluice"
            number += 1
        }
        return path
    }

    /// The newest session that was given no name; `nil` where there is none.
    package static var newestSession: String? {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: sessions)) ?? []
        return names.filter { $0.hasSuffix(".sluice") }.max().map { sessions + "/" + $0 }
    }

    /// Makes a directory that only the user can read, with those above it.
    package static func makeDirectory(_ path: String) throws {
        do {
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700]
            )
        } catch {
            throw StartError(
                "The directory \(path) cannot be made: \(error.localizedDescription)",
                hint: "Set XDG_CONFIG_HOME and XDG_STATE_HOME to directories that can be written to."
            )
        }
    }

    private static func directory(_ variable: String, _ fallback: String) -> String {
        let environment = ProcessInfo.processInfo.environment
        // The specification says to ignore relative paths.
        if let base = environment[variable], base.hasPrefix("/") { return base + "/sluice" }
        return (environment["HOME"] ?? NSHomeDirectory()) + "/" + fallback + "/sluice"
    }
}
