import Formats
import Foundation
import Jobs
import Runner
import Wire

/// Whether the system's certificate store trusts the authority. curl, git, wget and most programs in C use this store,
/// and Sluice verifies servers with it.
struct StoreCheck {
    let known: KnownAuthority?
    let environment: [String: String]

    private static let about = "system store"

    func findings() -> [Finding] {
        let store = TrustStore.system(environment: environment)
        let isTrusted = known.map { store.contains($0.authority) } ?? false
        let set = ["SSL_CERT_FILE", "SSL_CERT_DIR"].filter { environment[$0]?.isEmpty == false }
        if !set.isEmpty, store.count == 0 || isTrusted && store.count == 1 {
            let held = isTrusted ? "no authority but Sluice's own" : "no authority"
            let text = "\(set.joined(separator: " and ")) gives \(held), so Sluice would trust no server"
            return [.problem(Self.about, text, fix: "unset \(set.joined(separator: " "))")]
        }
        if store.count == 0 {
            let text = "this machine has no authorities, so servers cannot be verified"
            return [.note(Self.about, text, fix: RootCommand.line("apt-get install ca-certificates"))]
        }
        guard let known else { return [] }
        if isTrusted { return [.ok(Self.about, "trusts the authority, and so do curl and most programs")] }
        let text = "does not trust the authority; 'sluice run -- COMMAND' needs none of it"
        return [.note(Self.about, text, fix: command(known))]
    }

    private func command(_ known: KnownAuthority) -> String {
        let commands = TrustCommands(file: ShellWord.word(known.file))
        #if os(macOS)
        return commands.macOS
        #else
        return FileManager.default.fileExists(atPath: TrustCommands.fedoraFolder) ? commands.fedora : commands.debian
        #endif
    }
}

/// Whether the certificate databases of browsers (NSS) trust the authority.
struct DatabaseCheck: Sendable {
    let known: KnownAuthority
    let probe: ProbeCommand

    private static let limits = (databases: 12, certificates: 40)

    func findings() async -> [Finding] {
        let databases = Self.databases(home: probe.environment["HOME"] ?? NSHomeDirectory())
        guard !databases.isEmpty else { return [] }
        guard probe.path(of: "certutil") != nil else {
            let names = databases.map(\.name).joined(separator: ", ")
            let text = "without certutil nobody knows whether \(names) trust the authority"
            return [.note("browsers", text, fix: RootCommand.line("apt-get install libnss3-tools"))]
        }
        return await Doctor.all(
            databases.prefix(Self.limits.databases).map { database in { [await self.finding(database)] } }
        )
    }

    struct Database: Sendable, Hashable {
        var name: String
        var folder: String
    }

    /// The databases in the usual folders, also in those of Snap and Flatpak.
    static func databases(home: String) -> [Database] {
        let files = FileManager.default
        let chromium = [".pki/nssdb", "snap/chromium/current/.pki/nssdb"].map { "\(home)/\($0)" }
        let firefox = [
            ".mozilla/firefox", "snap/firefox/common/.mozilla/firefox", ".var/app/org.mozilla.firefox/.mozilla/firefox",
            "Library/Application Support/Firefox/Profiles",
        ].flatMap { place in
            let profiles = (try? files.contentsOfDirectory(atPath: "\(home)/\(place)")) ?? []
            return profiles.sorted().map { "\(home)/\(place)/\($0)" }
        }
        let all =
            chromium.map { Database(name: "Chromium", folder: $0) }
            + firefox.map { Database(name: "Firefox", folder: $0) }
        return all.filter { files.fileExists(atPath: "\($0.folder)/cert9.db") }
    }

    private func finding(_ database: Database) async -> Finding {
        let place = "sql:\(database.folder)"
        let deadline = ContinuousClock.now + probe.patience
        let add = TrustCommands(file: ShellWord.word(known.file)).database(ShellWord.word(place))
        guard case .text(let list) = await probe.ask(["certutil", "-L", "-d", place]) else {
            return .note(database.name, "\(database.folder) cannot be read by certutil")
        }
        for (name, flags) in Self.certificates(in: list).prefix(Self.limits.certificates) {
            guard ContinuousClock.now < deadline else {
                return .note(database.name, "\(database.folder) took too long to read")
            }
            guard case .text(let pem) = await probe.ask(["certutil", "-L", "-d", place, "-n", name, "-a"]),
                Self.holds(pem, known.authority)
            else { continue }
            guard flags.prefix(while: { $0 != "," }).contains("C") else {
                let text = "\(database.folder) has the authority as '\(name)', but does not trust it for servers"
                let fix = "certutil -d \(ShellWord.word(place)) -M -t C,, -n \(ShellWord.word(name))"
                return .note(database.name, text, fix: fix)
            }
            return .ok(database.name, "\(database.folder) trusts the authority")
        }
        return .note(database.name, "\(database.folder) does not trust the authority", fix: add)
    }

    /// The names and trust flags of certificates in the output of `certutil -L`.
    static func certificates(in list: String) -> [(name: String, flags: String)] {
        list.split(separator: "\n").compactMap { line in
            let line = line.trimmingCharacters(in: .whitespaces)
            guard let space = line.lastIndex(of: " ") else { return nil }
            let flags = String(line[line.index(after: space)...])
            guard flags.filter({ $0 == "," }).count == 2, flags.allSatisfy({ "pPcCTuwf,".contains($0) }) else {
                return nil
            }
            return (line[..<space].trimmingCharacters(in: .whitespaces), flags)
        }
    }

    private static func holds(_ pem: String, _ authority: CertificateAuthority) -> Bool {
        func bare(_ text: String) -> String {
            let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
            return lines.filter { !$0.hasPrefix("-----") }.joined()
        }
        return bare(pem) == bare(authority.certificatePEM)
    }
}
