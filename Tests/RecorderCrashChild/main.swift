import Foundation
import HTTPModel
import NIOCore
import Recording
import Synchronization

/// Records into the session named by the second argument until something ends it; the tests watch from outside.
///
/// `load` tells on standard output, as `ended|written <id> <microseconds since 1970>`, which exchange had ended when,
/// and when the recorder said that it had been written; each hundredth exchange stays open. `memory` tells by how many
/// KiB the process grew while it recorded 20,000 exchanges after the first 5,000. `small-disk` does the same with a limit on the size of files, until writing
/// fails, and tells the summary. `rotate` does as `load` with a new file after each megabyte, of which three stay besides the one
/// that is recorded; the path is a pattern then.
let mode = CommandLine.arguments.dropFirst().first ?? ""
let path = CommandLine.arguments.dropFirst(2).first ?? ""

func now() -> Int64 {
    Int64(Date().timeIntervalSince1970 * 1_000_000)
}

/// One write, which is whole in a pipe whichever thread it comes from.
func tell(_ what: String, _ id: Int64) {
    let line = "\(what) \(id) \(now())\n"
    FileHandle.standardOutput.write(Data(line.utf8))
}

func record(_ id: Int64) -> ExchangeRecord {
    ExchangeRecord(
        id: ExchangeID(id),
        kind: .http,
        startedAt: now(),
        method: "GET",
        url: RequestURL(scheme: "http", host: "origin.example", port: 80, path: "/\(id)"),
        clientConnection: ConnectionID(1)
    )
}

if mode == "small-disk" {
    var limit = rlimit(rlim_cur: 2 << 20, rlim_max: 2 << 20)
    #if os(Linux)
    setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limit)
    #else
    setrlimit(RLIMIT_FSIZE, &limit)
    #endif
    signal(SIGXFSZ, SIG_IGN)
}

/// Resident memory in KiB; 0 where the system does not say.
func residentKiB() -> Int {
    let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
    let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    return pages * Int(sysconf(Int32(_SC_PAGESIZE))) / 1_024
}

let hasFailed = Atomic(false)
var configuration = RecorderConfiguration(path: path, sluiceVersion: "child")
// A proxy is never as fast as this loop; with less credit the recorder is not further behind than with a proxy.
configuration.credit = 1 << 20
if mode == "rotate" {
    configuration.rotation = SessionRotation(pattern: try SessionPattern(path), size: 1_000_000, keep: .files(4))
}
let isLoad = mode == "load" || mode == "rotate"
let recorder = try Recorder(
    configuration,
    onFinished: { ended in if isLoad { tell("written", ended.last?.record.id.number ?? 0) } },
    onFailure: { _ in hasFailed.store(true, ordering: .releasing) }
)
let credit = DispatchSemaphore(value: 0)
let producer = recorder.makeProducer { credit.signal() }
let body = ByteBuffer(repeating: 0x61, count: 1_024)
var id = recorder.nextExchangeID
let first = id
var before = 0
while !hasFailed.load(ordering: .acquiring) {
    if mode == "memory", id - first == 5_000 { before = residentKiB() }
    if mode == "memory", id - first == 25_000 { break }
    var ended = record(id)
    var events: [RecordEvent] = [
        .opened(ended, ExchangeMessages()), .body(ended.id, .responseReceived, body),
    ]
    if id % 100 == 0, mode != "memory", mode != "rotate" {
        if !producer.submit(events, cost: events.reduce(0) { $0 + $1.cost }) { credit.wait() }
        id += 1
        continue
    }
    ended.state = .complete
    ended.status = 200
    ended.sizes.responseBody = 1_024
    events.append(.finished(ended, ExchangeMessages()))
    let hasCredit = producer.submit(events, cost: events.reduce(0) { $0 + $1.cost })
    if isLoad {
        tell("ended", id)
    }
    if !hasCredit { credit.wait() }
    id += 1
}
if mode == "memory" { tell("grown", Int64(residentKiB() - before)) }
let summary = recorder.close()
let line = "\(summary.error?.code.rawValue ?? "none") \(summary.exchanges) \(summary.notRecorded)\n"
FileHandle.standardOutput.write(Data(line.utf8))
