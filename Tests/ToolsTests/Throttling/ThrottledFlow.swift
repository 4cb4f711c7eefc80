import ExchangeCore
import HTTPModel
import NIOCore
import Rules
import Support
import Testing
import Tools

/// One exchange under a profile's throttle, with a clock that runs ahead to whatever comes next.
final class ThrottledFlow {
    /// What passed the throttle, and when: `< part 'a'`.
    struct Passed {
        let time: TimeAmount
        let line: String
    }

    let dialogue: Dialogue
    private(set) var passed: [Passed] = []
    /// How much later than asked for the event loop comes, from an ever same sequence.
    private let lateness: TimeAmount
    private var chance = SplitMix(7)
    private let start: NIODeadline
    private var wakes: [String: (moment: NIODeadline, generation: Int)] = [:]
    /// Body bytes that the sender has not been let send.
    private(set) var left = 0
    private var partSize = 0
    private var direction = FlowDirection.response
    private var hasEnded = true

    init(
        _ profile: RuleProfile,
        _ url: String = "http://slow.example/",
        method: String = "GET",
        kind: ExchangeRecord.Kind = .http,
        after: TimeAmount = .zero,
        lateness: TimeAmount = .zero,
        location: SourceLocation = #_sourceLocation
    ) {
        self.lateness = lateness
        dialogue = Dialogue(profile.chain.stages, url: url, method: method, kind: kind, location: location)
        dialogue.advance(after)
        start = dialogue.now
    }

    /// The time since the exchange began.
    var time: TimeAmount { dialogue.now - start }
    /// When the next thing happens; `nil` when nothing does.
    var next: TimeAmount? { canSend ? time : wakes.values.map(\.moment).min().map { $0 - start } }
    private var canSend: Bool {
        !hasEnded && (direction == .response ? dialogue.responsePauses : dialogue.requestPauses).isEmpty
    }

    /// When the first line with this beginning passed.
    func time(of prefix: String) -> TimeAmount? { passed.first { $0.line.hasPrefix(prefix) }?.time }

    /// Tells the machine of something and takes down what comes of it.
    func tell(_ event: (Dialogue) -> Void) {
        event(dialogue)
        for line in dialogue.takePending() {
            let words = line.split(separator: " ")
            if words.first == "wake", let moment = dialogue.wakeTime, let generation = Int(words[2]) {
                wakes[String(words[1])] = (moment, generation)
            } else {
                passed.append(Passed(time: time, line: line))
            }
        }
    }

    /// Lets time go on to the next thing, and that happen; `false` when nothing is left.
    func step() -> Bool {
        if dialogue.isOver { return false }
        if canSend {
            send()
            return true
        }
        guard let (name, wake) = wakes.min(by: { $0.value.moment < $1.value.moment }) else { return false }
        wakes[name] = nil
        let late = lateness == .zero ? 0 : Int64(chance.next() % UInt64(lateness.nanoseconds))
        if wake.moment > dialogue.now { dialogue.advance(wake.moment - dialogue.now) }
        dialogue.advance(.nanoseconds(late))
        tell { $0.elapsed(name == "request" ? .request : .response, wake.generation) }
        return true
    }

    /// Lets everything happen that is to come.
    func finish() {
        while step() {}
    }

    /// Lets time go on up to a moment, and all that happens until then.
    func run(until moment: TimeAmount) {
        while let next, next <= moment, step() {}
        if moment > time { dialogue.advance(moment - time) }
    }

    private func send() {
        let count = min(left, partSize)
        left -= count
        hasEnded = left == 0
        let part = ByteBuffer(repeating: 0, count: count)
        switch direction {
        case .request:
            tell { dialogue in dialogue.tell { $0.requestPartReceived(part, now: $1) } }
            if hasEnded { tell { $0.requestEnd() } }
        case .response:
            tell { $0.responsePart(part) }
            if hasEnded { tell { $0.responseEnd() } }
        }
    }

    /// Sends the request, and runs until the server has its head.
    func request() {
        tell { $0.request() }
        while time(of: "connect") == nil, step() {}
        tell { $0.ready() }
    }

    /// Begins a response whose server sends as fast as it is let.
    func respond(_ count: Int, by partSize: Int = 16_384, _ fields: [(String, String)] = []) {
        tell { $0.responseHead(200, .length(Int64(count)), fields) }
        (direction, left, self.partSize, hasEnded) = (.response, count, partSize, false)
    }

    /// Begins a request whose client sends as fast as it is let.
    func upload(_ count: Int, by partSize: Int = 16_384) {
        tell { $0.requestHead(.length(Int64(count))) }
        while time(of: "connect") == nil, step() {}
        tell { $0.ready() }
        (direction, left, self.partSize, hasEnded) = (.request, count, partSize, false)
    }

    /// How many bytes of a body had gone on by a moment.
    func bytes(_ prefix: String, from begin: TimeAmount = .nanoseconds(-1), until end: TimeAmount = .hours(1)) -> Int {
        passed.filter { $0.line.hasPrefix(prefix) && $0.time > begin && $0.time <= end }
            .reduce(0) { $0 + ThrottledFlow.size($1.line) }
    }

    private static func size(_ line: String) -> Int {
        if line.hasSuffix("'"), let open = line.firstIndex(of: "'") {
            return line.utf8.distance(from: open, to: line.endIndex) - 2
        }
        return line.split(separator: " ").lazy.compactMap { Int($0) }.first ?? 0
    }
}

extension TimeAmount {
    /// The time in ms.
    var ms: Double { Double(nanoseconds) / 1e6 }
}

/// A profile with these throttle rules.
func throttle(_ rules: String, _ rest: String = "") throws -> RuleProfile {
    try RuleProfile("version: 1\nthrottle: \(rules)\n\(rest)", file: "p.yaml")
}
