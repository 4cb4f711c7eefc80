import ArgumentParser
import Dispatch
import Foundation
import HTTPModel
import NIOCore
import Recording

/// Makes a session of many exchanges such as a day of testing leaves, through the recorder itself.
///
///     swift run -c release --package-path Tests/Benchmarks session-maker million.sluice
///     swift run -c release --package-path Tests/Benchmarks session-maker --count 300000 --rate 5000 live.sluice
///
/// The same seed makes the same exchanges. With a rate, exchanges come one after the other as traffic does, in flight
/// for some time; without one, as fast as they can be written.
@main
struct SessionMaker: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "session-maker",
        abstract: "Make a session of many exchanges, through the recorder itself."
    )

    @Argument(help: "The session file, made or added to.")
    var file: String

    @Option(help: "How many exchanges.")
    var count: Int64 = 1_000_000

    @Option(help: "How many exchanges a second. (default: as fast as they can be written)")
    var rate: Int?

    @Option(help: "What the random numbers begin with.")
    var seed: UInt64 = 1

    func run() throws {
        let credit = DispatchSemaphore(value: 0)
        let recorder = try Recorder(RecorderConfiguration(path: file, sluiceVersion: "session-maker"))
        let producer = recorder.makeProducer { credit.signal() }
        var traffic = Traffic(first: recorder.nextExchangeID, seed: seed, connection: recorder.nextConnectionID)
        let begin = DispatchTime.now().uptimeNanoseconds
        func submit(_ events: [RecordEvent]) {
            if !producer.submit(events, cost: events.reduce(0) { $0 + $1.cost }) { credit.wait() }
        }
        submit(traffic.connections)
        if let rate {
            pace(rate, from: begin, &traffic, submit)
        } else {
            var made: Int64 = 0
            while made < count {
                var events: [RecordEvent] = []
                for _ in 0..<min(100, count - made) {
                    let exchange = traffic.next()
                    events += [exchange.opened] + exchange.rest
                    made += 1
                }
                submit(events)
            }
        }
        let summary = recorder.close()
        if let error = summary.error { throw error }
        let seconds = Double(DispatchTime.now().uptimeNanoseconds - begin) / 1e9
        print("\(summary.exchanges) exchanges in \(Int(seconds * 1_000)) ms, \(Int(Double(count) / seconds)) a second")
    }

    /// Hands over exchanges at an even rate, twenty times a second; what was opened in one turn ends two turns later.
    private func pace(_ rate: Int, from begin: UInt64, _ traffic: inout Traffic, _ submit: ([RecordEvent]) -> Void) {
        var made: Int64 = 0
        var waiting: [[RecordEvent]] = [[], []]
        while made < count {
            let elapsed = DispatchTime.now().uptimeNanoseconds - begin
            let due = min(count, Int64(Double(elapsed) / 1e9 * Double(rate)))
            var opened: [RecordEvent] = []
            var rest: [RecordEvent] = []
            while made < due {
                let exchange = traffic.next()
                opened.append(exchange.opened)
                rest += exchange.rest
                made += 1
            }
            waiting.append(rest)
            submit(opened + waiting.removeFirst())
            Thread.sleep(forTimeInterval: 0.05)
        }
        for rest in waiting { submit(rest) }
    }
}
