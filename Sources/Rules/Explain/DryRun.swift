package import ExchangeCore
import Foundation
import HTTPModel
import NIOCore

/// Plays requests through a profile's tools without a network, for `expect` and `profile why`. The exchange machine and
/// the tools are those of the real proxy; only the sockets and the clock are simulated. The clock only advances to
/// times for which stages wait. Files are read; nothing is written.
package struct DryRun {
    /// How much of a body is kept, in bytes.
    package static let bodyLimit = 1 << 20
    /// A dry run that takes more steps is stopped.
    private static let mostSteps = 100_000

    private let chain: StageChain
    private let intercept: InterceptRules
    private var now = NIODeadline.now()
    private var count: Int64 = 0

    /// Prepares to play requests with a profile, one after the other, as in one run.
    package init(_ profile: RuleProfile, without off: Set<StageID>? = nil) {
        chain = profile.dryRunChain(without: off ?? profile.off)
        intercept = profile.intercept
    }

    /// Plays one request, and the server's response. An `https` URL of a host that is not decrypted becomes a tunnel.
    package mutating func play(_ request: DryRunRequest, _ response: DryRunResponse = .init()) -> DryRunExchange {
        count += 1
        let isEncrypted = request.url.scheme == "https" || request.url.scheme == "wss"
        var request = request
        if isEncrypted, !intercept.decrypts(host: request.url.host, port: request.url.port) {
            let url = RequestURL(scheme: "tunnel", host: request.url.host, port: request.url.port, path: "")
            request = DryRunRequest(method: "CONNECT", url: url)
        }
        var play = Play(count, request, response, chain, now)
        let exchange = play.run(mostSteps: DryRun.mostSteps)
        now = play.now
        return exchange
    }
}

/// One exchange of a dry run: carries out the machine's effects and feeds it events.
private struct Play: ~Copyable {
    private enum Event {
        case requestPart(ByteBuffer)
        case requestEnd
        case responseHead
        case responsePart(ByteBuffer)
        case filePart(AnswerFile, offset: Int64)
        case responseEnd
    }

    private(set) var now: NIODeadline
    private let begin: NIODeadline
    private var machine: ExchangeMachine
    private let request: DryRunRequest
    private let response: DryRunResponse
    private var result: DryRunExchange

    private var fromClient = CircularBuffer<Event>()
    private var fromServer = CircularBuffer<Event>()
    private var readsClient = true
    private var readsServer = true
    private var wakes: [(moment: NIODeadline, direction: FlowDirection, generation: Int)] = []
    private var isOver = false

    init(_ number: Int64, _ request: DryRunRequest, _ response: DryRunResponse, _ chain: StageChain, _ now: NIODeadline)
    {
        (self.request, self.response, self.now, begin) = (request, response, now, now)
        let url = request.url
        let record = ExchangeRecord(
            id: ExchangeID(number),
            kind: url.scheme == "tunnel" ? .tunnel : .http,
            startedAt: 0,
            method: request.method,
            url: url,
            clientConnection: ConnectionID(1)
        )
        machine = ExchangeMachine(
            record: record,
            destination: Destination(scheme: url.scheme, host: url.host, port: url.port),
            clientAddress: "127.0.0.1:0",
            chain: chain,
            sink: NoRecord(),
            now: now
        )
        result = DryRunExchange(record: record)
    }

    mutating func run(mostSteps: Int) -> DryRunExchange {
        let framing = request.body.map { BodyFraming.length(Int64($0.readableBytes)) } ?? .none
        if let body = request.body, body.readableBytes > 0 { fromClient.append(.requestPart(body)) }
        fromClient.append(.requestEnd)
        machine.requestHeadReceived(request.head, framing: framing, now: now)
        var steps = 0
        repeat {
            while !isOver, let effect = machine.nextEffect() { carryOut(effect) }
            steps += 1
        } while !isOver && steps < mostSteps && step()
        result.record = machine.record
        result.trace = machine.messages.trace
        if !isOver {
            let text = "The dry run did not end: a rule waits for something that never happens."
            result.record.failure = ExchangeFailure(.timeout, text)
        }
        result.delay = now - begin
        return result
    }

