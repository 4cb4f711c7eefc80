import ExchangeCore
import HTTPModel
import NIOCore
import Wire

/// A recording in place of a server: reads a whole request, finds its recorded answer, and sends it at a given speed.
final class RecordedLeg: UpstreamLeg {
    var exchange: Exchange?
    let facts = UpstreamFacts(connection: nil, version: .http11, isReused: false)

    private let answers: any RecordedAnswers
    private let url: RequestURL
    private let loop: LoopContext
    private var head: RequestHead?
    private var body = ComparedBody()
    /// This request's share of the memory for bodies; `nil` after the body was compared.
    private var share: ByteShare?
    private var state = State.asked
    private var isReading = true

    private enum State {
        /// The request is incomplete, or its answer is looked up. Successors: `waiting`, `sending`, `done`.
        case asked
        /// The answer's time has not come. Successors: `sending`, `done`.
        case waiting(Scheduled<Void>)
        /// The head is sent. Successor: `done`.
        case sending(Sending)
        case done
    }

    private struct Sending {
        var answer: RecordedAnswer
        var began: NIODeadline
        var position: Int64 = 0
        /// The index of the next arrival to wait for.
        var nextArrival = 0
        var step = Step.resting

        enum Step {
            /// Successors: `reading`, `waiting`.
            case resting
            /// A part is read on another thread. Successors: `resting`, `kept`.
            case reading
            /// The next part's time has not come. Successor: `resting`.
            case waiting(Scheduled<Void>)
            /// A part that was read after the exchange paused. Successor: `resting`.
            case kept(Result<ByteBuffer, any Error>)
        }
    }

    /// Requests with a longer body are looked up on another thread.
    private static let shortBody = 16 << 10

    init(_ answers: any RecordedAnswers, url: RequestURL, for client: ClientKey, loop: LoopContext) {
        self.answers = answers
        self.url = url
        self.loop = loop
        share = ByteShare(of: .bodies, for: client)
    }

    func sendRequestHead(_ head: RequestHead, _ framing: BodyFraming) -> ByteBuffer {
        self.head = head
        // Requests the body (RFC 9110 §10.1.1), because the comparison needs all of it.
        if framing != .none, head.fields.contains(.expect, token: "100-continue") {
            exchange?.interim(ResponseHead(status: 100))
        }
        return head.unchanged ?? head.serialized()
    }

    func sendRequestPart(_ part: ByteBuffer) {
        let isShort = body.size <= ComparedBody.longest
        guard !isShort || share?.grow(by: part.readableBytes) == true else {
            let text = "The request's body is not compared: other bodies use up the memory for that."
            return fail(ExchangeFailure(.notRecorded, text, hint: "Send fewer long requests at a time."))
        }
        body.add(part)
    }

    func sendRequestEnd(_ trailers: FieldSection?) {
        guard case .asked = state, let head else { return }
        let request = AskedRequest(url: url, head: head, body: body)
        let isShort = body.size <= RecordedLeg.shortBody
        body = ComparedBody()
        // Looked up now, because equal requests get their recorded answers in the order of the requests.
        let found = isShort ? answers.find(request) : nil
        loop.offload { [answers] in
            guard let id = isShort ? found : answers.find(request) else { throw answers.explainMiss(request) }
            return try answers.open(id, for: request)
        } then: { [self] result in
            opened(result)
        }
    }

    private func opened(_ result: Result<RecordedAnswer, any Error>) {
        share = nil
        guard case .asked = state, exchange != nil else { return }
        switch result {
        case .failure(let error): fail(error)
        case .success(let answer) where answer.delay > .zero:
            state = .waiting(schedule(loop.eventLoop.now + answer.delay) { leg in leg.begin(answer) })
        case .success(let answer): begin(answer)
        }
    }

    private func schedule(_ moment: NIODeadline, _ body: @escaping (RecordedLeg) -> Void) -> Scheduled<Void> {
        loop.eventLoop.assumeIsolated().scheduleTask(deadline: moment) { [weak self] in
            if let self { body(self) }
        }
    }

    private func fail(_ error: any Error) {
        let exchange = exchange
        self.exchange = nil
        state = .done
        let unread = ExchangeFailure(.notRecorded, "The recorded answer cannot be read: \(error)")
        exchange?.upstreamFailed(error as? ExchangeFailure ?? unread)
    }

