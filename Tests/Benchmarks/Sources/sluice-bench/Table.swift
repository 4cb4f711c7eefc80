/// The rows of the table, and the values that Sluice must reach in them.
enum Table {
    static let sections = [
        Section(
            SmallRequests(traffic: .plain),
            [
                Row("HTTP keep-alive, CPU µs", .cpu, must: .ratio(2.2), aim: .ratio(1.8)),
                Row("HTTP keep-alive, p50 ms", .p50, digits: 2),
                Row("HTTP keep-alive, p99 ms", .p99, digits: 2, must: .atMost(3.5), aim: .atMost(2.5)),
                Row("session file per exchange, bytes", .disk, digits: 0, must: .atMost(1_650), aim: .atMost(1_500)),
                Row("memory growth in a round, MiB", .memory, must: .atMost(8)),
            ]
        ),
        Section(
            SmallRequests(traffic: .secure),
            [
                Row("HTTPS h1 keep-alive, CPU µs", .cpu, must: .ratio(2.2), aim: .ratio(1.8)),
                Row("HTTPS h1 keep-alive, p50 ms", .p50, digits: 2),
                Row("HTTPS h1 keep-alive, p99 ms", .p99, digits: 2),
            ]
        ),
        Section(
            StreamRequests(),
            [
                Row("HTTPS h2, 4 × 16 streams, CPU µs", .cpu, must: .ratio(2), aim: .ratio(1.7)),
                Row("HTTPS h2, 4 × 16 streams, p50 ms", .p50, digits: 2),
                Row("HTTPS h2, 4 × 16 streams, p99 ms", .p99, digits: 2, must: .atMost(4)),
            ]
        ),
        Section(
            SmallRequests(traffic: .secure, reconnects: true),
            [Row("new CONNECT + TLS each, CPU µs", .cpu, digits: 0, must: .ratio(1.25), aim: .ratio(1.15))]
        ),
        Section(
            SmallRequests(traffic: .newHosts, reconnects: true),
            [Row("new host each, CPU µs", .cpu, digits: 0, must: .atMost(1_500), aim: .atMost(1_200))]
        ),
        Section(
            PacedRequests(),
            [
                Row("50 requests a second, p50 µs", .p50, digits: 0, must: .difference(250)),
                Row("50 requests a second, p99 µs", .p99, digits: 0, must: .difference(500)),
            ]
        ),
        Section(
            Downloads(),
            [
                Row("100 MiB over HTTPS, CPU ms", .cpu, digits: 0, must: .ratio(2), aim: .ratio(1.6)),
                Row("100 MiB over HTTPS, MB/s", .throughput, digits: 0, must: .atLeast(290), aim: .atLeast(400)),
            ]
        ),
        Section(HugeDownload(), [Row("peak memory, 1 GiB over HTTPS, MiB", .memory, must: .atMost(64))]),
        Section(
            IdleConnections(),
            [Row("memory per idle HTTPS connection, KiB", .memory, must: .atMost(21), aim: .atMost(18))]
        ),
        Section(
            StartOfProxy(),
            [
                Row("start to accepting, ms", .time, must: .atMost(25), aim: .atMost(12)),
                Row("memory at the start, MB", .memory, must: .atMost(32)),
            ]
        ),
        Section(
            CommandTime(arguments: ["--version"]),
            relativeTo: "curl",
            [Row("--version, ms", .time, must: .atMost(12), aim: .atMost(8))]
        ),
        Section(
            CommandTime(arguments: ["list", "last"], readsSession: true),
            relativeTo: "curl",
            [Row("list last, ms", .time, must: .atMost(20), aim: .atMost(15))]
        ),
        Section(StrippedSize(), [Row("program, stripped, MB", .disk, must: .atMost(70), aim: .atMost(40))]),
    ]
}
