import ArgumentParser
import Foundation
import Glibc
import HTTPModel
import Recording
import Session

/// Measures what the console asks of a large session: opening, pages, filters, order, structure, memory.
///
///     swift run -c release --package-path Tests/Benchmarks session-bench million.sluice
///
/// With `--follow`, looks at a session that grows meanwhile thirty times a second, as the console does, and tells what CPU
/// that takes; `session-maker --rate 5000` makes it grow.
@main
struct SessionBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session-bench",
        abstract: "Measure what the console asks of a large session."
    )

    @Argument(help: "The session file.")
    var file: String

    @Option(help: "For how many seconds to follow a session that grows, in place of all else.")
    var follow: Int?

    func run() throws {
        let begin = now()
        let events = EventQueue()
        let service = try QueryService(path: file) { events.put($0) }
        service.load(last: 0..<60, generation: 0)
        events.wait { if case .rows = $0 { true } else { false } }
        row("opening, to the first page", now() - begin)
        if let follow { return try self.follow(service, events, seconds: follow) }

        var bench = QueryBench(service: service, events: events)
        bench.pages()
        for filter in [
            "status:503", "host:pay.partner.example status:500 method:PUT", "orders", "type:json time:>1s", "is:held",
            "is:changed status:5xx",
        ] {
            try bench.filter(filter)
        }
        for filter in ["nothing-has-this", "host:nowhere.example", "path:/v9/* method:GET", "status:599", "is:tunnel"] {
            try bench.filter(filter)
        }
        try bench.filter("resheader:x-none")
        bench.bodies("lemon no such text")
        for column in Column.sortable { bench.sort(column) }
        try bench.sort(.path, filter: "status:200")
        try bench.structure("")
        try bench.structure("status:>=400")
        try bench.find(.matching(.large(from: 10_000_000_000)), filter: "")
        try bench.find(.matching(.endpoint(method: "GET", host: "nowhere", path: "/")), filter: "status:200")
        memory()
    }

    /// Follows a session, and tells what CPU the process took meanwhile.
    private func follow(_ service: QueryService, _ events: EventQueue, seconds: Int) throws {
        for text in ["", "status:404", "orders time:>20"] {
            var query = ListQuery()
            query.filter = try Filter(text)
            service.setQuery(query, generation: 1)
            service.loadStructure(StructureNode(), generation: 1)
            events.wait { if case .structure(let level) = $0 { level.progress == nil } else { false } }
            let (time, cpu) = (now(), cpuTime())
            while now() - time < Double(seconds) {
                service.refresh()
                service.load(last: 0..<60, generation: 1)
                Thread.sleep(forTimeInterval: 1.0 / 30)
            }
            let share = (cpuTime() - cpu) / (now() - time)
            print(
                "following, filter \"\(text)\": \(Double(Int(share * 1_000)) / 10) % of a core, \(events.lastTotal) rows"
            )
        }
        memory()
    }

    private func memory() {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        for line in status.split(separator: "\n") where line.hasPrefix("VmHWM") || line.hasPrefix("VmRSS") {
            print(line)
        }
    }
}

/// Seconds of the monotonic clock.
func now() -> Double { seconds(CLOCK_MONOTONIC) }

/// Seconds of CPU that the process has taken.
func cpuTime() -> Double { seconds(CLOCK_PROCESS_CPUTIME_ID) }

private func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Prints a figure.
func row(_ what: String, _ time: Double, _ more: String = "") {
    print("\(what): \(Double(Int(time * 10_000)) / 10) ms \(more)".trimmingCharacters(in: .whitespaces))
}
