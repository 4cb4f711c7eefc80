import ExchangeCore
import HTTPModel
import NIOCore
import Testing

@testable import ProxyServer

@Suite("What is told of a tunnel that may be none")
struct TentativeSinkTests {
    private final class Collector: RecordSink {
        var words: [String] = []

        func record(_ event: RecordEvent) {
            switch event {
            case .opened(let record, _): words.append("opened \(record.id)")
            case .updated(let record, _): words.append("updated \(record.id)")
            case .body(let id, _, _): words.append("body \(id)")
            case .progress(let id, _, _): words.append("progress \(id)")
            case .finished(let record, _): words.append("finished \(record.id)")
            case .identified(let id, let process): words.append("\(process.name) \(id)")
            case .connection, .arrival: words.append("other")
            }
        }
    }

    private let record = ExchangeRecord(
        id: TentativeSink.placeholder,
        kind: .tunnel,
        startedAt: 0,
        method: "CONNECT",
        url: RequestURL(scheme: "tunnel", host: "h.example", port: 443, path: ""),
        clientConnection: ConnectionID(1)
    )

    @Test("Nothing is told before the first byte; then all is, in order, with the number of that moment")
    func firstByte() {
        let collector = Collector()
        var next: Int64 = 7
        let sink = TentativeSink(collector) { ExchangeID(next) }
        sink.record(.opened(record, ExchangeMessages()))
        sink.record(.updated(record, ExchangeMessages()))
        #expect(collector.words.isEmpty)
        next = 9
        sink.record(.body(record.id, .responseReceived, ByteBuffer(string: "SSH")))
        sink.discard()
        next = 11
        sink.record(.progress(record.id, MessageCounts(), Sizes()))
        sink.record(.finished(record, ExchangeMessages()))
        sink.record(.identified(record.id, ClientProcess(id: 5, name: "ssh")))
        #expect(collector.words == ["opened 9", "updated 9", "body 9", "progress 9", "finished 9", "ssh 9"])
    }

    @Test("One that is sure to be a tunnel is told at once")
    func confirmed() {
        let collector = Collector()
        let sink = TentativeSink(collector) { ExchangeID(7) }
        sink.record(.opened(record, ExchangeMessages()))
        sink.confirm()
        sink.confirm()
        sink.record(.updated(record, ExchangeMessages()))
        #expect(collector.words == ["opened 7", "updated 7"])
    }

    @Test("A tunnel that ends without a byte is told; one that was none is not, and takes no number")
    func ends() {
        let (told, untold) = (Collector(), Collector())
        var numbers = 0
        for (collector, isDiscarded) in [(told, false), (untold, true)] {
            let sink = TentativeSink(collector) {
                numbers += 1
                return ExchangeID(Int64(numbers))
            }
            sink.record(.opened(record, ExchangeMessages()))
            if isDiscarded { sink.discard() }
            sink.record(.finished(record, ExchangeMessages()))
        }
        #expect(told.words == ["opened 1", "finished 1"])
        #expect(untold.words.isEmpty)
        #expect(numbers == 1)
    }
}
