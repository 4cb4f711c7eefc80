import Files
import Foundation
package import Jobs

package struct InstalledBrowser: Sendable, Hashable {
    package enum Family: Sendable, Hashable { case chromium, firefox }

    package let executable: String
    package let family: Family

    /// In the order in which they are searched.
    private static let programs: [(name: String, family: Family)] = [
        ("chromium", .chromium), ("chromium-browser", .chromium), ("google-chrome", .chromium),
        ("google-chrome-stable", .chromium), ("chrome", .chromium), ("microsoft-edge", .chromium),
        ("brave-browser", .chromium), ("firefox", .firefox), ("firefox-esr", .firefox),
    ]

    /// Browsers that are not in `PATH`.
    private static let places: [(path: String, program: String, family: Family)] = [
        ("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "google-chrome", .chromium),
        ("/Applications/Chromium.app/Contents/MacOS/Chromium", "chromium", .chromium),
        ("/Applications/Firefox.app/Contents/MacOS/firefox", "firefox", .firefox),
        ("/opt/google/chrome/chrome", "google-chrome", .chromium),
        ("/usr/lib/chromium/chromium", "chromium", .chromium),
        ("/opt/firefox/firefox", "firefox", .firefox), ("/usr/lib/firefox/firefox", "firefox", .firefox),
    ]

    /// Finds a browser by its name (`chromium`, `chrome`, `firefox`, a program) or path, or the first one installed.
    package static func find(_ wanted: String?, environment: [String: String]) throws(StartError) -> InstalledBrowser {
        if let wanted, wanted.contains("/") {
            guard access(wanted, X_OK) == 0 else {
                let reason = String(cString: strerror(errno))
                throw StartError("\(wanted) cannot be executed: \(reason).", hint: "Check the path after --browser.")
            }
            return try InstalledBrowser(executable: wanted, family: family(ofProgram: wanted)).usable()
        }
        let name = wanted?.lowercased()
        let names = programs.filter { program in
            switch name {
            case nil: true
            case "chrome", "google-chrome": program.name.hasSuffix("chrome") || program.name == "google-chrome-stable"
            case "chromium": program.name.hasPrefix("chromium")
            case "firefox": program.family == .firefox
            case "edge": program.name == "microsoft-edge"
            case "brave": program.name == "brave-browser"
            case let name?: program.name == name
            }
        }
        guard !names.isEmpty else {
            let known = programs.map(\.name).joined(separator: ", ")
            throw StartError(
                "'\(wanted ?? "")' is not a browser that Sluice can start.",
                hint: "Use one of \(known), or a path.",
                isUsage: true
            )
        }
        let found = names.lazy.compactMap { name, family in search(name, environment).map { ($0, family) } }.first
        let usual = places.first { place in
            names.contains { $0.name == place.program } && access(place.path, X_OK) == 0
        }
        if let (path, family) = found ?? usual.map({ ($0.path, $0.family) }) {
            return try InstalledBrowser(executable: path, family: family).usable()
        }
        throw StartError(
            "No browser is found: neither of \(names.map(\.name).joined(separator: ", ")) in PATH, nor in the usual places.",
            hint: "Install one, or use its path: --browser /path/to/chromium"
        )
    }

    private static func family(ofProgram path: String) -> Family {
        let name = (path as NSString).lastPathComponent.lowercased()
        return ["firefox", "librewolf", "waterfox"].contains { name.contains($0) } ? .firefox : .chromium
    }

    private static func search(_ program: String, _ environment: [String: String]) -> String? {
        let path = environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"
        let candidates = path.split(separator: ":").map { "\($0)/\(program)" }
        return candidates.first { access($0, X_OK) == 0 && FileFacts(path: $0)?.isDirectory != true }
    }

    private func usable() throws(StartError) -> InstalledBrowser {
        guard !resolved.hasPrefix("/snap/"), resolved != "/usr/bin/snap" else {
            throw StartError(
                "\(executable) is in a snap, which may not read the temporary folder with its profile.",
                hint: "Install it from another source, and use its path with --browser."
            )
        }
        return self
    }

    var resolved: String { URL(fileURLWithPath: executable).resolvingSymlinksInPath().path }
}