    private func begin(_ answer: RecordedAnswer) {
        guard let exchange, let head else { return }
        exchange.readBegan()
        defer { exchange.readCompleted() }
        for note in answer.notes { exchange.note(note) }
        var response = answer.head
        let removed = HopByHop.strip(from: &response.fields, keeping: .keepAlive, usual: .keepAlive)
        let framing = RecordedLeg.framing(answer, method: head.method)
        state = .sending(Sending(answer: answer, began: loop.eventLoop.now))
        let notes = RequestIntake.notes(onRemoved: removed)
        exchange.responseHead(response, framing: framing, notes: notes)
        guard framing != .none else { return end(nil) }
        if answer.beginning.readableBytes > 0 { deliver(.success(answer.beginning)) }
        readOn()
    }

    /// Announces the body's length if the recorded head did.
    static func framing(_ answer: RecordedAnswer, method: String) -> BodyFraming {
        let head = answer.head
        if method == "HEAD" || head.status == 204 || head.status == 304 { return .none }
        if answer.trailers?.isEmpty == false { return .chunked }
        return answer.bodySize == 0 || head.fields.contains(.contentLength) ? .length(answer.bodySize) : .chunked
    }

    private var sending: Sending? {
        get { if case .sending(let sending) = state { sending } else { nil } }
        set { if let newValue, case .sending = state { state = .sending(newValue) } }
    }

    private func readOn() {
        guard isReading, exchange != nil, var sending, case .resting = sending.step else { return }
        let answer = sending.answer
        guard sending.position < answer.bodySize else { return end(answer.trailers) }
        let arrivals = answer.arrivals
        while sending.nextArrival < arrivals.count, arrivals[sending.nextArrival].offset <= sending.position {
            let moment = sending.began + arrivals[sending.nextArrival].after
            sending.nextArrival += 1
            guard moment > loop.eventLoop.now else { continue }
            let timer = schedule(moment) { leg in
                leg.sending?.step = .resting
                leg.readOn()
            }
            sending.step = .waiting(timer)
            self.sending = sending
            return
        }
        let following = sending.nextArrival < arrivals.count ? arrivals[sending.nextArrival].offset : answer.bodySize
        let limit = Int(min(Int64(RecordedAnswer.pieceSize), max(1, following - sending.position)))
        sending.step = .reading
        self.sending = sending
        loop.offload { [answers, position = sending.position] in
            try answers.body(of: answer.exchange, offset: position, limit: limit)
        } then: { [self] result in
            self.sending?.step = isReading ? .resting : .kept(result)
            if isReading { deliver(result) }
            readOn()
        }
    }

    private func deliver(_ result: Result<ByteBuffer, any Error>) {
        guard let exchange, let position = sending?.position else { return }
        exchange.readBegan()
        defer { exchange.readCompleted() }
        switch result {
        case .success(let piece) where piece.readableBytes > 0:
            sending?.position = position + Int64(piece.readableBytes)
            exchange.responsePart(piece)
        case .success:
            let size = sending?.answer.bodySize ?? 0
            fail(ExchangeFailure(.notRecorded, "The recorded body ends after \(position) of \(size) bytes."))
        case .failure(let error): fail(error)
        }
    }

    private func end(_ trailers: FieldSection?) {
        let wireBytes = (sending?.position ?? 0) + Int64(sending?.answer.head.received?.readableBytes ?? 0)
        state = .done
        exchange?.readBegan()
        let exchange = exchange
        exchange?.responseEnd(trailers: trailers, wireBytes: wireBytes, isClean: true)
        exchange?.readCompleted()
    }

    func setReading(_ isReading: Bool) {
        self.isReading = isReading
        guard isReading, let sending else { return }
        if case .kept(let piece) = sending.step {
            self.sending?.step = .resting
            deliver(piece)
        }
        readOn()
    }

    func becomeTunnel() {}
    func flush() {}
    func release() { stop() }
    func abandon(_ code: HTTP2ErrorCode) { stop() }

    private func stop() {
        exchange = nil
        if case .waiting(let task) = state { task.cancel() }
        if case .sending(let sending) = state, case .waiting(let task) = sending.step { task.cancel() }
        state = .done
    }
}
