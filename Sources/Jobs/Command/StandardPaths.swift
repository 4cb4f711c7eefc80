import Files
import Foundation
package import Recording
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
    package static var sessions: String { state + "/sessions" }

    private static var state: String { directory("XDG_STATE_HOME", ".local/state") }

    /// The pattern of the names of sessions that were given none.
    package static func sessionPattern() throws -> SessionPattern {
        try SessionPattern(folder: sessions + "/", name: "%Y-%m-%dT%H-%M-%S.sluice")
    }

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

    /// The session of the last run; `nil` where there is none.
    package static var lastSession: String? { lastSession(in: state) }

    static func lastSession(in state: String) -> String? {
        let named = try? String(contentsOfFile: state + lastNamed, encoding: .utf8)
        if let named, FileManager.default.fileExists(atPath: named) { return named }
        return sessionNames(in: state).first.map { "\(state)/sessions/\($0)" }
    }

    /// The file with the path of the last run's session, if that was given a name.
    private static let lastNamed = "/last"

    /// Makes a session the last one.
    package static func rememberSession(_ path: String, in state: String = StandardPaths.state) {
        let path = URL(fileURLWithPath: path).path
        // The others are found by their names.
        guard !path.hasPrefix(URL(fileURLWithPath: state + "/sessions").path + "/") else {
            unlink(state + lastNamed)
            return
        }
        // A convenience: a state directory that cannot be written to stops no run.
        try? makeDirectory(state)
        try? Data(path.utf8).write(to: URL(fileURLWithPath: state + lastNamed), options: .atomic)
    }

    /// The names of the sessions that were given none, the newest first.
    package static var sessionNames: [String] { sessionNames(in: state) }

    private static func sessionNames(in state: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: state + "/sessions")) ?? []
        let pattern = try? sessionPattern()
        // Of those that began in one second the number says which is the newest.
        let numbered = names.filter { $0.hasSuffix(".sluice") }.map { name in
            let number = pattern?.number(in: name)
            return (time: number == nil ? name : String(name.prefix(19)), number: number ?? 0, name: name)
        }
        return numbered.sorted { ($0.time, $0.number) > ($1.time, $1.number) }.map(\.name)
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
        return HomeDirectory.path + "/" + fallback + "/sluice"
    }
}
