import Description
import Foundation
import Jobs
import ProxyServer
import Wire

/// Disk, descriptors and clock.
struct SystemCheck {
    let authority: KnownAuthority?
    let environment: [String: String]
    var now = Date()

    /// Free bytes below which no session can be started (0.3 MB are too few), and below which the disk is soon full.
    private static let space = (least: Int64(500_000), ample: Int64(1_000_000_000))
    /// Below this number of descriptors, Sluice can serve only few clients.
    private static let ample: UInt64 = 1_024
    /// Below this number of descriptors, event loops or clients fail: each loop has three descriptors.
    private static let least = UInt64(24 + 4 * ProxyLimits.loops)
    /// 2026-01-01. A clock before this date is wrong: this program was written later.
    private static let earliest = Date(timeIntervalSince1970: 1_767_225_600)

    func findings() -> [Finding] { disk() + [limit(), clock()] }

    private func disk() -> [Finding] {
        let about = "sessions"
        let folder = StandardPaths.sessions
        if let reason = FolderProbe.refusal(folder) {
            let fix = FolderVariable.state.fix(folder, environment: environment)
            return [.problem(about, "nothing can be written in \(folder): \(reason)", fix: fix)]
        }
        var facts = statvfs()
        guard statvfs(FolderProbe.existing(folder), &facts) == 0 else {
            return [.note(about, "the space in \(folder) is unknown: \(String(cString: strerror(errno)))")]
        }
        let free = Int64(clamping: UInt64(facts.f_bavail).multipliedReportingOverflow(by: UInt64(facts.f_frsize)).0)
        return [Self.finding(about, folder, free: free)]
    }

    static func finding(_ about: String, _ folder: String, free: Int64) -> Finding {
        let text = "\(Measures.size(free)) are free for \(folder)"
        if free < space.least {
            return .problem(about, "\(text): no session can be begun", fix: "export XDG_STATE_HOME=/a/larger/disk")
        }
        if free < space.ample {
            // Half of the free space, because a session also has a write-ahead log beside it.
            let megabytes = max(1, min(100, free / 2_000_000))
            let end = "; traffic is no longer recorded when the disk is full"
            return .note(about, text + end, fix: "sluice run --max-session \(megabytes)mb")
        }
        return .ok(about, text)
    }

    private func limit() -> Finding {
        var limit = rlimit()
        #if canImport(Darwin)
        getrlimit(RLIMIT_NOFILE, &limit)
        #else
        getrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit)
        #endif
        return Self.finding(open: UInt64(limit.rlim_cur), most: UInt64(limit.rlim_max))
    }

    /// `open` is the soft limit of descriptors, `most` the hard one.
    static func finding(open: UInt64, most: UInt64) -> Finding {
        let about = "descriptors"
        var text = "\(open) may be open (ulimit -n), half of them clients"
        guard open < ample else { return .ok(about, text) }
        var fix = "ulimit -n \(min(most, 65_536))"
        if most < ample {
            text += "; this shell may have \(most) at most (ulimit -Hn), which root alone can raise"
            #if os(Linux)
            fix = RootCommand.line("prlimit --pid $$ --nofile=65536")
            #else
            fix = RootCommand.line("launchctl limit maxfiles 65536 65536")
            #endif
        }
        return open < least ? .problem(about, text, fix: fix) : .note(about, text, fix: fix)
    }

    private func clock() -> Finding {
        let time = Timestamp.iso8601(seconds: Int64(now.timeIntervalSince1970))
        let started = authority.map { Date(timeIntervalSince1970: Double($0.authority.notBefore)) } ?? Self.earliest
        guard now >= max(Self.earliest, started) else {
            let text = "it is said to be \(time), at which no certificate is valid"
            return .problem("clock", text, fix: RootCommand.line("timedatectl set-ntp true"))
        }
        return .ok("clock", time)
    }
}
