import Foundation
import Glibc

/// What Sluice takes beside CPU: time to start, memory, disk; and how fast bytes flow through it.
struct Footprint {
    let bench: Bench
    let connections: Int

    /// Seconds from the start of the program until it accepts connections, with a fresh session each time.
    func startTime() throws -> Double {
        try (0..<11).map { try bench.startSluice("start-\($0)").startTime }.median
    }

    /// What many small exchanges leave behind.
    struct Growth {
        var exchanges: Int
        var residentBefore: Int
        var residentAfter: Int
        var sessionBytes: Int
    }

    /// Records many exchanges of 1 KiB.
    ///
    /// Memory is compared with that after a first thousand; the file counts all of them.
    func growth() throws -> Growth {
        let (warmUp, count) = (1_000, 20_000)
        let run = try bench.startSluice("growth")
        try small(run, count: warmUp)
        let before = run.process.residentBytes
        try small(run, count: count)
        let after = run.process.residentBytes
        run.process.stop()
        let attributes = try FileManager.default.attributesOfItem(atPath: run.session)
        let bytes = attributes[.size] as? Int ?? 0
        return Growth(
            exchanges: count,
            residentBefore: before,
            residentAfter: after,
            sessionBytes: bytes / (warmUp + count)
        )
    }

    private func small(_ run: SluiceRun, count: Int) throws {
        try Load(
            route: bench.route(.sluice, isSecure: false, sluice: run),
            path: "/1k",
            bodySize: Site.smallSize,
            requests: count,
            connections: connections,
            authority: bench.site.authority
        ).go()
        usleep(500_000)
    }

    /// The most memory that Sluice has while 1 GiB comes through it over HTTPS and is recorded, in bytes.
    func peakOfHugeDownload() throws -> Int {
        let run = try bench.startSluice("huge")
        try download(.sluice, isSecure: true, path: "/1g", size: Site.hugeSize, run)
        let peak = run.process.peakResidentBytes
        run.process.stop()
        try FileManager.default.removeItem(atPath: run.session)
        return peak
    }

    /// Bytes for each second of a download of 100 MiB: for each subject the median of some.
    func throughput(isSecure: Bool) throws -> [Subject: Double] {
        let run = try bench.startSluice(isSecure ? "https-throughput" : "http-throughput")
        var rates: [Subject: [Double]] = [:]
        for _ in 0..<5 {
            for subject in Subject.allCases {
                let seconds = try download(subject, isSecure: isSecure, path: "/100m", size: Site.largeSize, run)
                rates[subject, default: []].append(Double(Site.largeSize) / seconds)
            }
        }
        run.process.stop()
        try FileManager.default.removeItem(atPath: run.session)
        return rates.mapValues { $0.median }
    }

    @discardableResult
    private func download(
        _ subject: Subject,
        isSecure: Bool,
        path: String,
        size: Int,
        _ run: SluiceRun
    ) throws
        -> Double
    {
        try Load(
            route: bench.route(subject, isSecure: isSecure, sluice: run),
            path: path,
            bodySize: size,
            requests: 1,
            connections: 1,
            authority: bench.site.authority
        ).go()
    }
}
