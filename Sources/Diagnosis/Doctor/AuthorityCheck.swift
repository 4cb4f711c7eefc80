import Formats
import Foundation
import Jobs
import Wire

struct KnownAuthority: Sendable {
    let authority: CertificateAuthority
    let file: String

    /// SHA-256 in hexadecimal, without separators.
    var digest: String { authority.fingerprint.filter(\.isHexDigit).uppercased() }
}

struct AuthorityCheck {
    let directory: String
    var environment: [String: String] = ProcessInfo.processInfo.environment
    var now = Date()

    private static let about = "authority"
    /// In days before the end.
    private static let warning = 30.0

    func look() -> (KnownAuthority?, [Finding]) {
        let file = "\(directory)/\(CertificateAuthority.fileName)"
        var facts = stat()
        guard stat(file, &facts) == 0 else {
            return (nil, [errno == ENOENT || errno == ENOTDIR ? missing : unreachable(file, errno)])
        }
        if let refusal = unreadable(file) { return (nil, [refusal]) }
        let authority: CertificateAuthority
        do {
            authority = try CertificateAuthority.load(file: file)
        } catch {
            return (nil, [.problem(Self.about, "\(file): \(error.reason)", fix: Self.replacing(file))])
        }
        let certificateFile = "\(directory)/\(CertificateAuthority.certificateFileName)"
        let known = KnownAuthority(authority: authority, file: certificateFile)
        return (known, [validity(of: authority, file)] + modes(file, facts) + certificate(known))
    }

    private var missing: Finding {
        if let reason = FolderProbe.refusal(directory) {
            let text = "it cannot be created in \(directory): \(reason)"
            let fix = FolderVariable.configuration.fix(directory, environment: environment)
            return .problem(Self.about, text, fix: fix)
        }
        return .note(Self.about, "the first start will create it in \(directory)", fix: "sluice ca path")
    }

    private func unreachable(_ file: String, _ number: Int32) -> Finding {
        let text = "\(file): \(String(cString: strerror(number)))"
        let fix =
            FolderProbe.opening(directory) ?? FolderVariable.configuration.fix(directory, environment: environment)
        return .problem(Self.about, text, fix: fix)
    }

    private func unreadable(_ file: String) -> Finding? {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        let number = errno
        guard descriptor < 0 else {
            close(descriptor)
            return nil
        }
        guard number == EACCES || number == EPERM else { return nil }
        let text = "\(file) cannot be read: \(String(cString: strerror(number)))"
        return .problem(Self.about, text, fix: FolderProbe.opening(file))
    }

    private func validity(of authority: CertificateAuthority, _ file: String) -> Finding {
        let days = (Double(authority.notAfter) - now.timeIntervalSince1970) / 86_400
        let end = CertificateProblems.date(authority.notAfter)
        if Double(authority.notBefore) > now.timeIntervalSince1970 {
            let start = CertificateProblems.date(authority.notBefore)
            let text = "\(file) is valid from \(start) only: this machine's clock is behind"
            return .problem(Self.about, text, fix: RootCommand.line("timedatectl set-ntp true"))
        }
        if days < Self.warning {
            let text = "\(file) is valid until \(end) only; clients then need a new one"
            return .note(Self.about, text, fix: Self.replacing(file))
        }
        return .ok(Self.about, "\(file), valid until \(end)")
    }

    /// A command that renames the authority's file, so that nothing is lost, and makes a new authority.
    private static func replacing(_ file: String) -> String {
        "mv \(ShellWord.word(file)) \(ShellWord.word(file + ".old")) && sluice ca path"
    }

    /// Whether others can read the key or enter the folder.
    private func modes(_ file: String, _ facts: stat) -> [Finding] {
        var found: [Finding] = []
        if facts.st_mode & 0o077 != 0 {
            let mode = String(facts.st_mode & 0o777, radix: 8)
            let text = "others can read the key (mode \(mode)); the next start changes the mode"
            found.append(.note(Self.about, text, fix: "chmod 600 \(ShellWord.word(file))"))
        }
        if facts.st_uid != geteuid() {
            let text = "\(file) belongs to another user (\(facts.st_uid))"
            found.append(.note(Self.about, text, fix: FolderProbe.opening(file)))
        }
        return found
    }

    /// Checks that clients get the certificate of the key that signs.
    private func certificate(_ known: KnownAuthority) -> [Finding] {
        var store = TrustStore()
        try? store.add(file: known.file)
        guard !store.contains(known.authority) else { return [] }
        let text = "\(known.file) is not the authority's certificate; the next start writes it again"
        return [.note(Self.about, text, fix: "sluice ca path")]
    }
}
