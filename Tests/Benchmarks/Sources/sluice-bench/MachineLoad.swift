import Foundation
import Glibc

/// How busy other programs keep the machine while the benchmark runs, which makes its figures less certain.
struct MachineLoad {
    private let start = ContinuousClock.now
    private let machine: Double
    private let own: Double

    /// Begins to count.
    init(origin: Origin) throws {
        machine = try MachineLoad.machineSeconds()
        own = MachineLoad.ownSeconds(origin)
    }

    /// The number of cores that other programs have used since then, on average.
    func coresOfOthers(origin: Origin) throws -> Double {
        let others = try MachineLoad.machineSeconds() - machine - (MachineLoad.ownSeconds(origin) - own)
        return max(others / (ContinuousClock.now - start).inSeconds, 0)
    }

    /// The CPU seconds of this process, of the processes that it has started and stopped, and of the origin.
    private static func ownSeconds(_ origin: Origin) -> Double {
        [RUSAGE_SELF.rawValue, RUSAGE_CHILDREN.rawValue].reduce(origin.process.cpuSeconds) { sum, who in
            var usage = rusage()
            getrusage(__rusage_who_t(who), &usage)
            return sum + seconds(usage.ru_utime) + seconds(usage.ru_stime)
        }
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

    /// The CPU seconds of all processes since the machine's start.
    private static func machineSeconds() throws -> Double {
        let text = try String(contentsOfFile: "/proc/stat", encoding: .utf8)
        // user, nice, system, idle, waiting for disks, interrupts, soft interrupts; in ticks.
        let ticks = text.prefix { !$0.isNewline }.split(separator: " ").compactMap { Double($0) }
        guard ticks.count > 6 else { throw BenchmarkError("/proc/stat has another format") }
        return (ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6]) / Double(sysconf(CInt(_SC_CLK_TCK)))
    }
}
