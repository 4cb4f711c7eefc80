import Foundation
import Wire

/// Disk, descriptors and clock.
struct SystemCheck {
    let authority: KnownAuthority?
    var now = Date()

    /// Free bytes below which sessions end, and below which that is near.
    private static let space = (least: Int64(50_000_000), ample: Int64(1_000_000_000))
    /// Descriptors below which nothing works, and below which few clients fit.
    private static let descriptors = (least: UInt64(64), ample: UInt64(1_024))
    /// A time before this program was written: 2026-01-01.
    private static let earliest = Date(timeIntervalSince1970: 1_767_225_600)

    func findings() -> [Finding] { disk() + [limit(), clock()] }

    private func disk() -> [Finding] {
        let about = "sessions"
        let folder = StandardPaths.sessions
        if let reason = FolderProbe.refusal(folder) {
            let mend = "export XDG_STATE_HOME=\"$HOME/.local/state\""
            return [.problem(about, "nothing can be written in \(folder): \(reason)", mend: mend)]
        }
        var facts = statvfs()
        guard statvfs(FolderProbe.existing(folder), &facts) == 0 else {
            return [.note(about, "the space in \(folder) is unknown: \(String(cString: strerror(errno)))")]
        }
        let free = Int64(clamping: UInt64(facts.f_bavail).multipliedReportingOverflow(by: UInt64(facts.f_frsize)).0)
        return [Self.finding(about, folder, free: free)]
    }

    static func finding(_ about: String, _ folder: String, free: Int64) -> Finding {
        let size = ByteCountFormatter.string(fromByteCount: free, countStyle: .decimal)
        let text = "\(size) are free for \(folder)"
        if free < space.least { return .problem(about, text, mend: "export XDG_STATE_HOME=/a/larger/disk") }
        if free < space.ample { return .note(about, text, mend: "sluice run --max-session 100mb") }
        return .ok(about, text)
    }

    private func limit() -> Finding {
        var limit = rlimit()
        #if canImport(Darwin)
        getrlimit(RLIMIT_NOFILE, &limit)
        #else
        getrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit)
        #endif
        let current = UInt64(limit.rlim_cur)
        let text = "\(current) may be open (ulimit -n), half of them clients"
        let mend = "ulimit -n \(min(UInt64(limit.rlim_max), 65_536))"
        if current < Self.descriptors.least { return .problem("descriptors", text, mend: mend) }
        if current < Self.descriptors.ample { return .note("descriptors", text, mend: mend) }
        return .ok("descriptors", text)
    }

    private func clock() -> Finding {
        let dates = ISO8601DateFormatter()
        let time = dates.string(from: now)
        let started = authority.map { Date(timeIntervalSince1970: Double($0.authority.notBefore)) } ?? Self.earliest
        guard now >= max(Self.earliest, started) else {
            let text = "it is said to be \(time), at which no certificate is valid"
            return .problem("clock", text, mend: "sudo timedatectl set-ntp true")
        }
        return .ok("clock", time)
    }
}
