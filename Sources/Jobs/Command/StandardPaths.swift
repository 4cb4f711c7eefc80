import Files
import Foundation
package import Recording
import Wire

/// Sluice's files (XDG Base Directory Specification).
package enum StandardPaths {
    /// `$XDG_CONFIG_HOME/sluice`.
    package static var configuration: String { directory("XDG_CONFIG_HOME", ".config") }

    package static var authorityCertificate: String { configuration + "/" + CertificateAuthority.certificateFileName }

    /// Sessions that the user did not name: `$XDG_STATE_HOME/sluice/sessions`.
    package static var sessions: String { state + "/sessions" }

    private static var state: String { directory("XDG_STATE_HOME", ".local/state") }

    package static func sessionPattern() throws -> SessionPattern {
        try SessionPattern(folder: sessions + "/", name: "%Y-%m-%dT%H-%M-%S.sluice")
    }

    package static func newSession() throws -> String {
        try makeDirectory(sessions)
        let pattern = try sessionPattern()
        let now = time(nil)
        var number = 1
        while FileManager.default.fileExists(atPath: pattern.path(at: now, number: number)) { number += 1 }
        return pattern.path(at: now, number: number)
    }

    package static var lastSession: String? { lastSession(in: state) }

    static func lastSession(in state: String) -> String? {
        let named = try? String(contentsOfFile: state + lastNamed, encoding: .utf8)
        if let named, FileManager.default.fileExists(atPath: named) { return named }
        return sessionNames(in: state).first.map { "\(state)/sessions/\($0)" }
    }

    /// The file with the path of the last run's session, if the user named that session.
    private static let lastNamed = "/last"

    package static func rememberSession(_ path: String, in state: String = StandardPaths.state) {
        let path = URL(fileURLWithPath: path).path
        // Sessions in the standard folder are found by their names.
        guard !path.hasPrefix(URL(fileURLWithPath: state + "/sessions").path + "/") else {
            unlink(state + lastNamed)
            return
        }
        // An unwritable state directory stops no run.
        try? makeDirectory(state)
        try? Data(path.utf8).write(to: URL(fileURLWithPath: state + lastNamed), options: .atomic)
    }

    package static var sessionNames: [String] { sessionNames(in: state) }

    private static func sessionNames(in state: String) -> [String] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: state + "/sessions")) ?? []
        let pattern = try? sessionPattern()
        // The number orders sessions of the same second.
        let numbered = names.filter { $0.hasSuffix(".sluice") }.map { name in
            let number = pattern?.number(in: name)
            return (time: number == nil ? name : String(name.prefix(19)), number: number ?? 0, name: name)
        }
        return numbered.sorted { ($0.time, $0.number) > ($1.time, $1.number) }.map(\.name)
    }

    /// Creates a directory that only the user can read, and its parents.
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
        // The XDG specification says to ignore relative paths.
        if let base = environment[variable], base.hasPrefix("/") { return base + "/sluice" }
        return HomeDirectory.path + "/" + fallback + "/sluice"
    }
}