    /// Feeds the machine the next event; `false` if no event is left.
    private mutating func step() -> Bool {
        if let event = (readsClient ? fromClient.popFirst() : nil) ?? (readsServer ? fromServer.popFirst() : nil) {
            feed(event)
        } else if let index = wakes.indices.min(by: { wakes[$0].moment < wakes[$1].moment }) {
            let wake = wakes.remove(at: index)
            now = max(now, wake.moment)
            machine.pauseElapsed(wake.direction, generation: wake.generation, now: now)
        } else {
            return false
        }
        return true
    }

    private mutating func feed(_ event: Event) {
        switch event {
        case .requestPart(let part): machine.requestPartReceived(part, now: now)
        case .requestEnd: machine.requestEndReceived(trailers: nil, wireBytes: 0, now: now)
        case .responseHead:
            let hasBody = request.method != "HEAD" && response.status >= 200 && ![204, 304].contains(response.status)
            let framing = hasBody ? BodyFraming.length(Int64(response.body?.readableBytes ?? 0)) : .none
            if hasBody, let body = response.body, body.readableBytes > 0 { fromServer.append(.responsePart(body)) }
            fromServer.append(.responseEnd)
            machine.responseHeadReceived(response.head, framing: framing, now: now)
        case .responsePart(let part): machine.responsePartReceived(part, now: now)
        case .filePart(let file, let offset): feedFilePart(file, offset)
        case .responseEnd: machine.responseEndReceived(trailers: nil, wireBytes: 0, now: now)
        }
    }

    private mutating func feedFilePart(_ file: AnswerFile, _ offset: Int64) {
        let wanted = Int(min(64 << 10, file.length - offset))
        guard wanted > 0 else {
            machine.responseEndReceived(trailers: nil, wireBytes: 0, now: now)
            return
        }
        var bytes = [UInt8](repeating: 0, count: wanted)
        let count = pread(file.descriptor, &bytes, wanted, off_t(file.offset + offset))
        guard count > 0 else {
            machine.upstreamClosed(ExchangeFailure(.reset, "The file became shorter or cannot be read."), now: now)
            return
        }
        fromServer.append(.filePart(file, offset: offset + Int64(count)))
        machine.responsePartReceived(ByteBuffer(bytes: bytes[..<count]), now: now)
    }

    private mutating func carryOut(_ effect: ExchangeEffect) {
        switch effect {
        case .connect(let destination, _):
            readsServer = true
            result.destination = destination
            let facts = UpstreamFacts(connection: ConnectionID(2), version: .http11, isReused: false)
            machine.upstreamReady(facts, now: now)
            if request.url.scheme == "tunnel" { result.sent = .init(head: request.head) }
        case .sendRequestHead(let head, _): result.sent = .init(head: head)
        case .sendRequestPart(let part): Play.append(part, to: &result.sent)
        case .sendRequestEnd: fromServer.append(request.url.scheme == "tunnel" ? .responseEnd : .responseHead)
        case .sendResponseHead(let head, _): result.answered = .init(head: head)
        case .sendResponsePart(let part): Play.append(part, to: &result.answered)
        case .readClient(let isReading): readsClient = isReading
        case .readUpstream(let isReading): readsServer = isReading
        case .wake(let moment, let direction, let generation): wakes.append((moment, direction, generation))
        case .hold(let id, let message, _):
            if case .request = message { result.held.append(.request) } else { result.held.append(.response) }
            machine.decided(id, .execute(nil), now: now)
        case .lookUp: machine.nameLookedUp(isVerified: false, now: now)
        case .perform(let work, let direction, let generation):
            machine.workDone(direction, generation: generation, work.run(), now: now)
        case .readFile(let file):
            readsServer = true
            fromServer = [.filePart(file, offset: 0)]
        case .abandonUpstream: fromServer = []
        case .abortClient: result.isCutOff = true
        case .finished: isOver = true
        case .sendInterim, .sendResponseEnd, .withholdCloseNotify, .becomeTunnel, .releaseHold,
            .performAfterwards, .boundClientBuffer:
            break
        }
    }

    private static func append<Head>(_ part: ByteBuffer, to message: inout DryRunExchange.Sent<Head>?) {
        let room = DryRun.bodyLimit - (message?.body.readableBytes ?? 0)
        if let slice = part.getSlice(at: part.readerIndex, length: min(room, part.readableBytes)) {
            message?.body.writeImmutableBuffer(slice)
        }
    }
}

private final class NoRecord: RecordSink {
    func record(_ event: RecordEvent) {}
}
