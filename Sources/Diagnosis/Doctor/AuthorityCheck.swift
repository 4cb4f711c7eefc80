import Foundation
import Jobs
import Sharing
import Wire

/// The user's authority as the doctor found it.
struct KnownAuthority: Sendable {
    let authority: CertificateAuthority
    /// The file that clients are given.
    let file: String

    /// The SHA-256 of the certificate in hexadecimal, without separators.
    var digest: String { authority.fingerprint.filter(\.isHexDigit).uppercased() }
}

/// Whether the authority is there, usable and private.
struct AuthorityCheck {
    let directory: String
    var environment: [String: String] = ProcessInfo.processInfo.environment
    var now = Date()

    private static let about = "authority"
    /// Days before its end at which that is said.
    private static let warning = 30.0

    /// The authority, where it can be used, and what there is to say.
    func look() -> (KnownAuthority?, [Finding]) {
        let file = "\(directory)/\(CertificateAuthority.fileName)"
        var facts = stat()
        guard stat(file, &facts) == 0 else {
            let number = errno
            guard number == ENOENT || number == ENOTDIR else { return (nil, [unreachable(file, number)]) }
            return (nil, [missing])
        }
        if let refusal = unreadable(file) { return (nil, [refusal]) }
        let authority: CertificateAuthority
        do {
            authority = try CertificateAuthority.load(file: file)
        } catch {
            // Its certificate stays where clients have it, so that nothing is lost by making a new one.
            let aside = "mv \(ShellWord.word(file)) \(ShellWord.word(file + ".old")) && sluice ca path"
            return (nil, [.problem(Self.about, "\(file): \(error.reason)", mend: aside)])
        }
        let known = KnownAuthority(
            authority: authority,
            file: "\(directory)/\(CertificateAuthority.certificateFileName)"
        )
        return (known, [validity(of: authority, file)] + modes(file, facts) + certificate(known))
    }

    private var missing: Finding {
        if let reason = FolderProbe.refusal(directory) {
            let text = "there is none, and none can be made in \(directory): \(reason)"
            let mend = FolderVariable.configuration.mend(directory, environment: environment)
            return .problem(Self.about, text, mend: mend)
        }
        return .note(Self.about, "there is none yet; the first start makes it in \(directory)", mend: "sluice ca path")
    }

    /// A file behind a folder that the user may not enter.
    private func unreachable(_ file: String, _ number: Int32) -> Finding {
        let text = "\(file): \(String(cString: strerror(number)))"
        let mend =
            FolderProbe.opening(directory) ?? FolderVariable.configuration.mend(directory, environment: environment)
        return .problem(Self.about, text, mend: mend)
    }

    /// A file that the user may not read; `nil` for one that can be read.
    private func unreadable(_ file: String) -> Finding? {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        let number = errno
        guard descriptor < 0 else {
            close(descriptor)
            return nil
        }
        guard number == EACCES || number == EPERM else { return nil }
        let text = "\(file) cannot be read: \(String(cString: strerror(number)))"
        return .problem(Self.about, text, mend: FolderProbe.opening(file))
    }

    private func validity(of authority: CertificateAuthority, _ file: String) -> Finding {
        let days = (Double(authority.notAfter) - now.timeIntervalSince1970) / 86_400
        let end = Self.day(authority.notAfter)
        if Double(authority.notBefore) > now.timeIntervalSince1970 {
            let text = "\(file) is valid from \(Self.day(authority.notBefore)) only: this machine's clock is behind"
            return .problem(Self.about, text, mend: RootCommand.line("timedatectl set-ntp true"))
        }
        if days < Self.warning {
            let aside = "mv \(ShellWord.word(file)) \(ShellWord.word(file + ".old")) && sluice ca path"
            return .note(Self.about, "\(file) is valid until \(end) only; clients then need a new one", mend: aside)
        }
        return .ok(Self.about, "\(file), valid until \(end)")
    }

    /// Whether others can read the key, or the folder is theirs to enter.
    private func modes(_ file: String, _ facts: stat) -> [Finding] {
        var found: [Finding] = []
        if facts.st_mode & 0o077 != 0 {
            let mode = String(facts.st_mode & 0o777, radix: 8)
            let text = "others can read the key (mode \(mode)); the next start takes that from them"
            found.append(.note(Self.about, text, mend: "chmod 600 \(ShellWord.word(file))"))
        }
        if facts.st_uid != geteuid() {
            let text = "\(file) belongs to another user (\(facts.st_uid))"
            found.append(.note(Self.about, text, mend: FolderProbe.opening(file)))
        }
        return found
    }

    /// What clients are given must be the certificate of the key that signs.
    private func certificate(_ known: KnownAuthority) -> [Finding] {
        var store = TrustStore()
        try? store.add(file: known.file)
        guard !store.contains(known.authority) else { return [] }
        let text = "\(known.file) does not hold the authority's certificate; the next start writes it anew"
        return [.note(Self.about, text, mend: "sluice ca path")]
    }

    private static func day(_ seconds: Int64) -> String {
        let dates = ISO8601DateFormatter()
        dates.formatOptions = [.withFullDate]
        return dates.string(from: Date(timeIntervalSince1970: Double(seconds)))
    }
}
